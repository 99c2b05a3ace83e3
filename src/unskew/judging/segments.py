"""Segments: the same table for parts of the users, or parts of the held-out interactions.

A column of the population divides users; a column of the test log, or ``popularity(strata=3)``, divides interactions
(how well does a model do on rare items?). n_u and |C_u| are known for whole users only, so a part of the interactions
has none. The whole and each segment go through the same plan; how far either may be trusted is known for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.alignment.account import clicks_per_user
from unskew.alignment.align import Aligned
from unskew.bounds import Whole
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.errors import InputError
from unskew.estimators import Estimator, Need, Target
from unskew.judging.measure import Measured, Setting, measure
from unskew.log.order import starts_of
from unskew.log.population import Population
from unskew.metrics import Metric, RankingMetric
from unskew.plain import plain
from unskew.spec import parse, take

MOST = 1000
STRATA = Whole(2, MOST, "Every stratum is evaluated anew.")
LEFT_OUT = (
    "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are left out "
    "there."
)


def segments(aligned: Aligned, by: str | None, population: Population | None) -> Iterator[tuple[str, EvaluationData]]:
    """Every segment by its name."""
    if by is None:
        return
    if population is not None and by in population.columns:
        labels = population.columns[by]
        for name in _names(labels, by):
            yield f"{by}={name}", aligned.held.of_users(np.flatnonzero((labels == name).to_numpy()).astype(np.int32))
        return
    texts, prefix = aligned.labels.get(by), f"{by}="
    if texts is None and (name := parse(by, "column of by").name) in COUNTED:
        texts, prefix = COUNTED[name](aligned, by), f"{name} "
    if texts is None:
        known = sorted({*aligned.labels, *(population.columns if population is not None else ())})
        raise InputError(
            f"by={plain(by)!r}: neither the test log nor the users' table has a column '{plain(by)}'. "
            f"Known: {', '.join(known) or 'none'}; popularity(strata=3) works with any training log."
        )
    for label in _names(texts, by):
        yield f"{prefix}{label}", _rows(aligned.held, (texts == label).to_numpy())


def _names(labels: pl.Series, by: str) -> pl.Series:
    """The different labels, if they are few enough for a table each."""
    names = labels.unique().sort()
    if len(names) > MOST:
        raise InputError(
            f"by={plain(by)!r}: there are {len(names):,} different values, and every one is evaluated anew; {MOST:,} "
            "are the most. Join them into fewer groups."
        )
    return names


def _rows(held: EvaluationData, keep: npt.NDArray[np.bool_]) -> EvaluationData:
    """Some of the held-out rows, of the same users."""
    indptr = starts_of(keep)[held.indptr]
    return replace(held.of_rows(keep, indptr), relevant=None, candidates=None)


def _popularity(aligned: Aligned, by: str) -> pl.Series:
    """Strata of the items by their training count, as texts per row: 1 is the rarest."""
    if aligned.training_counts is None:
        raise InputError(f"by={plain(by)!r} counts items in a training log: give train=….")
    count = int(STRATA.of(take(parse(by), ("strata",), strata=int).get("strata", 3), f"by={plain(by)!r}: strata"))
    counts = aligned.training_counts
    if count > len(counts):
        raise InputError(f"by={plain(by)!r}: {len(counts):,} items cannot be divided into {count:,} strata.")
    edges = np.floor(np.quantile(counts, np.arange(1, count) / count))
    place = np.searchsorted(edges, counts[aligned.held.item], side="left")
    bounds = [f"n ≤ {edge:,.0f}" for edge in edges] + [f"n > {edges[-1]:,.0f}"]
    digits = len(str(count))  # so that they sort as numbers
    names = np.array([f"{j + 1:0{digits}}/{count} ({bound})" for j, bound in enumerate(bounds)])
    return pl.Series(names[place])


COUNTED = {"popularity": _popularity}  # segments that are counted, not read from a column


def single_clicks(held: EvaluationData) -> float:
    """The share of users with one seen relevant item."""
    clicks = clicks_per_user(held)
    return clicks["1"] / max(sum(clicks.values()), 1)


def support_gap(aligned: Aligned, engine: Engine) -> float | None:
    """The share of held-out interactions on items that training never showed."""
    if aligned.training_counts is None:
        return None
    counts = engine.item_counts()
    never = aligned.training_counts[: len(counts)] == 0
    return float(counts[never].sum() / counts.sum()) if counts.any() else None


def measure_segments(
    aligned: Aligned,
    engine: Callable[[EvaluationData], Engine],
    plan: EvaluationPlan,
    setting: Setting,
    by: str | None,
    population: Population | None,
) -> tuple[list[Measured], list[str]]:
    """The sums of every segment, each in an engine of its own, and what segments lack."""
    tables, warnings = [], []
    for name, held in segments(aligned, by, population):
        part = engine(held)
        own = replace(setting, segment=name, single_clicks=single_clicks(held), support_gap=support_gap(aligned, part))
        here = plan if held.candidates is not None else _without_totals(plan, aligned, len(setting.models))
        if _size(here) < _size(plan):
            warnings.append(LEFT_OUT)
        tables.append(measure(part, here, own))
    return tables, warnings


def _without_totals(plan: EvaluationPlan, aligned: Aligned, models: int) -> EvaluationPlan:
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
