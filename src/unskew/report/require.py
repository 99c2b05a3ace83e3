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

Several statements: all must be answered with yes. If one of them is false, all are only answered with yes if that one
is, so the error of a common "yes" is no larger than that of one statement (an intersection-union test, Berger 1982);
nothing needs to be divided by their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from unskew import metrics
from unskew.inference.verdict import Outcome
from unskew.report import numbers
from unskew.report.view import Facet, View, unique
from unskew.report.words import winner
from unskew.requirement import Reply, Requirement, Requirements, Statement
from unskew.result import Result, Verdict

NOTHING_DEBIASED = "nothing here undoes the skew of the log, so it is not evidence"

LONGEST = 100  # characters of an assumption that stands behind every answer


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
    if not view.standing(facet, carrier).debiased:
        return _reply(asked, facet, verdict, Reply.UNDECIDED, NOTHING_DEBIASED)
    return _better(asked, facet, verdict) if asked.margin is None else _not_worse(view, asked, facet, verdict)


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
    low, high = sorted(sign * end * (1.0 if v.a == asked.a else -1.0) for end in (v.low, v.high))
    least, most = _margins(view, asked, facet, v.estimator)
    if Outcome(v.verdict).decided and winner(v) == asked.a:
        return _reply(asked, facet, v, Reply.YES, f"{asked.a} is {_word(v)}{_given(v)}{_doubts(v)}", -sign * least)
    if math.isnan(low) or math.isnan(least):
        return _reply(asked, facet, v, Reply.UNDECIDED, _open(v))
    if v.no_margin:
        return _reply(asked, facet, v, Reply.UNDECIDED, v.no_margin, -sign * least)
    places = numbers.decimals([(v.low, v.high)])
    interval, bound = numbers.interval(low, high, places), numbers.number(-least, None)
    if low > -least:
        return _reply(
            asked, facet, v, Reply.YES, f"{interval} lies above {bound}{_given(v)}{_doubts(v)}", -sign * least
        )
    if high < -most:
        lost = f"{interval} lies below {numbers.number(-most, None)}{_given(v)}{_doubts(v)}"
        return _reply(asked, facet, v, Reply.NO, lost, -sign * most)
    return _reply(asked, facet, v, Reply.UNDECIDED, f"{interval} does not exclude {bound}", -sign * least)


def _margins(view: View, asked: Statement, facet: Facet, estimator: str) -> tuple[float, float]:
    """The margin, or its least and largest size where it is a share of a value that is itself an estimate."""
    assert asked.margin is not None
    if not asked.relative:
        return asked.margin, asked.margin
    e = next(e for e in view.estimates(facet, estimator) if e.model == asked.b)
    if math.isnan(e.low) or math.isnan(e.high) or math.isnan(e.value):
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


def _open(v: Verdict) -> str:
    """Why nothing is decided."""
    if v.verdict == Outcome.DEPENDS:
        return v.turns.rstrip(".") or "it depends on what the log cannot tell"
    if v.trust:
        return v.trust.rstrip(".")
    return f"the difference may be 0: {numbers.interval(v.low, v.high, numbers.decimals([(v.low, v.high)]))}"


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
