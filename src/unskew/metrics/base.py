"""What a rank is worth. A metric is a table over the ranks 1 … K; kernels only look numbers up.

How the worths of a user's relevant items become one number is the metric's *shape*:

    ADDITIVE   Σ w·worth(Z)                       recall, precision, dcg, rbp, arhr: unbiased under unbiased weights
    IDEAL      Σ w·worth(Z) / the best that these weights allow          ndcg
    PRECISION  Σ w·precision at the item's rank   map
    FIRST      worth of the best-ranked relevant item                    mrr, hit
    CUT        share of hits among the first n*   r_precision

Only additive metrics carry the promise of an estimator; the others are plug-in values and say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.core.parts import Part, option
from unskew.kernels.arrays import Floats

CUT_OFF = Whole(1, 1_000_000, "Nobody reads a list that far: ask for recall@10.")


class Shape(StrEnum):
    """How the worths of a user's items are put together."""

    ADDITIVE = "additive"
    IDEAL = "ideal"
    PRECISION = "precision"
    FIRST = "first"
    CUT = "cut"


@dataclass(frozen=True)
class RankingMetric(Part, ABC):
    """A metric of top-k lists.

    Args:
        k: the cut-off; ``None`` counts the whole list.
    """

    k: int | None = option(None, CUT_OFF, "the cut-off", cut=True)

    shape: ClassVar[Shape] = Shape.ADDITIVE
    needs_k: ClassVar[bool] = False
    of_relevant: ClassVar[bool] = False  # a share of the relevant items: where nothing divides, a number of them
    of_listed: ClassVar[bool] = False  # a share of the listed items
    lower_is_better: ClassVar[bool] = False
    root: ClassVar[bool] = False
    averages_pairs: ClassVar[bool] = False  # Σ y · worth(rank) is an average over pairs as well
    divided_by_k: ClassVar[bool] = False  # a mean over the list, which averages over relevant items have no use for

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is None and self.needs_k:
            raise InputError(
                f"'{self.name}' needs a cut-off: write {self.name}@10.", code="missing-cut-off", metric=self.name
            )

    @property
    def additive(self) -> bool:
        """Whether it sums over items; a ratio inside users carries a weaker promise."""
        return self.shape is Shape.ADDITIVE

    @property
    def unweighted_only(self) -> str:
        """Why weights cannot debias it, in words that go on after its name; empty where they can."""
        if self.shape in (Shape.FIRST, Shape.CUT):
            return "looks at one item of a user only, which no weight per item can debias: naive is all there is"
        return ""

    @property
    def divides_by_largest_weights(self) -> bool:
        """Whether it needs an estimator whose divisor is a sum of weights."""
        return False

    @property
    def usual(self) -> RankingMetric:
        """The same with its options as usual, where these decide what can be estimated."""
        return self

    @abstractmethod
    def worth(self, rank: Floats) -> Floats:
        """What an item at each of these ranks (1 = best) is worth, before the cut-off."""

    def table(self, depth: int) -> Floats:
        """Worth by rank 0 … depth; rank 0 means not listed and is worth nothing."""
        table = np.zeros(depth + 1)
        last = depth if self.k is None else min(self.k, depth)
        table[1 : last + 1] = self.worth(np.arange(1, last + 1, dtype=np.float64))
        return table


@dataclass(frozen=True)
class CountingMetric(RankingMetric):
    """A metric to which every rank down to the cut-off is worth the same."""

    def worth(self, rank: Floats) -> Floats:
        """One for every rank."""
        return np.ones_like(rank)
