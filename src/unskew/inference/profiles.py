"""Two weighted averages over the same users, one of what a log shows and one of what answers say: are they equal?

    θ = Σ_s ω_s (f̄_log,s − f̄_answers,s)        f̄ = Σ w f / Σ w in a stratum of users,  ω_s its share of the log's weight
    e_u = Σ_s ω_s [ Σ w (f − f̄_log) / Σ w, of the log  −  the same of the answers ]       SE² = m/(m−1) Σ e_u²
    θ / SE is compared with Student's t,  df = min(m, (Σe²)² / Σe⁴) − 1,  m users with e ≠ 0 (MATHS §13, "Few hits")

Both are taken around the log's average, as if there were no difference (score form): around their own, a handful of
answers that are all alike would have no error at all. Strata make users of one kind be compared with users of that
kind, where a log shows some of them more often; one with hardly any answers is left out on both sides. Weights that
come from counts bring the chance of these: rows of one item share it, Σ_i (Σ of their parts of e)² Var(w_i)/w_i².
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unskew.inference import student
from unskew.kernels.arrays import Floats, Ints64

FEWEST = 5  # answers of a stratum that an average is taken of


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Rows with the user, the weight and the value of each."""

    user: Ints64
    weight: Floats
    value: Floats


@dataclass(frozen=True)
class Gap:
    """What a log says, what answers say, and whether chance explains the difference.

    Args:
        log, answers: the two averages.
        error: the standard error of their difference.
        df: degrees of freedom.
    """

    log: float
    answers: float
    error: float
    df: float

    @property
    def difference(self) -> float:
        """The log's average less the answers'."""
        return self.log - self.answers

    @property
    def p(self) -> float:
        """P(a difference at least this large) if there were none; 1 where there is nothing to judge it by."""
        if not (self.error > 0.0 and self.df > 0.0 and math.isfinite(self.difference)):
            return 1.0
        return student.two_sided(self.difference / self.error, self.df)


NOTHING = Gap(math.nan, math.nan, math.nan, 0.0)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two averages, and what each user, and each row of the log, adds to their difference.

    Args:
        of_users: e_u.
        of_rows: the part of each row of the log.
    """

    log: float
    answers: float
    of_users: Floats
    of_rows: Floats

    def beyond(self, other: Comparison) -> Comparison:
        """As far again from another one as this is: 2·self − other."""
        return Comparison(
            2.0 * self.log - other.log,
            2.0 * self.answers - other.answers,
            2.0 * self.of_users - other.of_users,
            2.0 * self.of_rows - other.of_rows,
        )

    def gap(self, counted: tuple[Ints64, Floats] | None = None) -> Gap:
        """The difference with its error.

        Args:
            counted: where weights of the log come from counts: the item of each of its rows, and by item the relative
                variance of the weight, which all its rows share.
        """
        squares = self.of_users**2
        total, m = float(squares.sum()), int(np.count_nonzero(squares))
        if m < 2 or not total > 0.0:
            return NOTHING
        df = min(float(m), total**2 / float((squares * squares).sum())) - 1.0
        chance = 0.0
        if counted is not None:
            item, variance = counted
            chance = float(np.bincount(item, self.of_rows, len(variance)) ** 2 @ variance)
        return Gap(self.log, self.answers, math.sqrt(m / (m - 1.0) * total + chance), df)


def compare(log: WeighedRows, answers: WeighedRows, strata: Ints64) -> Comparison | None:
    """Compare the averages of two sets of rows; ``strata`` is by user, from 0. ``None`` where no stratum has both."""
    own, theirs, size = strata[log.user], strata[answers.user], int(strata.max(initial=0)) + 1
    seen = np.bincount(theirs[answers.weight > 0.0], minlength=size).astype(np.float64)
    total, asked = np.bincount(own, log.weight, size), np.bincount(theirs, answers.weight, size)
    kept = (seen >= FEWEST) & (total > 0.0) & (asked > 0.0)
    if not kept.any():
        return None
    share = np.where(kept, total, 0.0) / total[kept].sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        first = np.where(kept, np.bincount(own, log.weight * log.value, size) / total, 0.0)
        second = np.where(kept, np.bincount(theirs, answers.weight * answers.value, size) / asked, 0.0)
        scale, other = np.where(kept, share / total, 0.0), np.where(kept, share / asked, 0.0)
    of_log = scale[own] * log.weight * (log.value - first[own])
    of_answers = other[theirs] * answers.weight * (answers.value - first[theirs])
    e: Floats = np.asarray(
        np.bincount(log.user, of_log, len(strata)) - np.bincount(answers.user, of_answers, len(strata)), np.float64
    )
    return Comparison(float(share @ first), float(share @ second), e, of_log)


def gap(log: WeighedRows, answers: WeighedRows, strata: Ints64) -> Gap:
    """The difference of the averages of two sets of rows, with its error."""
    found = compare(log, answers, strata)
    return NOTHING if found is None else found.gap()
