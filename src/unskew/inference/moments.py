"""Sums over users that merge: one batch or a thousand, in any order, give the same estimates and errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unskew.inference.model_error import ModelError
from unskew.inference.ratio_form import RatioForm
from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.moments import cell_moments


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of one cell (metric × estimator × target).

    Args:
        form: how estimates are made of the columns.
        users: users in the population.
        active: users with a column ≠ 0.
        mean: of every column.
        cross: centred Σ x xᵀ.
        differ: for each pair of models, users for whom they differ; for each model, users with a score ≠ 0.
        wins: Σ d, Σ d² over the users for whom model a is ahead of model b by d, and Σ d⁴ over all users; for each
            model (the diagonal) Σ |score|, Σ score², Σ score⁴.
        more: what is added to the centred Σ x xᵀ for what all users have in common (the chance of training counts).
        fit: how estimates depend on a model that was fitted to the same rows, where they do.
        around: Σ e eᵀ by [model, model] where a user's share e of the error of an estimate is not told by the columns:
            of averages over folds, each with a ratio of its own. What is said must hold by both.
    """

    form: RatioForm
    users: int
    active: int
    mean: Floats
    cross: Floats = field(repr=False)
    differ: Ints64 = field(repr=False)
    wins: Floats = field(repr=False)
    fit: ModelError | None = field(default=None, repr=False)
    more: Floats | None = field(default=None, repr=False)
    around: Floats | None = field(default=None, repr=False)

    @classmethod
    def of(cls, x: Floats, columns: Ints64, form: RatioForm, fit: ModelError | None = None) -> Moments:
        """The moments of some columns of a block of users."""
        return cls.of_cells(x, columns[None], form, [fit])[0]

    @classmethod
    def of_cells(cls, x: Floats, columns: Ints64, form: RatioForm, fits: Sequence[ModelError | None]) -> list[Moments]:
        """The moments of cells that are alike; a row of ``columns`` for each. Quick where columns lie in one piece."""
        (cells, width), models = columns.shape, form.models
        active, mean, cross = np.zeros(cells, dtype=np.int64), np.zeros((cells, width)), np.zeros((cells, width, width))
        differ = np.zeros((cells, models, models), dtype=np.int64)
        wins = np.zeros((cells, 3, models, models))
        if len(x):
            by_column = np.ascontiguousarray(x.T)
            cell_moments(by_column, columns, form.own, form.score_kinds, active, mean, cross, differ, wins)
        each = zip(active.tolist(), mean, cross, differ, wins, fits, strict=True)
        return [cls(form, len(x), *found) for found in each]

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of users (Chan, Golub & LeVeque)."""
        users = self.users + other.users
        if self.users == 0 or other.users == 0:
            return self if other.users == 0 else other
        step = other.mean - self.mean
        mean = self.mean + step * (other.users / users)
        cross = self.cross + other.cross + np.outer(step, step) * (self.users * other.users / users)
        active, differ = self.active + other.active, self.differ + other.differ
        fit = None if self.fit is None or other.fit is None else self.fit.merge(other.fit)
        return Moments(self.form, users, active, mean, cross, differ, self.wins + other.wins, fit)

    @property
    def models(self) -> int:
        """How many models there are."""
        return self.form.models

    @cached_property
    def values(self) -> Floats:
        """The estimate of every model."""
        return self.form.values(self.mean)

    @cached_property
    def gradients(self) -> Floats:
        """d estimate / d column mean, (models, columns), the scores of a fitted model among them."""
        found = self.form.gradients(self.mean)
        if self.fit is not None:
            divisor = float(self.mean[self.form.places[0][0][1][0]]) * self.users
            found[:, -self.form.scores :] = self.fit.gradients(self.values, divisor, self.users)
        return found

    @cached_property
    def spread(self) -> Floats:
        """Centred Σ x xᵀ, with ``more``, and the scores of users outside the table that a model was fitted to."""
        if self.fit is None:
            return self.cross if self.more is None else self.cross + self.more
        found, last = self.cross.copy(), slice(-self.form.scores, None)
        own = found[last, last] + self.users * np.outer(self.mean[last], self.mean[last])
        found[last, last] += self.fit.outside(own)
        return found

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the models' estimates, clustered by user: SE² = m/(m−1) · Σ e_u² / n²."""
        if self.active < 2:
            return np.full((self.models, self.models), np.nan)
        if self.around is not None:
            return np.asarray(self.around * (self.active / (self.active - 1)), dtype=np.float64)
        spread = self.gradients @ self.spread @ self.gradients.T
        return np.asarray(spread * (self.active / (self.active - 1)) / self.users**2, dtype=np.float64)
