"""The worst weights inside users, against every place of the step between large and small weights."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.kernels.arrays import Floats
from unskew.kernels.sensitivity import FEW, signed_sums, worst_ratios

GAMMAS = np.array([1.0, 1.3, 2.0, 7.0])


def least(d: Floats, value: Floats, inverse: Floats, fixed: float, gamma: float) -> float:
    """The least ratio over all places of the step, in the order of d."""
    keep = value > 0.0
    d, value, inverse = d[keep], value[keep], inverse[keep]
    if not d.any():
        return 0.0
    order = np.argsort(d)
    d, value, varying = d[order], value[order], (inverse[order] - fixed)
    ratios = []
    for step in range(len(d) + 1):
        weight = (fixed + varying * np.where(np.arange(len(d)) < step, gamma, 1.0 / gamma)) * value
        ratios.append(float(weight @ d / weight.sum()))
    return min(ratios)


@pytest.mark.parametrize("fixed", [0.0, 1.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("distinct", [3, 1000])
def test_worst_ratios_are_the_least_over_all_steps(fixed: float, sign: float, distinct: int) -> None:
    """Users without rows, with few, and with so many that equal differences are merged; values of 0 do not count."""
    rng = np.random.default_rng(1)
    sizes = np.array([0, 1, 2, 5, FEW, FEW + 1, 4 * FEW, 0, 3, 7])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = int(indptr[-1])
    d = rng.choice([0.0, 1.0], rows, p=[0.2, 0.8]) * rng.choice(rng.normal(size=distinct), rows)
    value, inverse = rng.choice([0.0, 1.0, 2.5], rows, p=[0.1, 0.6, 0.3]), 1.0 + rng.exponential(20.0, rows)
    out = np.empty((len(GAMMAS), len(sizes)))
    worst_ratios(indptr, fixed, inverse, value, d, sign, GAMMAS, out)
    for u in range(len(sizes)):
        own = slice(indptr[u], indptr[u + 1])
        expected = [least(sign * d[own], value[own], inverse[own], fixed, gamma) for gamma in GAMMAS]
        np.testing.assert_allclose(out[:, u], expected, rtol=1e-12, atol=1e-13)


def test_signed_sums_are_those_of_a_loop() -> None:
    """Rows for and against the first model, by what is fixed and what varies; users without a divisor have none."""
    rng = np.random.default_rng(2)
    indptr = np.array([0, 0, 4, 9, 15], dtype=np.int64)
    d, value, inverse = rng.choice([-1.0, 0.0, 0.4], 15), rng.random(15), 1.0 + rng.random(15)
    divisor, out = np.array([1.0, 2.0, 0.0, 0.5]), np.full((4, 4), 7.0)
    signed_sums(indptr, 1.0, inverse, value, d, divisor, out)
    for u in range(4):
        expected = [0.0] * 4
        for row in range(indptr[u], indptr[u + 1]) if divisor[u] > 0.0 else ():
            g = abs(d[row]) * value[row] / divisor[u]
            side = 0 if d[row] > 0.0 else 2
            expected[side] += g
            expected[side + 1] += (inverse[row] - 1.0) * g
        np.testing.assert_allclose(out[:, u], expected, rtol=1e-12)
