"""Logs of ratings that people gave to what they like, and one with gaps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from tests.models.mf_worlds import low_rank, ratings_log

from unskew.log import Log

Floats = npt.NDArray[np.float64]


def mnar(seed: int, users: int = 120, items: int = 80) -> tuple[Floats, Log]:
    """True ratings 1 … 5, and a log in which people mostly rated what they like, with its propensities."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 2)) @ rng.normal(size=(2, items)) + rng.normal(size=(1, items))
    truth = np.clip(np.round(2.6 + 0.8 * taste + 0.4 * rng.normal(size=taste.shape)), 1.0, 5.0)
    chance = 0.5 * 0.35 ** (5.0 - truth)
    return truth, ratings_log(np.where(rng.random(truth.shape) < chance, truth, np.nan), chance)


def some() -> tuple[Floats, Log]:
    """A matrix with gaps, a user and an item without ratings, and its log with propensities."""
    _, matrix = low_rank(20, 12, 2, 0.6, 0.3)
    matrix[4], matrix[:, 7] = np.nan, np.nan
    return matrix, ratings_log(matrix, np.random.default_rng(0).uniform(0.2, 1.0, matrix.shape))
