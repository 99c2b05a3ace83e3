"""Of truly different pairs of models: the share of which a recipe says what is right, what is wrong, or neither.

Two models are truly different where the random ratings say so, their difference being beyond 1.96 standard errors
(clustered by person): the truth is a sample too, and of equal pairs one in twenty is taken for different, with either
sign. Shares are of all such pairs of all splits; errors by the jackknife over splits.

An interval [l, h] of a value v holds the truth t, a sample's with standard error s, where

    plain           l ≤ t ≤ h
    its own error   v − √((v − l)² + (1.96 s)²) ≤ t ≤ v + √((h − v)² + (1.96 s)²)

in some scenario or between two of them: a right 95 % interval does the second in 95 % of cases, the first in fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew_papers.arrays import Floats
from unskew_papers.coat_truth.recipes import PER_USER, POOLED, Recipe
from unskew_papers.recovery.scores import alone, outcomes, truly_different, widened
from unskew_papers.repeated import Repeated

Split = Mapping[str, Mapping[str, Any]]
UNADJUSTED, SIMULTANEOUS = "each pair by itself", "all pairs together"


@dataclass(frozen=True)
class Row:
    """One row of a recipe under one metric."""

    recipe: Recipe
    name: str
    metric: str

    @property
    def target(self) -> str:
        """Under which the truth is known: a normalised sum is an average over relevant pairs."""
        return PER_USER if self.recipe.rows[self.name][1] == PER_USER else POOLED

    def counts(self, split: Split, level: str, *, imitators: bool | None = None) -> Floats:
        """How many truly different pairs are right, wrong, dependent and undecided.

        Args:
            imitators: only pairs with a model that resembles how people chose, or only those without; by default all.
        """
        true = np.asarray(split["truth"][f"{self.metric} | {self.target} | z"])
        kept = truly_different(true)
        if imitators is not None:
            kept &= (np.asarray(split["truth"]["imitates"]) > 0.0) == imitators
        if level == UNADJUSTED:
            word = np.where(self._of(split, "open") > 0.0, 2.0, alone(self._of(split, "z")))
        else:
            word = self._of(split, "word")
        return outcomes(word[kept], true[kept])

    def covered(self, split: Split, *, own_error: bool) -> Floats:
        """Of how many models the interval holds what the random ratings say, and of how many not.

        Args:
            own_error: whether the error of the random ratings is allowed for.
        """
        true, se = (np.asarray(split["truth"][f"{self.metric} | {self.target} | {what}"]) for what in ("value", "se"))
        value, low, high = (self._of(split, what) for what in ("value", "low", "high"))
        below, above = widened(value, low, high, se if own_error else np.zeros_like(se))
        inside = (below.min(axis=0) <= true) & (true <= above.max(axis=0))
        return np.array([inside.sum(), (~inside).sum()], float)

    def _of(self, split: Split, what: str) -> Floats:
        return np.asarray(split[self.recipe.name][f"{self.metric} | {self.name} | {what}"])


def percent(splits: Sequence[Split], count: Callable[[Split], Floats]) -> list[Repeated]:
    """The parts of a count in percent, over all splits and without each of them."""
    each = np.array([count(split) for split in splits])
    total = each.sum(axis=0)
    without = total - each
    value = 100.0 * total / total.sum()
    left = 100.0 * without / without.sum(axis=1, keepdims=True) if len(splits) > 1 else np.empty((0, len(value)))
    return [Repeated(float(value[n]), left[:, n]) for n in range(len(value))]
