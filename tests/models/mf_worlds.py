"""Small rating problems with known answers, and slow, obvious references."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log import Log
from unskew.models.mf.problem import GroupedRatings, Loss, MFParameters, Offsets, Problem, Ratings

Floats = npt.NDArray[np.float64]


def ratings_log(matrix: Floats, propensity: Floats | None = None) -> Log:
    """The numbers of a users × items matrix, NaN where there is none; all users and items are in the vocabulary."""
    user, item = np.nonzero(np.ones_like(matrix))
    frame = pl.DataFrame({"user": user, "item": item, "value": np.nan_to_num(matrix).ravel()})
    if propensity is not None:
        frame = frame.with_columns(propensity=propensity.ravel())
    return Log.from_frame(frame, feedback="ratings").take(~np.isnan(matrix).ravel())


def low_rank(users: int, items: int, rank: int, seen: float, noise: float, seed: int = 0) -> tuple[Floats, Floats]:
    """A full matrix of a low rank with offsets, and the same with NaN where it was not seen."""
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(users, rank)) @ rng.normal(size=(rank, items)) * 0.7
    full += 3.0 + rng.normal(size=(users, 1)) * 0.5 + rng.normal(size=(1, items)) * 0.5
    full += noise * rng.normal(size=full.shape)
    return full, np.where(rng.random(full.shape) < seen, full, np.nan)


def problem_of(
    matrix: Floats,
    dim: int,
    strength: float,
    loss: Loss = "squared",
    offsets: Offsets = "penalised",
    weight: Floats | None = None,
) -> Problem:
    """The problem of fitting the numbers of a matrix; all weights are 1 by default."""
    there = ~np.isnan(matrix)
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    weights = np.ones(matrix.shape) if weight is None else weight
    side = GroupedRatings(indptr, np.nonzero(there)[1].astype(np.int32), matrix[there], weights[there])
    return Problem(Ratings(side, matrix.shape[1]), dim, strength, loss, offsets)


def random_factors(users: int, items: int, dim: int, seed: int = 0) -> MFParameters:
    """Any numbers."""
    rng = np.random.default_rng(seed)
    return MFParameters(rng.normal(size=(users, dim + 1)), rng.normal(size=(items, dim + 1)), float(rng.normal()))


def slow_objective(problem: Problem, matrix: Floats, weight: Floats, factors: MFParameters, edge: float = 0.0) -> float:
    """The objective, term by term."""
    users, items = matrix.shape
    total = 0.0
    for u in range(users):
        for i in range(items):
            if np.isnan(matrix[u, i]):
                continue
            guess = factors.level + factors.user[u, -1] + factors.item[i, -1]
            for j in range(problem.dim):
                guess += factors.user[u, j] * factors.item[i, j]
            x = abs(guess - matrix[u, i])
            rounded = x if x >= edge else x**2 / (2 * edge) + edge / 2
            total += weight[u, i] * (x**2 if problem.loss == "squared" else rounded)
    penalised = problem.offsets == "penalised"
    scale = problem.strength * users * items / (users + items) / (problem.dim + 1 if penalised else problem.dim)
    for rows in (factors.user, factors.item):
        for row in rows:
            total += scale * sum(x**2 for x in row[:-1])
            total += scale * row[-1] ** 2 if penalised else 0.0
    return total + (scale * factors.level**2 if penalised else 0.0)


def predictions(factors: MFParameters) -> Floats:
    """The full matrix of predictions."""
    inner = factors.user[:, :-1] @ factors.item[:, :-1].T
    return np.asarray(inner + factors.user[:, -1:] + factors.item[:, -1] + factors.level)


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
