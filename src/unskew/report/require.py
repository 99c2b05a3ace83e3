"""Statements that a pipeline requires, answered by the verdict that the page shows.

Of a metric (and segment) the estimator that counts there speaks (``View.carrier``), by the verdict on the two models.

    a better than b           yes where the verdict names a, no where it names b, else undecided
    a not worse than b by m   Δ = a − b in [low, high], the verdict's interval, b's value in [l, u]
        yes                   low > −m                     relative: low > −m l
        no                    high < −m                    relative: high < −m u

The interval is two-sided and holds for all pairs (and segments) together, as wide as every check allows. So a "yes" to
an absolute margin is wrong with a probability of at most (1 − level)/2, and to a relative one of at most 1 − level:
either Δ lies below its interval or b's value below its own, (1 − level)/2 each. What a verdict is refused for, an
interval is no evidence for either (``no_margin``), and what nothing debiases is answered with "undecided".

Over scenarios of what the log cannot tell each is judged by itself, with b's value there. One of them is right, so what
is answered alike in all of them is the answer, at the same level; else it is undecided.

The same lists twice (``same_lists``) are equally good whatever is relevant: neither is better, and none worse.

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
from unskew.core.errors import InputError
from unskew.core.notice import Notice, codes
from unskew.core.text import plain
from unskew.estimators import Standing, Target
from unskew.inference.trust import is_doubt
from unskew.inference.verdict import Outcome
from unskew.report import numbers
from unskew.report.margins import Case, by_place, cases_of, ends_of, facet_of
from unskew.report.scenario_words import range_of
from unskew.report.view import Facet, View, in_scenarios, same_lists, unique, winner
from unskew.requirement import Reply, Requirement, Requirements, Statement
from unskew.result import Result, Verdict

UNCORRECTED = Notice(
    "it rests on a model of outcomes that nothing in the log corrects, so it is not evidence", code="uncorrected-model"
)
NOTHING_DEBIASED = Notice("nothing here undoes the skew of the log, so it is not evidence", code="not-debiased")
SAME_LISTS = Notice("both give the same lists, which score the same whatever is relevant", code="same-lists")

LONGEST = 500  # characters of an assumption that stands behind every answer


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
        why = Notice(f"{carrier} has no interval of the difference", code="no-interval")
        return _reply(asked, facet, None, Reply.UNDECIDED, why)
    others = _others(view, asked, facet, verdict)
    if same_lists(verdict):
        _refuse_vacuous(view, asked, [verdict, *others])
        reply = Reply.NO if asked.margin is None else Reply.YES
        return _reply(asked, facet, verdict, reply, SAME_LISTS)
    if view.standing(facet, carrier) is Standing.MODEL:
        return _reply(asked, facet, verdict, Reply.UNDECIDED, UNCORRECTED)
    if not view.standing(facet, carrier).debiased:
        return _reply(asked, facet, verdict, Reply.UNDECIDED, NOTHING_DEBIASED)
    _refuse_vacuous(view, asked, [verdict, *others])
    found = _judged(view, asked, verdict)
    if found.answer == Reply.UNDECIDED or not (against := _against(view, asked, Reply(found.answer), others)):
        return found
    reason = against.saying(f"{found.reason.rstrip('.')}, but {against}.")
    return replace(found, answer=Reply.UNDECIDED, reason=reason)


def _judged(view: View, asked: Statement, v: Verdict) -> Requirement:
    """What one verdict answers."""
    return _better(asked, facet_of(v), v) if asked.margin is None else _not_worse(view, asked, facet_of(v), v)


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


def _against(view: View, asked: Statement, reply: Reply, others: Sequence[Verdict]) -> Notice | None:
    """The first of the others that stands against an answer, in words."""
    for v in others:
        name = f"{v.estimator} ({v.target})"
        if asked.margin is not None and reply is Reply.YES:
            if failing := [case for case in cases_of(view, asked, v) if case.room <= 0.0]:  # not where one is missing
                case = min(failing, key=lambda case: case.room)
                own = f" (its margin: {_bound(view, asked, v, case.least, 'lowest')})" if asked.relative else ""
                where = f" at {case.where}" if case.where else ""
                text = f"{name} does not confirm it: {case.interval}{where}{own}"
                return Notice(text, code="not-confirmed", estimator=v.estimator, margin=case.least)
        elif _judged(view, asked, v).answer == (Reply.NO if reply is Reply.YES else Reply.YES):
            said = f"puts {winner(v)} ahead" if Outcome(v.verdict).decided else "does not confirm it"
            return Notice(f"{name} {said}: {_range(view, asked, v)}", code="contradicted", estimator=v.estimator)
    return None


def _range(view: View, asked: Statement, v: Verdict) -> str:
    """The same in words."""
    ends, places = ends_of(view, asked, v), numbers.decimals([(v.low, v.high)])
    return (range_of if in_scenarios(v) else numbers.interval)(*ends, places)


def _refuse_vacuous(view: View, asked: Statement, verdicts: Sequence[Verdict]) -> None:
    """An absolute margin that even a score of 0 would keep."""
    if asked.margin is None or asked.relative or view.traits(asked.metric).lower_is_better:
        return
    rows = [e for v in verdicts for e in view.estimates(facet_of(v), v.estimator)]
    highest = max((e.high for e in rows if e.model == asked.b and not math.isnan(e.high)), default=math.inf)
    if asked.margin < highest or any(e.value < 0.0 for e in rows):
        return
    meant = f" Did you mean {asked.margin:g} %?" if asked.margin < 100.0 else ""
    raise InputError(
        f"the requirement '{plain(asked.text)}' has a margin of {asked.margin:g}, and {plain(asked.b)} scores at most "
        f"{numbers.number(highest)} on {asked.metric}: it would hold whatever {plain(asked.a)} scores.{meant}",
        code="vacuous-margin",
        margin=asked.margin,
        highest=highest,
        meant=bool(meant),
    )


def _facet(view: View, asked: Statement) -> Facet | None:
    """The metric for the target of the headline, or for the first one that there is."""
    there = [facet for facet in view.facets if (facet.metric, facet.segment) == (asked.metric, asked.segment)]
    if asked.segment is None and not there:
        there = [facet for facet in view.facets_of(view.whole) if facet.metric == asked.metric]
    first = view.headline
    same = [facet for facet in there if first is not None and facet.target == first.target]
    return next(iter(same or there), None)


def _refusal(view: View, asked: Statement) -> Notice:
    """Why there is no estimate of a metric."""
    refused = [r for r in view.result.inputs.get("refused", ()) if r.get("metric") == asked.metric]
    return _coded(refused[0]["reason"] if refused else "there is no estimate of this metric", "no-estimate")


def _coded(text: str, code: str) -> Notice:
    """A reason without its full stop, with its own code if it has one."""
    bare = text.rstrip(".")
    return text.saying(bare) if isinstance(text, Notice) else Notice(bare, code=code)


def _better(asked: Statement, facet: Facet, v: Verdict) -> Requirement:
    if Outcome(v.verdict).decided:
        reply = Reply.YES if winner(v) == asked.a else Reply.NO
        return _reply(asked, facet, v, reply, _won(winner(v), v))
    return _reply(asked, facet, v, Reply.UNDECIDED, _open(v))


def _not_worse(view: View, asked: Statement, facet: Facet, v: Verdict) -> Requirement:
    cases = cases_of(view, asked, v)
    known = [case for case in cases if not math.isnan(case.room)]
    if not known:
        won = Outcome(v.verdict).decided and winner(v) == asked.a
        reply, reason = (Reply.YES, _won(asked.a, v)) if won else (Reply.UNDECIDED, _open(v))
        return _reply(asked, facet, v, reply, reason, math.nan)
    reply, reason, case = _by_cases(view, asked, v, cases, min(known, key=lambda case: case.room))
    sign = -1.0 if view.traits(v.metric).lower_is_better else 1.0
    low, high = sorted((sign * case.low, sign * case.high))
    bound = -sign * (case.most if reply is Reply.NO else case.least)
    found = _reply(asked, facet, v, reply, reason, bound)
    return replace(found, difference=sign * case.difference, low=low, high=high)


def _by_cases(
    view: View, asked: Statement, v: Verdict, cases: Sequence[Case], least: Case
) -> tuple[Reply, Notice, Case]:
    """The answer, why, and the case that is nearest to another answer; ``least`` is that with the least room."""
    replies, known = {case.reply for case in cases}, f"{_given(v)}{_doubts(v)}"
    lowest = _bound(view, asked, v, least.least, "lowest")
    if Outcome(v.verdict).decided and winner(v) == asked.a:
        return Reply.YES, _won(asked.a, v), least
    if v.no_margin:
        return Reply.UNDECIDED, _also(v, _coded(v.no_margin, "no-margin")), least
    if replies == {Reply.YES}:
        text = f"{_even_at(least)}{least.interval} lies above {lowest}{known}"
        return Reply.YES, Notice(text, code="within-margin"), least
    if len(replies) > 1:
        return Reply.UNDECIDED, _also(v, by_place(view, v, cases)), least
    if replies == {Reply.UNDECIDED}:
        where = f"at {least.where}: " if least.where else ""
        text = f"{where}{least.interval} does not exclude {lowest}"
        return Reply.UNDECIDED, _also(v, Notice(text, code="margin-in-interval")), least
    if not ends_of(view, asked, v)[1] < 0.0:  # the scenarios of another estimator contradict these
        return Reply.UNDECIDED, _open(v), least
    most = max(cases, key=lambda case: case.excess)
    highest = _bound(view, asked, v, most.most, "highest")
    text = f"{_even_at(most)}{most.interval} lies below {highest}{known}"
    return Reply.NO, Notice(text, code="beyond-margin"), most


def _even_at(case: Case) -> str:
    return f"in every scenario, even at {case.where}: " if case.where else ""


def _won(first: str, v: Verdict) -> Notice:
    text = f"{first} is {_word(v)}{_given(v)}{_doubts(v)}"
    return Notice(text, code="decided", also=codes([v.trust]), winner=first)


def _bound(view: View, asked: Statement, v: Verdict, margin: float, end: str) -> str:
    """A margin with its sign; of a relative one also what it is a share of."""
    text = numbers.number(-margin, None)
    if asked.margin is None or not asked.relative:
        return text
    value = numbers.number(margin / asked.margin, view.places(facet_of(v)))
    return f"{text}, {100.0 * asked.margin:g} % of {plain(asked.b)}'s {end} value {value}"


def _word(v: Verdict) -> str:
    return "better" if v.verdict in (Outcome.BETTER, Outcome.WORSE) else "ahead"


def _given(v: Verdict) -> str:
    """What an answer rests on; a long assumption by its estimator, since ``assumption`` and the page have its words."""
    if len(v.assumption) > LONGEST:
        return f", if what {v.estimator} assumes is true"
    return f", if {v.assumption}" if v.assumption else ""


def _doubts(v: Verdict) -> str:
    return f". {v.trust.rstrip('.')}" if v.trust else ""


def _also(v: Verdict, reason: Notice) -> Notice:
    """Why an answer is open, and behind it the doubt of a verdict."""
    return reason.saying(f"{reason}{_doubts(v)}") if is_doubt(v.trust) else reason


def _open(v: Verdict) -> Notice:
    """Why nothing is decided."""
    if v.verdict == Outcome.DEPENDS:
        return _also(v, _coded(v.turns or "it depends on what the log cannot tell", "depends"))
    if v.trust and not is_doubt(v.trust):
        return _coded(v.trust, "withheld")
    between = numbers.interval(v.low, v.high, numbers.decimals([(v.low, v.high)]))
    return _also(v, Notice(f"the difference may be 0: {between}", code="may-be-0"))


def _reply(
    asked: Statement, facet: Facet | None, v: Verdict | None, reply: Reply, reason: Notice, bound: float = 0.0
) -> Requirement:
    sign = 1.0 if v is None or v.a == asked.a else -1.0
    ends = (math.nan, math.nan) if v is None else (sign * v.low, sign * v.high)
    return Requirement(
        statement=asked.text,
        answer=reply,
        reason=reason.saying(f"{reason}."),
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
