"""Verdicts: for each pair of models better, worse or undecided, corrected for many comparisons.

Undecided pairs get the number of users that would decide: at the same difference and spread, so many users give a test
at this level a power of 80 %.
"""

from __future__ import annotations

import math
from enum import StrEnum
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from unskew.inference.intervals import critical, holm, two_sided_p

Floats = npt.NDArray[np.float64]


FEWEST = 10  # below so many users the normal distribution is no guide


class Outcome(StrEnum):
    """What can be said of model a against model b."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"


def decide(differences: Floats, errors: Floats, differ: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """p and Holm-adjusted p of several pairs; models that differ for no user get p = 1, whatever the error."""
    p = np.array(
        [two_sided_p(d, e) if n else 1.0 for d, e, n in zip(differences, errors, differ, strict=True)], dtype=np.float64
    )
    return p, holm(p)


def outcome(difference: float, p_adjusted: float, level: float, users: int) -> Outcome:
    """The verdict on model a against model b; a handful of users decides nothing."""
    if users < FEWEST or not p_adjusted < 1.0 - level:
        return Outcome.UNDECIDED
    return Outcome.BETTER if difference > 0.0 else Outcome.WORSE


def users_needed(difference: float, se: float, users: int, level: float, pairs: int) -> int | None:
    """Users at which a difference like this one would be found with a power of 80 % (Bonferroni over the pairs)."""
    if not (math.isfinite(difference) and math.isfinite(se)) or difference == 0.0 or se == 0.0:
        return None
    reach = critical(1.0 - (1.0 - level) / max(pairs, 1)) + NormalDist().inv_cdf(0.8)
    return math.ceil(users * (reach * se / difference) ** 2)
