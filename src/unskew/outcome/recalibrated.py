"""A model's guesses, recalibrated on answers: the guesses of one log said in the level of another.

    q_ui = σ(a + b·logit(g_ui))        a, b fitted to the answers by weighted logistic regression, with a ridge that
                                       holds b at 1

g is a model that was fitted to what was seen, and people see what they like: its order is worth something, its level is
not. Two numbers carry the answers into q, so that cross-fitting over answers costs two numbers. Without a model, with
fewer than ten answers of the rarer kind, or with graded ones, q is a constant, their weighted mean. Whatever q is,
``anchored`` stays unbiased; a better one makes it sharper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.kernels.arrays import Floats
from unskew.log import Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.base import Outcome, PairPredictor, RowModel, Rows
from unskew.propensity.base import FitInputs

FEWEST = 10  # answers of the rarer kind, for two numbers
EDGE = 1e-6  # guesses are kept this far from 0 and 1
NEWTON = 50


@dataclass(frozen=True)
class Recalibrated(RowModel):
    """The guesses of a fitted model in the level of the rows that it is fitted to.

    Args:
        base: what guesses; fitted to other rows. ``None``: a constant.
    """

    base: Outcome | None = None
    found: tuple[float, float] | None = field(default=None, compare=False, repr=False)

    name = "recalibrated"

    def __str__(self) -> str:
        return "constant" if self.base is None else f"{self.base} recalibrated"

    @property
    def fitted(self) -> bool:
        """Whether there are two numbers."""
        return self.found is not None

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """a and b; b = 0 is a constant, which is then a itself."""
        weight = rows.inverse * rows.times
        y, mean = rows.y, float(weight @ rows.y / weight.sum())
        positive = y > 0.0
        rarer = min(np.count_nonzero(positive), np.count_nonzero(~positive))
        if self.base is None or rarer < FEWEST or not np.isin(y, (0.0, 1.0)).all():
            return self.remember(found=(mean, 0.0))
        return self.remember(found=level_and_slope(_logit(self.base.of(log)), y, weight))

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """q of pairs."""
        assert self.found is not None
        a, b = self.found
        if self.base is None or b == 0.0:
            return lambda user, item: np.full(len(user), a)
        ask = self.base.bind(users, items)

        def recalibrated(user: Codes, item: Codes) -> Floats:
            return np.asarray(1.0 / (1.0 + np.exp(-(a + b * _logit(ask(user, item))))))

        return recalibrated


def _logit(q: Floats) -> Floats:
    inside = np.clip(q, EDGE, 1.0 - EDGE)
    return np.asarray(np.log(inside / (1.0 - inside)))


def level_and_slope(score: Floats, y: Floats, weight: Floats) -> tuple[float, float]:
    """Newton's method from (0, 1), in so many equal rows as the weights are worth."""
    weight = weight * (weight.sum() / (weight @ weight))
    x = np.stack([np.ones(len(score)), score], axis=1)
    theta, prior, ridge = np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.diag([1e-6, 1.0])

    def loss(theta: Floats) -> float:
        eta, off = x @ theta, theta - prior
        return float(weight @ (np.logaddexp(0.0, eta) - y * eta) + 0.5 * off @ ridge @ off)

    for _ in range(NEWTON):
        q = 1.0 / (1.0 + np.exp(-(x @ theta)))
        slope = x.T @ (weight * (y - q)) - ridge @ (theta - prior)
        curve = (x * (weight * q * (1.0 - q))[:, None]).T @ x + ridge
        step = np.linalg.solve(curve, slope)
        while loss(theta + step) > loss(theta) + 1e-12 and np.abs(step).max() > 1e-10:
            step = step / 2.0
        theta = theta + step
        if np.abs(step).max() < 1e-9:
            break
    return float(theta[0]), float(theta[1]) if theta[1] != 0.0 else 1e-12
