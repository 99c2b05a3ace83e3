"""What is said of sums: values with intervals, and pairs of models, at 1.96 and at one level for all.

    users sampled   t = Σ d_u / √(m/(m−1) Σ d_u²), as ``unskew.evaluate`` has it (MATHS §13)
    users fixed     z = T / √(Σ_S (1 − π) ((y − q) d / π)²): only the draw is random

Both also obey the rules of ``judging/answers.py``: with fewer than 20 answers, or 10 positive ones, where lists differ,
exact limits must agree; where drawn pairs do not stand for those in which lists differ, nothing is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit

from unskew.inference import Contrast, Family, single_error
from unskew.judging import ERRORS, FEW_TAIL, FEWEST_ANSWERS, FEWEST_POSITIVE, OFF, WEAK, WEAK_FEW
from unskew_papers.anchored.known import KnownPairs, Sums
from unskew_papers.arrays import Bools, Floats, Ints64

LEVEL, CRITICAL = 0.95, 1.959964


class Differences(NamedTuple):
    """Of every pair of models the difference of sums, its error, and the degrees of freedom of its test."""

    lead: Floats
    error: Floats
    df: Floats

    @property
    def t(self) -> Floats:
        """In standard errors; without an error a difference is certain, and what rounding leaves is none."""
        lead = np.where(np.abs(self.lead) > 1e-9, self.lead, 0.0)
        certain = np.where(lead == 0.0, 0.0, np.copysign(np.inf, lead))
        return np.divide(lead, self.error, out=certain, where=self.error > 1e-9)

    def beyond(self, tail: float) -> Bools:
        """Which are beyond what chance gives with this probability."""
        return np.asarray(np.abs(self.t) > stdtrit(np.maximum(self.df, 1e-9), 1.0 - tail / 2.0))


def sampled(known: KnownPairs, sums: Sums) -> Differences:
    """If users are a sample."""
    a, b = known.sides
    d = sums.own[:, a] - sums.own[:, b]
    users = np.count_nonzero(np.abs(d) > 1e-12, axis=0)  # sums that differ by rounding alone are the same
    squares, fourth = (d**2).sum(axis=0), (d**4).sum(axis=0)
    small = users / np.maximum(users - 1.0, 0.5)
    heavy = np.divide(squares**2, fourth, out=np.zeros_like(squares), where=fourth > 0.0)
    return Differences(d.sum(axis=0), np.sqrt(small * squares), np.minimum(users, heavy) - 1.0)


def fixed(known: KnownPairs, rows: Ints64, p: Floats, q: Floats) -> Differences:
    """If users are all there are."""
    a, b = known.sides
    base = np.where(known.logged, known.y, q)
    base[rows] += (known.y[rows] - q[rows]) / p
    total = known.worth.T @ base
    rest = np.square((known.y[rows] - q[rows]) / p) * (1.0 - p)
    worth = known.worth[rows]
    gram = worth.T @ (rest[:, None] * worth)
    own = np.diag(gram)
    square = np.maximum(own[a] + own[b] - 2.0 * gram[a, b], 0.0)
    return Differences(total[a] - total[b], np.sqrt(square), np.full(len(a), np.inf))


def design_covariance(known: KnownPairs, rows: Ints64, p: Floats, q: Floats) -> Floats:
    """Of the models' sums, over draws alone."""
    rest = np.square((known.y[rows] - q[rows]) / p) * (1.0 - p)
    return np.asarray(known.worth[rows].T @ (rest[:, None] * known.worth[rows]))


def joint_tail(known: KnownPairs, spread: Floats) -> float:
    """α* of one pair, so that all pairs together keep the level, from a covariance of the models' sums."""
    gram = known.worth.T @ known.worth
    own = np.diag(gram)
    differ = own[:, None] + own[None, :] - 2.0 * gram > 0.0
    return single_error([Family.of(spread, differ.astype(np.int64))], LEVEL)


def words(known: KnownPairs, found: Differences, rows: Ints64, p: Floats, tail: float) -> Floats:
    """What is said of every pair of models: 1, −1, or 0 where nothing is decided; answers' rules included."""
    said = np.where(found.beyond(tail), np.sign(found.lead), 0.0)
    few, covered = _rules(known, rows, p)
    said[~covered] = 0.0
    some = few & (said != 0.0)
    if some.any():
        a, b = known.sides
        low, high = _exact(known, rows, p, known.worth[:, a[some]] - known.worth[:, b[some]], tail)
        said[some] = np.where((low > 0.0) | (high < 0.0), said[some], 0.0)
    return said


def _rules(known: KnownPairs, rows: Ints64, p: Floats) -> tuple[Bools, Bools]:
    """Which pairs of models have few answers where lists differ, and where answers stand for these pairs."""
    a, b = known.sides
    d = known.worth[rows][:, a] - known.worth[rows][:, b]
    apart = d != 0.0
    few = (apart.sum(axis=0) < FEWEST_ANSWERS) | ((known.y[rows] @ apart) < FEWEST_POSITIVE)
    covered = np.ones(len(a), dtype=np.bool_)
    there = known.worth[known.unseen]
    gram = there.T @ there
    own = np.diag(gram)
    for side, worth in ((d > 0.0, own[a] - gram[a, b]), (d < 0.0, own[b] - gram[a, b])):
        drawn = np.divide((1.0 / p) @ side, worth, out=np.ones(len(a)), where=worth > 0.0)
        error = np.sqrt(((1.0 - p) / p**2) @ side) / np.maximum(worth, 1e-12)
        off = np.abs(drawn - 1.0)
        covered &= (worth <= 0.0) | (off <= OFF) | (off <= ERRORS * error)
    return few, covered


def _exact(known: KnownPairs, rows: Ints64, p: Floats, d: Floats, tail: float) -> tuple[Floats, Floats]:
    """Between which sums Σ yd lies, column by column of d (by pair): Clopper's and Pearson's limits on either side.

    Rows weigh |d|/π; Σ_L yd + p₊ Σ_{d>0} d − p₋ Σ_{d<0} |d|, as ``judging/answers.py`` has it.
    """
    low = high = known.y[known.logged] @ d[known.logged]
    for sign in (1.0, -1.0):
        worth = np.maximum(sign * d, 0.0)
        weight = worth[rows] / p[:, None]
        total, squares = weight.sum(axis=0), (weight**2).sum(axis=0)
        number = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0.0)
        hits = np.divide(known.y[rows] @ weight, total, out=np.zeros_like(total), where=total > 0.0) * number
        least, most = _limits(hits, number, tail / 2.0)
        room = worth[known.unseen].sum(axis=0)
        low, high = (low + least * room, high + most * room) if sign > 0.0 else (low - most * room, high - least * room)
    return low, high


def _limits(hits: Floats, number: Floats, tail: float) -> tuple[Floats, Floats]:
    """Of rates (``inference/clopper_pearson.py``, by quantiles of Beta distributions)."""
    some, below = (number > 0.0) & (hits > 0.0), (number > 0.0) & (hits < number - 1e-12)
    k, n = np.maximum(hits, 1e-12), np.maximum(number, 1e-12)
    least = np.where(some, betaincinv(k, n - k + 1.0, tail / 2.0), 0.0)
    most = np.where(below, betaincinv(hits + 1.0, np.maximum(number - hits, 1e-12), 1.0 - tail / 2.0), 1.0)
    return least, most


def intervals(sums: Sums, tail: float = 1.0 - LEVEL) -> Floats:
    """Of every value, (models, 2), by Fieller's rule as ``unskew.evaluate`` has it; NaN where there is none."""
    total = float(sums.total.sum())
    out = np.full((sums.own.shape[1], 2), np.nan)
    for m in range(len(out)):
        d, below = sums.own[:, m] / total, sums.total / total
        users, squares = int(np.count_nonzero(d)), float(d @ d)
        if users < 2:
            continue
        small, df = users / (users - 1.0), min(float(users), squares**2 / float((d**4).sum())) - 1.0
        sides = small * squares, small * float(d @ below), small * float(below @ below)
        out[m] = Contrast(float(d.sum()), users, df, *sides, 0.0).interval(tail)
    return out


def answered_intervals(known: KnownPairs, sums: Sums, rows: Ints64, p: Floats) -> Floats:
    """Of values that rest on answers: widened where few of these lie in a list; NaN where the total is too weak."""
    out, total = intervals(sums), sums.total
    error = np.sqrt(np.square(total - total.mean()).sum())
    if max(error, _few_positive(known, rows, p) * WEAK / WEAK_FEW) > WEAK * total.sum():
        return np.full_like(out, np.nan)
    worth = known.worth[rows]
    few = ((worth > 0.0).sum(axis=0) < FEWEST_ANSWERS) | (known.y[rows] @ (worth > 0.0) < FEWEST_POSITIVE)
    if few.any():
        low, high = _exact(known, rows, p, known.worth[:, few], 1.0 - LEVEL)
        out[few] = np.stack([np.fmin(out[few, 0], low / total.sum()), np.fmax(out[few, 1], high / total.sum())], axis=1)
    return np.clip(out, 0.0, 1.0)


def _few_positive(known: KnownPairs, rows: Ints64, p: Floats) -> float:
    """The error of the total where few positive answers tell it, in the lists or outside (``judging/answers.py``)."""
    found, inside = 0.0, np.asarray((known.worth > 0.0).any(axis=1), dtype=np.bool_)
    for there in (inside, ~inside):
        if known.y[rows] @ there[rows] < FEWEST_POSITIVE and (there & ~known.logged).any():
            low, high = _exact(known, rows, p, there[:, None].astype(np.float64), 2.0 * FEW_TAIL)  # one side
            found = float(np.hypot(found, (high - low).item() / 2.0 / CRITICAL))
    return found
