"""Tipping points of decided pairs: where the lead would vanish, and the least value that sampling error leaves.

The second pass walks the users again for the decided pairs only (beyond a dozen models those with the leader). The
lower limit comes from a bootstrap, of a few hundred replicates where no more were asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.engine.held import Floats
from unskew.engine.memory import estimate, tilt
from unskew.engine.summed import SummedArm
from unskew.engine.tilts import Pull, has_tilt, settled
from unskew.evaluation.measure import Measured
from unskew.inference import tipping

ALL_PAIRS = 12  # up to so many models every decided pair gets a tipping point, beyond only those with the leader
REPLICATES = 200  # for the lower limit where intervals are not bootstrapped


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
    held, setting, plan = measured.held, measured.setting, measured.plan
    replicates = setting.replicates or REPLICATES
    totals, drawn = tilt(
        held, pulls, replicates=replicates, seed=setting.seed, threads=setting.threads, progress=setting.progress
    )
    assert drawn is not None
    first = measured.sums.replicates
    if first is None and any(_guesses(pull) for pull in pulls):  # what an outcome model says is bootstrapped along
        again = estimate(held, plan.arms, (), replicates=replicates, seed=setting.seed, threads=setting.threads)
        first = again.replicates
    if first is None:
        first = np.zeros((replicates, len(measured.sums.totals)))
    found = {}
    for pull in pulls:
        gamma = _gamma(totals, measured.sums.totals, pull)
        low = float(np.quantile(_gamma(drawn, first, pull), 1.0 - setting.level, method="lower"))
        found[(pull.cell, pull.a, pull.b)] = Tipping(float(gamma), low)
    return found


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
            pulls.append(Pull(arm, cell.metric, a, b, float(np.sign(lead)), arm.inside_users, start, place))
            start += pulls[-1].width
    return pulls


def _guesses(pull: Pull) -> bool:
    return isinstance(pull.arm, SummedArm) and pull.arm.guesses(pull.metric) is not None


def _gamma(second: Floats, first: Floats, pull: Pull) -> Floats:
    """Γ* of a pair from the sums of both passes, (…, columns)."""
    sums = second[..., pull.start : pull.start + pull.width]
    if pull.grid:
        return tipping.on_grid(sums)
    return tipping.closed(sums, pull.sign, settled(pull, first))
