"""Tipping points: how wrong must the propensities be before the better model is no longer ahead?

Weights may lie anywhere in ``fixed + varying·[1/Γ, Γ]`` (odds wrong by Γ for absolute propensities: fixed 1, varying
1/P − 1; a factor Γ for relative ones: fixed 0, varying 1/P). Two forms:

closed   Where the divisor does not change the sign (pooled, per_user_sum, per_user ips) the worst case of the model
         that is ahead is  (A0 − B0 + Q) + A1/Γ − B1·Γ,  A the sums over rows in its favour, B those against it, Q
         what does not depend on propensities at all (an outcome model's guesses of the lists).
grid     Per-user ratios (naive, snips, gs) are minimised inside each user on a grid of Γ; the sum over users is
         interpolated where it crosses zero, in log Γ.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats

CLOSED = 4  # columns of the closed form
GRID = np.array([1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0])


def closed(sums: Floats, sign: float, listed: Floats | float = 0.0) -> Floats:
    """Γ* from (…, 4) sums A0, A1, B0, B1, and Q; ``sign`` < 0 swaps the models. Already behind: 1. Never: infinity."""
    a0, a1, b0, b1 = (sums[..., c] for c in ((0, 1, 2, 3) if sign > 0 else (2, 3, 0, 1)))
    lead = a0 - b0 + np.sign(sign) * listed
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.sqrt(
            lead**2 + 4.0 * a1 * b1
        )  # of the two forms of the root, the one that adds instead of subtracting
        gamma = np.where(lead < 0.0, 2.0 * a1 / (reach - lead), (lead + reach) / (2.0 * b1))
        gamma = np.where((b1 > 0.0) | (lead < 0.0), gamma, np.inf)
    return np.maximum(np.where(lead + a1 - b1 > 0.0, gamma, 1.0), 1.0)


FINE = np.geomspace(1.0, 1e4, 400)  # for the lower limit of closed forms


def closed_low(sums: Floats, products: Floats, sign: float, users: int, error: float, listed: float = 0.0) -> float:
    """The least Γ at which the worst case of the leader is no longer surely positive, (A0, A1, B0, B1) given.

    The worst case at each Γ is a sum over users, and so has a standard error: where it is less than z of them above 0,
    sampling error alone could undo the lead.
    """
    order = [0, 1, 2, 3] if sign > 0 else [2, 3, 0, 1]
    at = np.stack([np.ones_like(FINE), 1.0 / FINE, -np.ones_like(FINE), -FINE], axis=1)
    centred = products - np.outer(sums, sums) / max(users, 1)
    centred = centred[np.ix_(order, order)]
    spread = np.sqrt(np.maximum(np.einsum("ga,ab,gb->g", at, centred, at), 0.0))
    worst = at @ sums[order] + np.sign(sign) * listed - error * spread
    return float(on_grid(np.minimum.accumulate(worst), FINE))


def grid_low(worst: Floats, squares: Floats, users: int, error: float) -> float:
    """The same for worst cases on the grid."""
    spread = np.sqrt(np.maximum(squares - worst**2 / max(users, 1), 0.0))
    return float(on_grid(np.minimum.accumulate(worst - error * spread)))


def on_grid(worst: Floats, grid: Floats = GRID) -> Floats:
    """Γ* from worst cases at each Γ of a grid, which fall as Γ grows; infinity where the grid's end is not enough."""
    behind = worst <= 0.0
    place = np.argmax(behind, axis=-1)
    never = ~behind.any(axis=-1)
    after = np.maximum(place, 1)
    high = np.take_along_axis(worst, after[..., None], axis=-1)[..., 0]
    low = np.take_along_axis(worst, after[..., None] - 1, axis=-1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(np.where(low > high, low / (low - high), 0.0), 0.0, 1.0)
    step = np.log(grid[after]) - np.log(grid[after - 1])
    gamma = np.exp(np.log(grid[after - 1]) + part * step)
    return np.where(never, np.inf, np.where(place == 0, 1.0, gamma))
