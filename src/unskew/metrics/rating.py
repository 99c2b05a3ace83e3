"""Rating metrics: what a prediction of a pair's value costs (δ in schnabel16 §3), averaged over all pairs.

    mae        |ŷ − y|
    mse        (ŷ − y)²
    rmse       the root of mse
    accuracy   1 where ŷ rounds to y: |ŷ − y| < ½

Costs need nothing but the pair itself, so every estimator of an average over pairs can promise something about them
(rmse is a root of such an average: consistent, not unbiased).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.core.parts import Part
from unskew.kernels.arrays import Floats


@dataclass(frozen=True)
class RatingMetric(Part, ABC):
    """A cost (or a gain) per pair, from its value and its prediction."""

    lower_is_better: ClassVar[bool] = True
    root: ClassVar[bool] = False
    additive: ClassVar[bool] = True
    k: ClassVar[None] = None
    largest: ClassVar[float] = math.inf  # what no pair costs more than; none costs less than 0

    @abstractmethod
    def cost(self, value: Floats, prediction: Floats) -> Floats:
        """δ of each pair."""


@dataclass(frozen=True)
class MAE(RatingMetric):
    """Mean absolute error."""

    name = "mae"

    def cost(self, value: Floats, prediction: Floats) -> Floats:
        """The distance."""
        return np.abs(prediction - value)


@dataclass(frozen=True)
class MSE(RatingMetric):
    """Mean squared error."""

    name = "mse"

    def cost(self, value: Floats, prediction: Floats) -> Floats:
        """The squared distance."""
        return np.square(prediction - value)


@dataclass(frozen=True)
class RMSE(MSE):
    """Root of the mean squared error."""

    name = "rmse"
    root = True


@dataclass(frozen=True)
class Accuracy(RatingMetric):
    """Share of the pairs whose prediction rounds to the value."""

    name = "accuracy"
    lower_is_better = False
    largest = 1.0

    def cost(self, value: Floats, prediction: Floats) -> Floats:
        """One where the prediction is nearer than half a step."""
        return (np.abs(prediction - value) < 0.5).astype(np.float64)
