"""Student's t distribution for real degrees of freedom, without the fifth of a second that importing scipy takes.

    P(|T| > t) = I_x(df/2, 1/2),  x = df / (df + t²)

I is the regularised incomplete beta function, by a continued fraction (``kernels/continued_fraction.py``).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from unskew.kernels.continued_fraction import beta_fraction

MANY = 1e7  # degrees of freedom from which on the normal distribution is the same to six digits


def two_sided(t: float, df: float) -> float:
    """P(|T| > t)."""
    t = abs(t)
    if math.isinf(t):
        return 0.0
    if df > MANY:
        return math.erfc(t / math.sqrt(2.0))
    return incomplete_beta(df / (df + t * t), t * t / (df + t * t), df / 2.0, 0.5)


def critical(tail: float, df: float) -> float:
    """The t with P(|T| > t) = ``tail``; infinity without degrees of freedom."""
    if not df > 0.0:
        return math.inf
    z = max(-NormalDist().inv_cdf(tail / 2.0), 1e-8)
    t = z + z * (z * z + 1.0) / (4.0 * df) if df > 2.0 else z  # the first term behind the normal limit
    low, high = 0.0, math.inf
    scale = math.lgamma((df + 1.0) / 2.0) - math.lgamma(df / 2.0) - 0.5 * math.log(df * math.pi)
    for _ in range(2_000):  # Newton's steps; doubled or halved where they leave the bracket
        if t > 1e150:
            return math.inf
        off = two_sided(t, df) - tail
        low, high = (t, high) if off > 0.0 else (low, t)
        step = t + off / (2.0 * math.exp(scale - (df + 1.0) / 2.0 * math.log1p(t * t / df)))
        within = low < step < high and (high < math.inf or step < 4.0 * t)
        after = step if within else 2.0 * t if math.isinf(high) else (low + high) / 2.0
        if abs(after - t) <= 1e-12 * t:
            return after
        t = after
    return t


def incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b) with rest = 1 − x, both given so that neither loses its digits."""
    if x <= 0.0:
        return 0.0
    if rest <= 0.0:
        return 1.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(front) * float(beta_fraction(x, a, b)) / a
    return 1.0 - math.exp(front) * float(beta_fraction(rest, b, a)) / b
