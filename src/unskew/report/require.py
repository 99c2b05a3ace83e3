"""Statements that a pipeline requires, answered by the verdict that the page shows.

Of a metric (and segment) the estimator that counts there speaks (``View.carrier``), by the verdict on the two models.

    a better than b           yes where the verdict names a, no where it names b, else undecided
    a not worse than b by m   Δ = a − b in [low, high], the verdict's interval, b's value in [l, u]
        yes                   low > −m                     relative: low > −m l
        no                    high < −m                    relative: high < −m u

The interval is two-sided and holds for all pairs (and segments) together, as wide as every check allows. So a "yes" to
an absolute margin is wrong with a probability of at most (1 − level)/2, and to a relative one of at most 1 − level:
either Δ lies below its interval or b's value below its own, (1 − level)/2 each. Over scenarios the interval holds in
each of them, so a yes does too. What a verdict is refused for, an interval is no evidence for either (``no_margin``),
and what nothing debiases is answered with "undecided".

Estimators that undo the skew by different assumptions may agree on who is ahead and not on by how much. So the others
of the run that debias this metric and segment must not stand against an answer (``_against``):

    yes to a margin           the interval of each lies within the margin as well
    no to a margin            none of them says yes
    better than, yes and no   none of them names the other model

Else the statement is undecided. An absolute margin is held against targets of the same scale only. Where answers speak,
only what rests on answers can stand against them: they hold whatever the log is.

Several statements: all must be answered with yes. If one of them is false, all are only answered with yes if that one
is, so the error of a common "yes" is no larger than that of one statement (an intersection-union test, Berger 1982);
nothing needs to be divided by their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from unskew import metrics
from unskew.errors import InputError
from unskew.estimators import Standing, Target
from unskew.inference.trust import is_doubt
from unskew.inference.verdict import Outcome
from unskew.plain import plain
from unskew.report import numbers
from unskew.report.scenario_words import range_of
from unskew.report.view import Facet, View, in_scenarios, unique, winner
from unskew.requirement import Reply, Requirement, Requirements, Statement
from unskew.result import Result, Verdict

UNCORRECTED = "it rests on a model of outcomes that nothing in the log corrects, so it is not evidence"
NOTHING_DEBIASED = "nothing here undoes the skew of the log, so it is not evidence"

LONGEST = 150  # characters of an assumption that stands behind every answer


def require(result: Result, statements: Sequence[str]) -> Requirements:
    """Answer statements about the models of a result."""
    view = View(result)
    known = unique([*view.metrics, *result.inputs.get("settings", {}).get("metrics", ())])  # also what was refused
    read = [Statement.parse(text, view.models, known, metrics.make, view.segments) for text in statements]
    return Requirements(tuple(_answer(view, statement) for statement in read))


def _answer(view: View, asked: Statement) -> Requirement:
    facet = _facet(view, asked)
    if facet is None:
        return _reply(asked, None, None, Reply.UNDECIDED, _refusal(view, asked))
    carrier = view.carrier(facet)
    verdict = next((v for v in view.verdicts(facet, carrier) if {v.a, v.b} == {asked.a, asked.b}), None)
    if verdict is None:
        return _reply(asked, facet, None, Reply.UNDECIDED, f"{carrier} has no interval of the difference")
    if view.standing(facet, carrier) is Standing.MODEL:
        return _reply(asked, facet, verdict, Reply.UNDECIDED, UNCORRECTED)
    if not view.standing(facet, carrier).debiased:
        return _reply(asked, facet, verdict, Reply.UNDECIDED, NOTHING_DEBIASED)
    others = _others(view, asked, facet, verdict)
    _refuse_vacuous(view, asked, [verdict, *others])
    found = _judged(view, asked, verdict)
    if found.answer == Reply.UNDECIDED or not (against := _against(view, asked, Reply(found.answer), others)):
        return found
    return replace(found, answer=Reply.UNDECIDED, reason=f"{found.reason.rstrip('.')}, but {against}.")


def _judged(view: View, asked: Statement, v: Verdict) -> Requirement:
    """What one verdict answers."""
    return _better(asked, _of(v), v) if asked.margin is None else _not_worse(view, asked, _of(v), v)


def _of(v: Verdict) -> Facet:
    return Facet(v.metric, v.target, v.segment)


def _others(view: View, asked: Statement, facet: Facet, mine: Verdict) -> list[Verdict]:
    """What the other debiased estimators and targets say of both models, the same target first."""
    found = [
        v
        for v in view.result.verdicts_
        if (v.metric, v.segment) == (facet.metric, facet.segment)
        and {v.a, v.b} == {asked.a, asked.b}
        and (v.estimator, v.target) != (mine.estimator, mine.target)
        and Standing(v.standing).debiased
        and (Standing(mine.standing) is not Standing.ANSWERED or Standing(v.standing) is Standing.ANSWERED)
        and (asked.margin is None or asked.relative or _scale(v.target) == _scale(facet.target))
    ]
    return sorted(found, key=lambda v: v.target != facet.target)


def _scale(target: str) -> str:
    """Targets that are shares of what is relevant have one scale; sums and errors have their own."""
    return target if target in (Target.PER_USER_SUM, Target.PER_PAIR) else "share"


def _against(view: View, asked: Statement, reply: Reply, others: Sequence[Verdict]) -> str:
    """The first of the others that stands against an answer, in words."""
    for v in others:
        name = f"{v.estimator} ({v.target})"
        if asked.margin is not None and reply is Reply.YES:
            low, _ = _ends(view, asked, v)
            least, _ = _margins(view, asked, _of(v), v.estimator)
            if low <= -least:  # False where one of them is not there
                own = f" (its margin: {_bound(view, asked, v, least, 'lowest')})" if asked.relative else ""
                return f"{name} does not confirm it: {_range(view, asked, v)}{own}"
        elif _judged(view, asked, v).answer == (Reply.NO if reply is Reply.YES else Reply.YES):
            said = f"puts {winner(v)} ahead" if Outcome(v.verdict).decided else "does not confirm it"
            return f"{name} {said}: {_range(view, asked, v)}"
    return ""


def _ends(view: View, asked: Statement, v: Verdict) -> tuple[float, float]:
    """The interval of by how much the first model of a statement is better."""
    sign = -1.0 if view.traits(v.metric).lower_is_better else 1.0
    low, high = sorted(sign * end * (1.0 if v.a == asked.a else -1.0) for end in (v.low, v.high))
    return low, high


def _range(view: View, asked: Statement, v: Verdict) -> str:
    """The same in words."""
    return (range_of if in_scenarios(v) else numbers.interval)(
        *_ends(view, asked, v), numbers.decimals([(v.low, v.high)])
    )


def _refuse_vacuous(view: View, asked: Statement, verdicts: Sequence[Verdict]) -> None:
    """An absolute margin that even a score of 0 would keep."""
    if asked.margin is None or asked.relative or view.traits(asked.metric).lower_is_better:
        return
    rows = [e for v in verdicts for e in view.estimates(_of(v), v.estimator)]
    highest = max((e.high for e in rows if e.model == asked.b and not math.isnan(e.high)), default=math.inf)
    if asked.margin < highest or any(e.value < 0.0 for e in rows):
        return
    meant = f" Did you mean {asked.margin:g} %?" if asked.margin < 100.0 else ""
    raise InputError(
        f"the requirement '{plain(asked.text)}' has a margin of {asked.margin:g}, and {plain(asked.b)} scores at most "
        f"{numbers.number(highest)} on {asked.metric}: it would hold whatever {plain(asked.a)} scores.{meant}"
    )


def _facet(view: View, asked: Statement) -> Facet | None:
    """The metric for the target of the headline, or for the first one that there is."""
    there = [facet for facet in view.facets if (facet.metric, facet.segment) == (asked.metric, asked.segment)]
    if asked.segment is None and not there:
        there = [facet for facet in view.facets_of(view.whole) if facet.metric == asked.metric]
    first = view.headline
    same = [facet for facet in there if first is not None and facet.target == first.target]
    return next(iter(same or there), None)


def _refusal(view: View, asked: Statement) -> str:
    """Why there is no estimate of a metric."""
    refused = [r for r in view.result.inputs.get("refused", ()) if r.get("metric") == asked.metric]
    return str(refused[0]["reason"]).rstrip(".") if refused else "there is no estimate of this metric"


def _better(asked: Statement, facet: Facet, v: Verdict) -> Requirement:
    if Outcome(v.verdict).decided:
        reply = Reply.YES if winner(v) == asked.a else Reply.NO
        return _reply(asked, facet, v, reply, f"{winner(v)} is {_word(v)}{_given(v)}{_doubts(v)}")
    return _reply(asked, facet, v, Reply.UNDECIDED, _open(v))


def _not_worse(view: View, asked: Statement, facet: Facet, v: Verdict) -> Requirement:
    sign = -1.0 if view.traits(facet.metric).lower_is_better else 1.0
    low, high = _ends(view, asked, v)
    least, most = _margins(view, asked, facet, v.estimator)
    if Outcome(v.verdict).decided and winner(v) == asked.a:
        return _reply(asked, facet, v, Reply.YES, f"{asked.a} is {_word(v)}{_given(v)}{_doubts(v)}", -sign * least)
    if math.isnan(low) or math.isnan(least):
        return _reply(asked, facet, v, Reply.UNDECIDED, _open(v))
    if v.no_margin:
        return _reply(asked, facet, v, Reply.UNDECIDED, f"{v.no_margin.rstrip('.')}{_also(v)}", -sign * least)
    interval = numbers.interval(low, high, numbers.decimals([(v.low, v.high)]))
    bound = _bound(view, asked, v, least, "lowest")
    if low > -least:
        return _reply(
            asked, facet, v, Reply.YES, f"{interval} lies above {bound}{_given(v)}{_doubts(v)}", -sign * least
        )
    if high < -most:
        lost = f"{interval} lies below {_bound(view, asked, v, most, 'highest')}{_given(v)}{_doubts(v)}"
        return _reply(asked, facet, v, Reply.NO, lost, -sign * most)
    return _reply(asked, facet, v, Reply.UNDECIDED, f"{interval} does not exclude {bound}{_also(v)}", -sign * least)


def _bound(view: View, asked: Statement, v: Verdict, margin: float, end: str) -> str:
    """A margin with its sign; of a relative one also what it is a share of."""
    text = numbers.number(-margin, None)
    if asked.margin is None or not asked.relative:
        return text
    value = numbers.number(margin / asked.margin, view.places(_of(v)))
    return f"{text}, {100.0 * asked.margin:g} % of {plain(asked.b)}'s {end} value {value}"


def _margins(view: View, asked: Statement, facet: Facet, estimator: str) -> tuple[float, float]:
    """The margin, or its least and largest size where it is a share of a value that is itself an estimate."""
    assert asked.margin is not None
    if not asked.relative:
        return asked.margin, asked.margin
    e = next((e for e in view.estimates(facet, estimator) if e.model == asked.b), None)
    if e is None or math.isnan(e.low) or math.isnan(e.high) or math.isnan(e.value):
        return math.nan, math.nan
    return asked.margin * max(e.low, 0.0), asked.margin * max(e.high, 0.0)


def _word(v: Verdict) -> str:
    return "better" if v.verdict in (Outcome.BETTER, Outcome.WORSE) else "ahead"


def _given(v: Verdict) -> str:
    """What an answer rests on; a long assumption by its estimator, since ``assumption`` and the page have its words."""
    if len(v.assumption) > LONGEST:
        return f", if what {v.estimator} assumes is true"
    return f", if {v.assumption}" if v.assumption else ""


def _doubts(v: Verdict) -> str:
    return f". {v.trust.rstrip('.')}" if v.trust else ""


def _also(v: Verdict) -> str:
    """The doubt of a verdict, behind an answer that is open for another reason."""
    return _doubts(v) if is_doubt(v.trust) else ""


def _open(v: Verdict) -> str:
    """Why nothing is decided."""
    if v.verdict == Outcome.DEPENDS:
        return f"{v.turns.rstrip('.') or 'it depends on what the log cannot tell'}{_also(v)}"
    if v.trust and not is_doubt(v.trust):
        return v.trust.rstrip(".")
    between = numbers.interval(v.low, v.high, numbers.decimals([(v.low, v.high)]))
    return f"the difference may be 0: {between}{_also(v)}"


def _reply(
    asked: Statement, facet: Facet | None, v: Verdict | None, reply: Reply, reason: str, bound: float = 0.0
) -> Requirement:
    sign = 1.0 if v is None or v.a == asked.a else -1.0
    ends = (math.nan, math.nan) if v is None else (sign * v.low, sign * v.high)
    return Requirement(
        statement=asked.text,
        answer=reply,
        reason=f"{reason}.",
        metric=asked.metric,
        estimator=None if v is None else v.estimator,
        target=None if facet is None else facet.target,
        segment=asked.segment,
        a=asked.a,
        b=asked.b,
        margin=asked.margin,
        relative=asked.relative,
        difference=math.nan if v is None else sign * v.difference,
        low=min(ends),
        high=max(ends),
        bound=bound,
        assumption="" if v is None else v.assumption,
    )
