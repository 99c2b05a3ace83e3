"""Segments: the same table for parts of the users, or parts of the held-out interactions.

A column of the population divides users; a column of the test log, or ``popularity(strata=3)``, divides interactions
(how well does a model do on rare items?). n_u and |C_u| are known for whole users only, so a part of the interactions
has none. The whole and each segment go through the same plan; how far either may be trusted is known for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import or_

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.alignment.align import Alignment
from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.spec import parse, take
from unskew.core.text import plain
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Estimator, Need, Target
from unskew.inference.merging import Mergeable, merged_by
from unskew.judging.measure import Measured, Setting, measure
from unskew.kernels.arrays import Floats
from unskew.log.order import starts_of
from unskew.metrics import Metric, RankingMetric

Columns = Mapping[str, pl.Series]
MOST = 1000
STRATA = Whole(2, MOST, "Every stratum is evaluated anew.")
LEFT_OUT = Notice(
    "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are left out "
    "there.",
    code="no-totals-in-segments",
)


@dataclass(frozen=True, eq=False)
class Division:
    """How users, or held-out interactions, are divided into segments.

    Args:
        by: the column.
        prefix: what the names of segments begin with.
        of_users: whether a column of the population divides users.
        strata: of segments that are counted, the name of every item's.
    """

    by: str
    prefix: str
    of_users: bool = False
    strata: pl.Series | None = None

    def labels(self, held: EvaluationData, texts: Columns, people: Columns) -> pl.Series:
        """The label of every row, or of every user; ``texts`` are those of the rows."""
        if self.of_users:
            return people[self.by]
        return texts[self.by] if self.strata is None else self.strata.gather(held.item)

    def cut(self, label: str, held: EvaluationData, texts: Columns, people: Columns) -> EvaluationData:
        """One segment."""
        chosen = (self.labels(held, texts, people) == label).to_numpy()
        return held.of_users(np.flatnonzero(chosen).astype(np.int32)) if self.of_users else _rows(held, chosen)


@dataclass(frozen=True)
class Labels(Mergeable):
    """The labels that occur among some users; those of others are added."""

    found: frozenset[str] = merged_by(or_)

    @classmethod
    def of(cls, labels: pl.Series) -> Labels:
        """The different ones."""
        return cls(frozenset(labels.unique()))


def division_of(by: str, texts: Collection[str], people: Collection[str], training_counts: Floats | None) -> Division:
    """How a column divides; ``texts`` are the columns of the test log, ``people`` those of the population."""
    if by in people:
        return Division(by, f"{by}=", of_users=True)
    if by in texts:
        return Division(by, f"{by}=")
    if (name := parse(by, "column of by").name) in COUNTED:
        return Division(by, f"{name} ", strata=COUNTED[name](training_counts, by))
    known = sorted({*texts, *people})
    raise InputError(
        f"by={plain(by)!r}: neither the test log nor the users' table has a column '{plain(by)}'. "
        f"Known: {', '.join(known) or 'none'}; popularity(strata=3) works with any training log.",
        code="unknown-column",
        column=by,
    )


def _names(found: Labels, by: str) -> list[str]:
    """The different labels, if they are few enough for a table each."""
    if len(found.found) > MOST:
        raise InputError(
            f"by={plain(by)!r}: there are {len(found.found):,} different values, and every one is evaluated anew; "
            f"{MOST:,} are the most. Join them into fewer groups.",
            code="too-many-segments",
            values=len(found.found),
        )
    return pl.Series(list(found.found), dtype=pl.String).sort().to_list()


def _rows(held: EvaluationData, keep: npt.NDArray[np.bool_]) -> EvaluationData:
    """Some of the held-out rows, of the same users."""
    indptr = starts_of(keep)[held.indptr]
    return replace(held.of_rows(keep, indptr), relevant=None, candidates=None)


def _popularity(counts: Floats | None, by: str) -> pl.Series:
    """Strata of the items by their training count, as texts per item: 1 is the rarest."""
    if counts is None:
        raise InputError(f"by={plain(by)!r} counts items in a training log: give train=….", code="no-training-log")
    count = int(STRATA.of(take(parse(by), ("strata",), strata=int).get("strata", 3), f"by={plain(by)!r}: strata"))
    if count > len(counts):
        raise InputError(
            f"by={plain(by)!r}: {len(counts):,} items cannot be divided into {count:,} strata.",
            code="too-many-strata",
            items=len(counts),
        )
    edges = np.floor(np.quantile(counts, np.arange(1, count) / count))
    place = np.searchsorted(edges, counts, side="left")
    bounds = [f"n ≤ {edge:,.0f}" for edge in edges] + [f"n > {edges[-1]:,.0f}"]
    digits = len(str(count))  # so that they sort as numbers
    names = np.array([f"{j + 1:0{digits}}/{count} ({bound})" for j, bound in enumerate(bounds)])
    return pl.Series(names[place])


COUNTED = {"popularity": _popularity}  # segments that are counted, not read from a column


def single_clicks(engine: Engine) -> float:
    """The share of users with one seen relevant item."""
    clicks = engine.click_counts()
    return float(clicks[0] / max(clicks.sum(), 1))


def support_gap(aligned: Alignment, engine: Engine) -> float | None:
    """The share of held-out interactions on items that training never showed."""
    if aligned.training_counts is None:
        return None
    counts = engine.item_counts()
    never = aligned.training_counts[: len(counts)] == 0
    return float(counts[never].sum() / counts.sum()) if counts.any() else None


def measure_segments(
    aligned: Alignment,
    division: Division,
    labels: Labels,
    engine: Callable[[str], Engine],
    plan: EvaluationPlan,
    setting: Setting,
) -> tuple[list[Measured], list[str]]:
    """The sums of every segment, each in an engine of its own, and what segments lack."""
    tables: list[Measured] = []
    warnings: list[str] = []
    for label in _names(labels, division.by):
        part = engine(label)
        own = replace(
            setting,
            segment=f"{division.prefix}{label}",
            tested=False,  # the column may be right on the whole and wrong here: what it must be stays a condition
            single_clicks=single_clicks(part),
            support_gap=support_gap(aligned, part),
        )
        here = plan if division.of_users else _without_totals(plan, aligned, len(setting.models))
        if _size(here) < _size(plan):
            warnings.append(LEFT_OUT)
        tables.append(measure(part, here, own))
    return tables, warnings


def _without_totals(plan: EvaluationPlan, aligned: Alignment, models: int) -> EvaluationPlan:
    """The runs and metrics that a part of the interactions can give, of which n_u and |C_u| are not known."""
    kept = [
        (estimator, target, good)
        for estimator, target, metrics in plan.asked
        if (good := _in_part(estimator, target, metrics))
    ]
    return make_plan(kept, aligned.summary, models, (*plan.runs, *plan.points)[0].depth)


def _size(plan: EvaluationPlan) -> int:
    return sum(len(run.metrics) for run in (*plan.runs, *plan.points))


def _in_part(estimator: Estimator, target: Target, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """The metrics that an estimator can give without them."""
    if {Need.RELEVANT, Need.CANDIDATES, Need.OUTCOME, Need.LISTS} & estimator.needs(target):
        return ()
    needy = target is Target.PER_PAIR  # averages over pairs take |C_u| into the worth of a rank
    return tuple(m for m in metrics if not (needy and isinstance(m, RankingMetric)))
