"""The same plan over the whole and over each segment of it; how far either may be trusted is known for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from unskew.alignment.account import clicks_per_user
from unskew.alignment.align import Aligned
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.plan import EvaluationPlan, make_plan
from unskew.estimators import Estimator, Need, Target
from unskew.judging.measure import Measured, Setting, measure
from unskew.judging.segments import segments
from unskew.log.population import Population
from unskew.metrics import Metric, RankingMetric

LEFT_OUT = (
    "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are left out "
    "there."
)


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
