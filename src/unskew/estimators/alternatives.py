"""What to do instead of a cell that the log cannot support: only what is accepted when it is followed.

A way out is another cell (metric × estimator × target), something more to give (*additions*: propensities, a threshold,
lists for everybody), or both. None is written down by hand: candidates are tried against the same rules that refused
the cell, over the same evidence, and what these refuse is not named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from unskew.core.notice import Notice
from unskew.estimators.base import Estimator, Need, Standing
from unskew.estimators.direct import Direct
from unskew.estimators.dr import DR
from unskew.estimators.ips import IPS
from unskew.estimators.naive import Naive
from unskew.estimators.sndr import SNDR
from unskew.estimators.snips import SNIPS
from unskew.estimators.target import Target
from unskew.log import Feedback
from unskew.metrics import CG, DCG, MAE, Metric, RatingMetric, Recall

if TYPE_CHECKING:
    from unskew.estimators.validity import Evidence

MOST_ADDITIONS = 3
SHOWN = 2  # ways of each kind that a message names
NEAR = 3.2  # the second of them is no more than two changes away


@dataclass(frozen=True)
class Addition:
    """Something more that a user may give.

    Args:
        name: what it is called in structured data.
        words: the sentence's part after "Give"; ``{users}`` is the size of the population.
        changes: what is then known about the log.
        lacking: whether the log does without it so far.
    """

    name: str
    words: str
    changes: tuple[tuple[str, Any], ...]
    lacking: Callable[[Evidence], bool]

    def added_to(self, evidence: Evidence) -> Evidence:
        """The evidence with it."""
        return replace(evidence, **dict(self.changes))


ADDITIONS = (
    Addition(
        "propensity=known",
        "a column 'propensity' in the test log with propensity='known'",
        (("propensity", True), ("absolute", True)),
        lambda e: not e.propensity,
    ),
    Addition(
        "propensity=popularity(gamma=1)",
        "propensity='popularity(gamma=1)' with a training log (if exposure explains all of popularity)",
        (("propensity", True), ("absolute", False)),
        lambda e: not e.propensity,
    ),
    Addition(
        "propensity=known(part=test)",
        "a column written for the test period with propensity='known(part=test)'",
        (("absolute", True), ("unshared", False), ("cut", "")),
        lambda e: bool(e.cut),
    ),
    Addition(
        "share",
        "the test log's share of the whole log with share=0.3 (or share='users', if it holds other users)",
        (("absolute", True), ("unshared", False)),
        lambda e: e.unshared and not e.cut,
    ),
    Addition(
        "absolute=known",
        "known propensities (a column 'propensity' in the test log, propensity='known')",
        (("absolute", True),),
        lambda e: e.propensity and not e.absolute and not e.unshared,
    ),
    Addition(
        "outcome=fitted",
        "outcome='logistic_mf(dim=10)'",
        (("outcome", True), ("outside", False)),
        lambda e: not e.outcome,
    ),
    Addition(
        "outcome=given",
        "predictions from outside with outcome='given(predictions.parquet)'",
        (("outcome", True), ("outside", True)),
        lambda e: not e.outside,
    ),
    Addition(
        "relevant",
        "a threshold such as relevant='>=4'",
        (("thresholded", True), ("binary", True)),
        lambda e: e.feedback is not Feedback.IMPLICIT and not e.thresholded,
    ),
    Addition(
        "users.relevant",
        "each user's number of relevant items as column 'relevant' with users=…",
        (("relevant", True),),
        lambda e: not e.relevant,
    ),
    Addition(
        "zeros",
        "the seen pairs that brought nothing too, with value 0",
        (("zeros", True),),
        lambda e: e.feedback is Feedback.CONVERSIONS and not e.zeros,
    ),
    Addition(
        "predictions",
        "predictions of every model with read_predictions(…) (user, item, prediction)",
        (("unpredicted", ""),),
        lambda e: bool(e.unpredicted),
    ),
    Addition(
        "ranks",
        "predictions of all candidate pairs, or a column 'rank'",
        (("unranked", ""),),
        lambda e: bool(e.unranked),
    ),
    Addition(
        "lists",
        "lists for all {users:,} users, also those without held-out interactions",
        (("unlisted", ""),),
        lambda e: bool(e.unlisted),
    ),
)


@dataclass(frozen=True)
class Alternative:
    """A cell that is accepted once the additions, and the table that its estimator then reads, are given."""

    metric: Metric
    estimator: Estimator
    target: Target
    additions: tuple[Addition, ...] = ()
    table: str = ""

    def accepted(self, rule: Rule, evidence: Evidence) -> bool:
        """Whether the rule refuses the cell no longer, with this evidence."""
        return rule(self.metric, self.estimator, self.target, evidence) is None

    @property
    def plain(self) -> dict[str, Any]:
        """As plain values, for results."""
        return {
            "metric": str(self.metric),
            "estimator": str(self.estimator),
            "target": str(self.target),
            "give": [addition.name for addition in self.additions],
        }


@dataclass(frozen=True)
class Refused:
    """Why a cell cannot be estimated, and the ways out; ``reason`` is the whole message."""

    reason: Notice
    instead: tuple[Alternative, ...]


Rule = Callable[[Metric, Estimator, Target, "Evidence"], Notice | None]


def refused(why: Notice, asked: Alternative, evidence: Evidence, rule: Rule, *, by_metric: bool) -> Refused:
    """The refusal of a cell with everything that may be done about it.

    Args:
        why: the reason.
        asked: the refused cell.
        evidence: what is known about the log.
        rule: why a cell is refused, ``None`` if it is not.
        by_metric: whether the metric is what cannot be had; otherwise other metrics are no answer.
    """
    near = _cells(asked, evidence, other_metrics=by_metric)
    cells = _diverse(near, rule, evidence) or _diverse(_cells(asked, evidence, other_metrics=True), rule, evidence)
    debiased = [way for way in cells if _debiases(way) or not _debiases(asked)]
    given = asked.estimator.with_table  # what the log cannot tell may come from outside: shares of strata
    own_table = [] if given is None else [replace(asked, estimator=given[0], table=given[1])]
    richer = _with_additions([asked, *own_table], evidence, rule, most=1 if debiased else MOST_ADDITIONS)
    if not richer and not debiased:
        richer = _with_additions([way for way, _ in near if _debiases(way)], evidence, rule, most=1)[:1]
    ways = (*richer, *(debiased or cells))
    if not ways:
        every = [way for way, _ in _cells(asked, evidence, other_metrics=True)]
        ways = _with_additions(every, evidence, rule, most=MOST_ADDITIONS)[:1]
    return Refused(why.saying(f"{why} {_advice(asked, ways, evidence)}"), ways)


def _debiases(way: Alternative) -> bool:
    return way.estimator.standing(way.target).debiased


def _with_additions(
    cells: Sequence[Alternative], evidence: Evidence, rule: Rule, *, most: int
) -> tuple[Alternative, ...]:
    """The smallest sets of additions that make one of the cells acceptable."""
    lacking = [addition for addition in ADDITIONS if addition.lacking(evidence)]
    everything = evidence
    for addition in lacking:
        everything = addition.added_to(everything)
    everything = replace(everything, absolute=everything.propensity, outside=everything.outcome)  # the best of a kind
    cells = [way for way in cells if way.accepted(rule, everything)]
    for size in range(most + 1):
        found = []
        for cell, additions in product(cells, combinations(lacking, size)):
            richer = _given(additions, evidence)
            if richer is not None and cell.accepted(rule, richer):
                found.append(replace(cell, additions=additions))
                if len(found) == SHOWN:
                    return tuple(found)
        if found:
            return tuple(found)
    return ()


def _given(additions: Iterable[Addition], evidence: Evidence) -> Evidence | None:
    """The evidence with all of them; ``None`` if one of them is there already."""
    for addition in additions:
        if not addition.lacking(evidence):
            return None
        evidence = addition.added_to(evidence)
    return evidence


def _diverse(ways: Iterable[tuple[Alternative, float]], rule: Rule, evidence: Evidence) -> tuple[Alternative, ...]:
    """The nearest accepted cell, and another near one under another metric or target."""
    found: list[Alternative] = []
    for way, far in ways:
        if found and far > NEAR:
            break
        if all((way.metric, way.target) != (other.metric, other.target) for other in found) and way.accepted(
            rule, evidence
        ):
            found.append(way)
        if len(found) == SHOWN:
            break
    return tuple(found)


def _cells(asked: Alternative, evidence: Evidence, *, other_metrics: bool) -> list[tuple[Alternative, float]]:
    """Other cells and how far they are, the nearest first: another estimator, another target, another metric, several.

    Last come naive, which debiases nothing, where something else was asked for; direct, which believes its model; and
    per_user, whose ratios lean towards naive for users with few clicks.
    """
    found: list[tuple[Alternative, float]] = []
    for (m, metric), (e, estimator), (t, target) in product(
        enumerate([asked.metric, *(_metrics(asked.metric) if other_metrics else ())]),
        enumerate([asked.estimator, *_estimators(asked, evidence)]),
        enumerate([asked.target, *_targets(asked.target, evidence)]),
    ):
        if (m, e, t) == (0, 0, 0) or target not in estimator.valid:
            continue
        far = 1.0 * (e > 0) + 1.5 * (t > 0) + 1.5 * (m > 0) + 0.01 * e + 0.05 * t + 0.05 * m
        standing = estimator.standing(target)
        far += 10.0 * (_debiases(asked) and not standing.debiased) + 2.0 * (standing is Standing.MODEL)
        far += 2.0 * (t > 0 and target is Target.PER_USER and metric.additive)
        found.append((Alternative(metric, estimator, target), far))
    return sorted(found, key=lambda pair: pair[1])


def _metrics(metric: Metric) -> Iterator[Metric]:
    """Metrics that say something similar, and can be estimated more often."""
    if isinstance(metric, RatingMetric):
        yield DCG(10)
        return
    k = metric.k or 10
    if metric.usual != metric:
        yield metric.usual
    if metric.divided_by_k:
        yield CG(k)
    if not metric.additive or metric.divided_by_k:
        yield Recall(k)
    yield DCG(k)
    yield CG(k)
    yield MAE()


def _estimators(asked: Alternative, evidence: Evidence) -> Iterator[Estimator]:
    """Estimators that may serve instead, the strongest promise first."""
    estimator = asked.estimator
    yield from estimator.similar()
    if Need.OUTCOME in estimator.needs(Target.PER_USER_SUM):
        yield from (DR(), SNDR())
    debiased = _debiases(asked)
    if debiased:
        yield from (IPS(), SNIPS(), SNIPS("list"))
    if evidence.outside and Need.OUTCOME in estimator.needs(Target.PER_USER_SUM):
        yield Direct()  # what was predicted elsewhere, believed
    if not debiased and evidence.propensity:
        yield from (IPS(), SNIPS())
    yield Naive()


def _targets(target: Target, evidence: Evidence) -> Iterator[Target]:
    """Other targets, those first that are usual for the feedback."""
    usual = {
        Feedback.IMPLICIT: (Target.POOLED, Target.PER_USER_SUM),
        Feedback.CONVERSIONS: (Target.PER_USER_SUM, Target.POOLED),
        Feedback.RATINGS: (Target.PER_PAIR, Target.PER_USER_SUM, Target.POOLED),
    }[evidence.feedback]
    sums = (Target.SUM_POOLED,) if target.sums else ()
    yield from (other for other in (*usual, Target.PER_USER, Target.PER_PAIR, *sums) if other is not target)


def _advice(asked: Alternative, ways: tuple[Alternative, ...], evidence: Evidence) -> str:
    """The ways as sentences."""
    given = [_additions(way, asked, evidence) for way in ways if way.additions or way.table]
    used = [way for way in ways if not way.additions and not way.table]
    parts = []
    if given:
        parts.append(f"Give {', or '.join(given)}.")
    if used:
        first = "Or use" if given else "Use"
        only_naive = _debiases(asked) and not any(map(_debiases, used))
        note = ", which debiases nothing" if only_naive else ""
        parts.append(f"{first} {', or '.join(_cell(way, asked) for way in used)}{note}.")
    return " ".join(parts)


def _additions(way: Alternative, asked: Alternative, evidence: Evidence) -> str:
    """What to give, and where the cell changes what to use with it."""
    words = [addition.words.format(users=evidence.users) for addition in way.additions]
    if way.table:
        words.insert(0, way.table)
    text = " and ".join(words)
    if Need.SHARES in way.estimator.needs(way.target):
        text = text.replace("in the test log", "in both logs")  # shares of strata are measured on training rows
    if not way.table and replace(way, additions=()) != replace(asked, additions=()):
        text += f" and use {_cell(way, asked)}"
    return text


def _cell(way: Alternative, asked: Alternative) -> str:
    """The cell by what differs from the asked one."""
    words = []
    if str(way.metric) != str(asked.metric):
        words.append(str(way.metric))
    if str(way.estimator) != str(asked.estimator):
        words.append(f"with {way.estimator}" if words else str(way.estimator))
    if way.target is not asked.target:
        words.append(f"under target {way.target}" if words else f"target {way.target}")
    return " ".join(words)
