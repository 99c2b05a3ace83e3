"""The same plan over the whole and over each segment of it; how far either may be trusted is known for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.alignment.account import clicks_per_user
from unskew.alignment.align import Aligned
from unskew.engine.held import Held
from unskew.engine.memory import AnyArm
from unskew.engine.plan import Plan, make_plan
from unskew.engine.rated import RatedArm
from unskew.estimators import Need
from unskew.evaluation.measure import Measured, Setting, measure
from unskew.evaluation.segments import segments
from unskew.log.population import Population
from unskew.metrics import Metric, RankingMetric

LEFT_OUT = (
    "Segments of interactions have no n_u and no number of candidates: estimators that divide by them are left out "
    "there."
)


def single_clicks(held: Held) -> float:
    """The share of users with one seen relevant item."""
    clicks = clicks_per_user(held)
    return clicks["1"] / max(sum(clicks.values()), 1)


def support_gap(aligned: Aligned, held: Held) -> float | None:
    """The share of held-out interactions on items that training never showed."""
    if aligned.training_counts is None:
        return None
    used = held.item[held.value > 0.0]
    return float(np.mean(aligned.training_counts[used] == 0)) if len(used) else None


def measure_segments(
    aligned: Aligned, plan: Plan, setting: Setting, by: str | None, population: Population | None
) -> tuple[list[Measured], list[str]]:
    """The sums of every segment, and what segments lack."""
    tables, warnings = [], []
    for name, held in segments(aligned, by, population):
        own = replace(setting, segment=name, single_clicks=single_clicks(held), support_gap=support_gap(aligned, held))
        here = plan if held.candidates is not None else _without_totals(plan, aligned, len(setting.models))
        if _size(here) < _size(plan):
            warnings.append(LEFT_OUT)
        tables.append(measure(held, here, own))
    return tables, warnings


def _without_totals(plan: Plan, aligned: Aligned, models: int) -> Plan:
    """The arms and metrics that a part of the interactions can give, of which n_u and |C_u| are not known."""
    every = (*plan.arms, *plan.points)
    kept = [(arm.estimator, arm.target, good) for arm in every if (good := _in_part(arm))]
    return make_plan(kept, aligned.summary, models, every[0].depth)


def _size(plan: Plan) -> int:
    return sum(len(arm.metrics) for arm in (*plan.arms, *plan.points))


def _in_part(arm: AnyArm) -> tuple[Metric, ...]:
    """The metrics that an arm can give without them."""
    if {Need.RELEVANT, Need.CANDIDATES, Need.OUTCOME, Need.LISTS} & arm.estimator.needs(arm.target):
        return ()
    needy = isinstance(arm, RatedArm)  # averages over pairs take |C_u| into the worth of a rank
    return tuple(m for m in arm.metrics if not (needy and isinstance(m, RankingMetric)))
