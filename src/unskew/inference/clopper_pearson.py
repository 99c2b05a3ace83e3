"""Limits of a rate from a few yes and no (Clopper and Pearson 1934): exact, and never too narrow.

    low   the p with P(X ≥ k) = α/2,  a quantile of Beta(k, n − k + 1)
    high  the p with P(X ≤ k) = α/2,  a quantile of Beta(k + 1, n − k)

Where rows weigh differently, n and k are effective numbers and need not be whole.
"""

from __future__ import annotations

from collections.abc import Callable

from unskew.inference.student import incomplete_beta


def limits(positive: float, number: float, tail: float) -> tuple[float, float]:
    """The rates that ``positive`` of ``number`` do not reject at a two-sided error of ``tail``; [0, 1] without any."""
    if not number > 0.0:
        return 0.0, 1.0
    k, n = min(max(positive, 0.0), number), number
    low = 0.0 if k <= 0.0 else _root(lambda p: incomplete_beta(p, 1.0 - p, k, n - k + 1.0) - tail / 2.0)
    high = 1.0 if k >= n else _root(lambda p: incomplete_beta(p, 1.0 - p, k + 1.0, n - k) - 1.0 + tail / 2.0)
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function of p is 0, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0
