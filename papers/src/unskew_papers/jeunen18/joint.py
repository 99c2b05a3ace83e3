"""Values of models that were judged on the same users: how they go together, and what follows for ratios and ranks.

    Cov(a, b) = (se_a² + se_b² − se²(a − b)) / 2

so that the errors of values and of their differences, which a cross-validation gives, say all there is to know of the
covariance. Ratios to the best have their errors by the delta method; Kendall's τ of two protocols has its interval by
drawing both from their normal laws. Two protocols on the same users are taken as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import kendalltau

from unskew_papers.arrays import Floats

DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Joint:
    """Values and their covariance."""

    names: tuple[str, ...]
    value: Floats
    covariance: Floats

    @classmethod
    def of(cls, names: tuple[str, ...], value: Floats, se: Floats, apart: Floats) -> Joint:
        """From errors of values, and of differences (``apart``, [a, b]; NaN where unknown: independent)."""
        square = np.square(se)
        together = (square[:, None] + square[None, :] - np.square(apart)) / 2.0
        covariance = np.where(np.isfinite(together), together, 0.0)
        np.fill_diagonal(covariance, square)
        least, vectors = np.linalg.eigh(covariance)
        return cls(names, value, (vectors * np.maximum(least, 0.0)) @ vectors.T)

    def only(self, names: tuple[str, ...]) -> Joint:
        """Some of the models."""
        place = [self.names.index(name) for name in names]
        return Joint(names, self.value[place], self.covariance[np.ix_(place, place)])

    def se(self, name: str) -> float:
        """The error of a value."""
        place = self.names.index(name)
        return float(np.sqrt(self.covariance[place, place]))

    def of_name(self, name: str) -> float:
        """A value."""
        return float(self.value[self.names.index(name)])

    @property
    def best(self) -> str:
        """The model with the largest value."""
        return self.names[int(np.argmax(self.value))]

    def ratio(self, name: str, to: str) -> tuple[float, float]:
        """One value over another, and the error of that."""
        a, b = self.names.index(name), self.names.index(to)
        ratio = float(self.value[a] / self.value[b])
        gradient = np.zeros(len(self.names))
        gradient[a] += 1.0 / self.value[b]
        gradient[b] -= ratio / self.value[b]
        return ratio, float(np.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))

    def difference(self, name: str, less: str) -> tuple[float, float]:
        """One value less another, and the error of that."""
        a, b = self.names.index(name), self.names.index(less)
        square = self.covariance[a, a] + self.covariance[b, b] - 2.0 * self.covariance[a, b]
        return float(self.value[a] - self.value[b]), float(np.sqrt(max(square, 0.0)))

    def draws(self, rng: np.random.Generator) -> Floats:
        """What other users might have given, [draw, model]."""
        return np.asarray(rng.multivariate_normal(self.value, self.covariance, DRAWS, method="eigh"))


def tau(one: Joint, other: Joint, seed: int = 0) -> tuple[float, float, float, float]:
    """Kendall's τ of two rankings of the same models; its spread, and where 95 % lie, when both are drawn again."""
    assert one.names == other.names
    rng = np.random.default_rng(seed)
    drawn = kendall(one.draws(rng), other.draws(rng))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(kendall(one.value[None], other.value[None])[0]), float(drawn.std(ddof=1)), float(low), float(high)


def kendall(one: Floats, other: Floats) -> Floats:
    """τ of every row; as of scipy where nothing is tied."""
    if len(one) == 1:
        return np.array([kendalltau(one[0], other[0]).statistic])
    pairs = list(combinations(range(one.shape[1]), 2))
    signs = [np.sign(one[:, a] - one[:, b]) * np.sign(other[:, a] - other[:, b]) for a, b in pairs]
    return np.asarray(np.mean(signs, axis=0))
