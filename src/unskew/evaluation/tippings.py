"""Tipping points of decided pairs: where the lead would vanish, and the least value that sampling error leaves.

The second pass walks the users again for the decided pairs only (beyond a dozen models those with the leader). The
lower limit comes from the bootstrap where there is one, else from standard errors of the worst cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from unskew.engine.held import Floats
from unskew.engine.memory import TippingSums, tilt
from unskew.engine.tilts import Pull, has_tilt, settled
from unskew.evaluation.measure import Measured
from unskew.inference import tipping

ALL_PAIRS = 12  # up to so many models every decided pair gets a tipping point, beyond only those with the leader


@dataclass(frozen=True)
class Tipping:
    """Γ*, and the Γ* that holds at the level over replicates."""

    value: float
    low: float


def tippings(measured: Measured, decided: set[tuple[int, int, int]]) -> dict[tuple[int, int, int], Tipping]:
    """Γ* by (cell, a, b) of the decided pairs that have one."""
    pulls = _pulls(measured, decided)
    if not pulls:
        return {}
    held, setting, first = measured.held, measured.setting, measured.sums
    found = tilt(
        held,
        pulls,
        replicates=setting.replicates,
        seed=setting.seed,
        threads=setting.threads,
        progress=setting.progress,
    )
    out = {}
    for pull in pulls:
        gamma = float(_gamma(found.totals, first.totals, pull))
        if found.replicates is not None and first.replicates is not None:
            drawn = _gamma(found.replicates, first.replicates, pull)
            low = float(np.quantile(drawn, 1.0 - setting.level, method="lower"))
        else:
            low = _low(found, pull, float(settled(pull, first.totals)), held.users, setting.level)
        out[(pull.cell, pull.a, pull.b)] = Tipping(gamma, min(low, gamma))
    return out


def _low(found: TippingSums, pull: Pull, guesses: float, users: int, level: float) -> float:
    """The lower limit from standard errors; what an outcome model says of the lists is taken as it is."""
    sums = found.totals[pull.start : pull.start + pull.width]
    products, error = found.products[pull.place], NormalDist().inv_cdf(level)
    if pull.grid:
        return tipping.grid_low(sums, products, users, error)
    return tipping.closed_low(sums, products, pull.sign, users, error, guesses)


def _pulls(measured: Measured, decided: set[tuple[int, int, int]]) -> list[Pull]:
    """The pairs that get a tipping point: all of a few models, those with the leader of many."""
    pulls: list[Pull] = []
    start = 0
    for place, cell in enumerate(measured.plan.cells):
        arm, moments = measured.plan.arms[cell.arm], measured.sums.moments[place]
        if not has_tilt(arm, cell.metric) or not np.isfinite(moments.values).all():
            continue
        best = np.argmin if arm.metrics[cell.metric].lower_is_better else np.argmax
        leader = int(best(moments.values))
        for a, b in sorted((a, b) for where, a, b in decided if where == place):
            lead = moments.values[a] - moments.values[b]
            if lead == 0.0 or (moments.models > ALL_PAIRS and leader not in (a, b)):
                continue
            pulls.append(Pull(arm, cell.metric, a, b, float(np.sign(lead)), arm.inside_users, start, place, len(pulls)))
            start += pulls[-1].width
    return pulls


def _gamma(second: Floats, first: Floats, pull: Pull) -> Floats:
    """Γ* of a pair from the sums of both passes, (…, columns)."""
    sums = second[..., pull.start : pull.start + pull.width]
    if pull.grid:
        return tipping.on_grid(sums)
    return tipping.closed(sums, pull.sign, settled(pull, first))
