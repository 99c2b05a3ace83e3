"""Worlds in which what was seen is drawn from known propensities, so that estimates can be compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit

from unskew.log import Features, Log, read_features
from unskew.propensity import FitInputs, Propensity

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def log_of(seen: npt.NDArray[np.bool_], value: Floats | None = None, feedback: str | None = "conversions") -> Log:
    """The seen pairs of a users × items matrix, every user and item in the vocabulary."""
    user, item = np.nonzero(np.ones_like(seen))
    values = np.ones(seen.shape) if value is None else value
    frame = pl.DataFrame({"user": user, "item": item, "value": values.ravel()})
    if feedback == "implicit":
        frame = frame.drop("value")
    return Log.from_frame(frame, feedback=feedback).take(seen.ravel())


def features_of(matrix: Floats, key: str) -> Features:
    """Covariates of the users (items) 0, 1, …"""
    columns = {f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}
    return read_features(pl.DataFrame({key: np.arange(len(matrix)), **columns}), key)


def all_pairs(shape: tuple[int, ...]) -> tuple[pl.Series, pl.Series]:
    """The ids of all pairs of the users and items 0, 1, …, row by row."""
    user, item = np.nonzero(np.ones(shape))
    return pl.Series(user), pl.Series(item)


def matrix_of(model: Propensity, shape: tuple[int, ...]) -> Floats:
    """P of all pairs of the users and items 0, 1, …"""
    return model.predict(*all_pairs(shape)).reshape(shape)


@dataclass(frozen=True, eq=False)
class LogisticWorld:
    """logit P = intercept + x_uᵀ W x_i + γ_u + β_i."""

    p: Floats
    seen: npt.NDArray[np.bool_]
    side: FitInputs

    @classmethod
    def draw(
        cls, users: int, items: int, seed: int, *, level: float = -2.0, spread: float = 0.0, effect: float = 1.0
    ) -> LogisticWorld:
        """Two numeric covariates on either side; offsets vary by ``spread``."""
        rng = np.random.default_rng(seed)
        x, z = rng.uniform(0.0, 1.0, (users, 2)), rng.uniform(0.0, 1.0, (items, 2))
        w = effect * np.array([[2.0, -2.0], [-1.0, 2.0]])
        offsets = spread * (rng.normal(size=(users, 1)) + rng.normal(size=items))
        p = expit(level + (x - 0.5) @ w @ z.T + offsets)
        side = FitInputs(user_features=features_of(x, "user"), item_features=features_of(z, "item"))
        return cls(p, rng.random(p.shape) < p, side)

    @property
    def pairs(self) -> tuple[pl.Series, pl.Series]:
        """All pairs, row by row."""
        return all_pairs(self.seen.shape)
