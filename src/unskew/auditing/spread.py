"""How evenly interactions are spread over users or over items.

    P(i | seen) = n_i / n                     the posterior of an item (or a user): carraro20 Eqs. 1–2 and 4–5
    KL   = Σ P log2(K · P)                    bits from the posterior to the uniform one over the K that are there
    effective number = K / 2^KL = 2^entropy
    Gini = Σ_k (2k − K − 1) n_(k) / (K n)     n_(1) ≤ … ≤ n_(K)

Even K equally likely items are not seen equally often. ``kl_chance`` is the KL that they would show: counts are then
Poisson, and those that were never seen are missing from the log, so the mean is taken over a zero-truncated Poisson.

The posterior of a pair is 1/n on the seen pairs, and its divergence from P(u | seen) P(i | seen) (carraro20 Eqs. 3, 6)
is ``dependence`` = −log2(density) − KL_users − KL_items: on a sparse log most of it is sparsity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, rel_entr

from unskew.auditing.tally import Tally

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

QUANTILES = {"min": 0.0, "5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95, "max": 1.0}
_POINTS = 60


@dataclass(frozen=True)
class Bins:
    """Counts by size, on bins whose ends both belong to them."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """Interactions over users or items.

    Args:
        number: how many users or items have a row.
        mean, quantiles: rows of each.
        single: share of those with exactly one row.
        everybody: how many have the most rows possible (items that every user saw, users who saw every item).
        gini: 0 where all have the same number of rows, near 1 where one has them all.
        top_1_percent, top_10_percent: share of the rows on the ⌈1 %⌉ and ⌈10 %⌉ with the most rows.
        top_10_chance: what that ⌈10 %⌉ would take if all were equally likely: more than a tenth, by luck.
        kl_bits, kl_chance: divergence of the posterior from uniform, and what chance alone would show.
        effective: how many equally frequent ones would have this entropy.
        ranks, rows_at_rank: the rank–count curve on at most 60 ranks.
        tail: share of the most frequent → share of the rows, as a curve.
        histogram: how many have how many rows, on bins that double.
    """

    number: int
    mean: float
    quantiles: Mapping[str, int]
    single: float
    everybody: int
    gini: float
    top_1_percent: float
    top_10_percent: float
    top_10_chance: float
    kl_bits: float
    kl_chance: float
    effective: float
    ranks: tuple[int, ...]
    rows_at_rank: tuple[int, ...]
    tail: tuple[tuple[float, float], ...]
    histogram: Bins


def spread(counts: Tally, most: int) -> Spread:
    """The spread of rows over those that have one; ``most`` is the largest number of rows possible."""
    rows, number = counts.keys, counts.number
    size, total = int(number.sum()), int(rows @ number)
    ends = np.cumsum(number)  # of the ascending order
    kl = divergence(rows, number)
    at = np.unique(np.geomspace(1, size, _POINTS).round().astype(np.int64))
    points = np.unique(np.concatenate([at, np.linspace(1, size, 41).astype(np.int64)]))
    tops = {share: _taken(counts, np.array([math.ceil(size / share)]))[0] / total for share in (100, 10)}
    return Spread(
        number=size,
        mean=total / size,
        quantiles={
            name: int(rows[np.searchsorted(ends, max(math.ceil(q * size), 1))]) for name, q in QUANTILES.items()
        },
        single=float(number[rows == 1].sum() / size),
        everybody=int(number[rows >= most].sum()),
        gini=gini(counts),
        top_1_percent=float(tops[100]),
        top_10_percent=float(tops[10]),
        top_10_chance=top_share(total / size, math.ceil(size / 10) / size),
        kl_bits=kl,
        kl_chance=chance(total / size),
        effective=size / 2.0**kl,
        ranks=tuple(at.tolist()),
        rows_at_rank=tuple(rows[np.searchsorted(ends, size - at + 1)].tolist()),
        tail=((0.0, 0.0), *zip((points / size).tolist(), (_taken(counts, points) / total).tolist(), strict=True)),
        histogram=_doubling(counts),
    )


def _taken(counts: Tally, first: Ints) -> Ints:
    """The rows of the so many with the most rows."""
    rows, number = counts.keys[::-1], counts.number[::-1]
    ends, taken = np.cumsum(number), np.cumsum(rows * number)
    place = np.searchsorted(ends, first)
    return np.asarray(taken[place] - (ends[place] - first) * rows[place])


def gini(counts: Tally) -> float:
    """The Gini coefficient."""
    rows, number = counts.keys.astype(np.float64), counts.number.astype(np.float64)
    size, below = number.sum(), np.cumsum(number) - number
    places = number * (2.0 * below + number - size)  # Σ (2k − K − 1) over those with so many rows
    return max(float(places @ rows / (size * (rows @ number))), 0.0)


def divergence(rows: Ints, number: Ints | None = None) -> float:
    """KL divergence, in bits, from shares to the uniform distribution; ``number`` says how many have so many rows."""
    often = np.ones(len(rows)) if number is None else number.astype(np.float64)
    share = rows / (rows @ often)
    return max(float((share * often) @ np.log2(share * often.sum())), 0.0)


def chance(mean: float) -> float:
    """The KL that equally likely ones would show: E[(X/m) log2(X/m)], X zero-truncated Poisson with this mean m."""
    x, probability = _truncated_poisson(mean)
    return max(float(probability @ (x / mean * np.log2(x / mean))), 0.0)


def top_share(mean: float, part: float) -> float:
    """The share of the rows that the most frequent ``part`` of equally likely ones would take, with this mean."""
    x, probability = _truncated_poisson(mean)
    x, probability = x[::-1], probability[::-1]
    taken = np.minimum(np.cumsum(probability), part)  # of those with at least x rows, no more than the part
    return min(float(np.diff(taken, prepend=0.0) @ x) / mean, 1.0)


def _truncated_poisson(mean: float) -> tuple[Floats, Floats]:
    """Values and probabilities of a zero-truncated Poisson with this mean; all are 1 where the mean is."""
    low, high = 0.0, mean
    for _ in range(100):  # the rate whose truncated mean is m: rate / (1 − e^−rate) = m
        middle = (low + high) / 2.0
        low, high = (middle, high) if middle < -mean * math.expm1(-middle) else (low, middle)
    rate = (low + high) / 2.0
    if mean <= 1.0 or rate <= 0.0:
        return np.ones(1), np.ones(1)
    width = 12.0 * math.sqrt(rate) + 30.0
    x = np.arange(max(1.0, math.floor(rate - width)), rate + width)
    return x, np.exp(x * math.log(rate) - rate - gammaln(x + 1.0)) / -math.expm1(-rate)


def jensen_shannon(a: Ints, b: Ints) -> float:
    """Jensen–Shannon divergence of two vectors of counts in bits: 0 = the same shares, 1 = nothing in common."""
    there = (a > 0) | (b > 0)
    p, q = a[there] / a.sum(), b[there] / b.sum()
    middle = (p + q) / 2.0
    both = rel_entr(p, middle).sum() + rel_entr(q, middle).sum()
    return min(max(float(both) / (2.0 * math.log(2.0)), 0.0), 1.0)


def jensen_shannon_chance(a: Ints, b: Ints, draws: int = 5) -> float:
    """What it would be on average if the same rows had been dealt to both sides at random."""
    both, share = a + b, float(a.sum() / (a.sum() + b.sum()))
    rng = np.random.default_rng(0)
    dealt = [rng.binomial(both, share) for _ in range(draws)]
    found = [jensen_shannon(one, both - one) for one in dealt if 0 < one.sum() < both.sum()]
    return float(np.mean(found)) if found else 0.0


def _doubling(counts: Tally) -> Bins:
    place = np.frexp(counts.keys.astype(np.float64))[1] - 1
    number = np.bincount(place, weights=counts.number).astype(np.int64)
    return Bins(
        tuple(float(2**k) for k in range(len(number))),
        tuple(float(2 ** (k + 1) - 1) for k in range(len(number))),
        tuple(number.tolist()),
    )
