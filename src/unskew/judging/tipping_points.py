"""Tipping points of decided pairs: where the lead would vanish, and the least value that sampling error leaves.

The second pass walks the users again for the decided pairs only (beyond a dozen models those with the leader). The
lower limit comes from the bootstrap where there is one, else from standard errors of the worst cases.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import TippingSums
from unskew.inference import tipping
from unskew.judging.measure import Measured
from unskew.kernels.arrays import Floats

ALL_PAIRS = 12  # up to so many models every decided pair gets a tipping point, beyond only those with the leader


class TippingPoint(NamedTuple):
    """Γ*, and the Γ* that holds at the level over replicates."""

    value: float
    low: float


def tipping_points(measured: Measured, decided: set[tuple[int, int, int]]) -> dict[tuple[int, int, int], TippingPoint]:
    """Γ* by (cell, a, b) of the decided pairs that have one."""
    pairs = _pairs(measured, decided)
    if not pairs:
        return {}
    engine, setting, first = measured.engine, measured.setting, measured.sums
    found = engine.second_pass(pairs, replicates=setting.replicates, seed=setting.seed)
    out = {}
    for pair in pairs:
        gamma = float(_gamma(found.totals, first.totals, pair))
        if found.replicates is not None and first.replicates is not None:
            drawn = _gamma(found.replicates, first.replicates, pair)
            low = float(np.quantile(drawn, 1.0 - setting.level, method="lower"))
        else:
            low = _low(found, pair, float(pair.listed_lead(first.totals)), engine.users, setting.level)
        out[(pair.cell, pair.a, pair.b)] = TippingPoint(gamma, min(low, gamma))
    return out


def _low(found: TippingSums, pair: ModelPair, listed_lead: float, users: int, level: float) -> float:
    """The lower limit from standard errors; what an outcome model says of the lists is taken as it is."""
    sums = found.totals[pair.columns]
    products, error = found.products[pair.place], NormalDist().inv_cdf(level)
    if found.draws is not None:
        columns = np.arange(pair.columns.start, pair.columns.stop)
        more = found.draws.spread(columns, sums / max(users, 1))
        products = products + (np.diag(more) if pair.on_grid else more)
    if pair.on_grid:
        return tipping.grid_low(sums, products, users, error)
    return tipping.closed_low(sums, products, pair.sign, users, error, listed_lead)


def _pairs(measured: Measured, decided: set[tuple[int, int, int]]) -> list[ModelPair]:
    """The pairs that get a tipping point: all of a few models, those with the leader of many."""
    pairs: list[ModelPair] = []
    start = 0
    for place, cell in enumerate(measured.plan.cells):
        run, moments = measured.plan.runs[cell.run], measured.sums.moments[place]
        if not run.has_tipping_point(cell.metric) or not np.isfinite(moments.values).all():
            continue
        best = np.argmin if run.metrics[cell.metric].lower_is_better else np.argmax
        leader = int(best(moments.values))
        for a, b in sorted((a, b) for where, a, b in decided if where == place):
            lead = moments.values[a] - moments.values[b]
            if lead == 0.0 or (moments.models > ALL_PAIRS and leader not in (a, b)):
                continue
            pairs.append(ModelPair(run, cell.metric, a, b, float(np.sign(lead)), start, place, len(pairs)))
            start += pairs[-1].width
    return pairs


def _gamma(second: Floats, first: Floats, pair: ModelPair) -> Floats:
    """Γ* of a pair from the sums of both passes, (…, columns)."""
    sums = second[..., pair.columns]
    if pair.on_grid:
        return tipping.on_grid(sums)
    return tipping.closed(sums, pair.sign, pair.listed_lead(first))
