"""The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22)."""

from __future__ import annotations

from unskew.kernels.compiled import njit

TINY = 1e-300


@njit(cache=True, nogil=True)
def beta_fraction(x: float, a: float, b: float) -> float:
    """The fraction that x^a (1 − x)^b / (a B(a, b)) is multiplied by to give I_x(a, b)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + step * d
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = 1.0 + step / c
            c = c if abs(c) > TINY else TINY
            value *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return value
