"""Metrics that are sums over relevant items: the ones that estimators can promise something about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.bounds import SHARE
from unskew.core.parts import option
from unskew.kernels.arrays import Floats, present
from unskew.metrics.base import CountingMetric, RankingMetric


@dataclass(frozen=True)
class Recall(CountingMetric):
    """Share of the relevant items that made it into the first ``k`` (gs23 §2)."""

    name = "recall"
    needs_k = True
    of_relevant = True


@dataclass(frozen=True)
class Precision(RankingMetric):
    """Share of the first ``k`` that is relevant; always divided by k, also where a list is shorter."""

    name = "precision"
    needs_k = True
    of_listed = True
    averages_pairs = divided_by_k = True

    def worth(self, rank: Floats) -> Floats:
        """One k-th for every rank."""
        return np.full_like(rank, 1.0 / present(self.k))


@dataclass(frozen=True)
class CG(Precision):
    """Cumulative gain: the mean value of the first ``k`` (schnabel16 Eq. 7); precision, for graded values."""

    name = "cg"
    of_listed = False  # values need not end at 1


@dataclass(frozen=True)
class DCG(RankingMetric):
    """Discounted gain 1/log2(rank + 1)."""

    name = "dcg"
    averages_pairs = True

    def worth(self, rank: Floats) -> Floats:
        """The logarithmic discount."""
        return 1.0 / np.log2(rank + 1.0)


@dataclass(frozen=True)
class RBP(RankingMetric):
    """Rank-biased precision (1 − p)·p^(rank − 1): a reader who goes on with probability ``p`` (Moffat & Zobel)."""

    p: float = option(0.8, SHARE, "how likely a reader goes on to the next rank")

    name = "rbp"

    def worth(self, rank: Floats) -> Floats:
        """The probability of reading exactly as far as this rank."""
        return (1.0 - self.p) * self.p ** (rank - 1.0)


@dataclass(frozen=True)
class ARHR(RankingMetric):
    """Average reciprocal hit rank: 1/rank, summed over all relevant items."""

    name = "arhr"

    def worth(self, rank: Floats) -> Floats:
        """The reciprocal of the rank."""
        return 1.0 / rank
