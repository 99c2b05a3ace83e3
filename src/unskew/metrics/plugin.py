"""Metrics that are not sums over relevant items: computed with weights, without a promise of unbiasedness.

    ndcg  Σ wλ(Z) / Σ_j w₍ⱼ₎λ(j)   w₍₁₎ ≥ w₍₂₎ ≥ …, j ≤ min(K, n*)
    map   Σ w·prec(Z) / divisor     prec counts hits without weights
    mrr, hit, r_precision           with naive weights only

With naive weights all of them equal the textbook values (ir-measures' definitions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.errors import InputError
from unskew.core.parts import Words, option
from unskew.kernels.arrays import Floats
from unskew.metrics.base import CountingMetric, RankingMetric, Shape


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised DCG.

    Args:
        ideal: ``positives`` (the best list has min(k, n*) hits) or ``full`` (k hits for everybody, as RecTools).
        discount: ``log2`` is 1/log2(rank + 1); ``lenskit`` is 1/max(log2 rank, 1).
    """

    ideal: str = option("positives", Words(("positives", "full")), "what the best list has", changed=True)
    discount: str = option("log2", Words(("log2", "lenskit")), "how later ranks lose worth", changed=True)

    name = "ndcg"
    shape = Shape.IDEAL

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ideal == "full" and self.k is None:
            raise InputError(
                "'ndcg(ideal=full)' needs a cut-off: write ndcg(ideal=full)@10.", code="missing-cut-off", metric="ndcg"
            )

    @property
    def unweighted_only(self) -> str:
        """Weighted items are no equal hits."""
        return f"compares with {self.k} equal hits, which weighted items do not have" if self.ideal == "full" else ""

    @property
    def usual(self) -> NDCG:
        """The textbook's."""
        return NDCG(self.k)

    def worth(self, rank: Floats) -> Floats:
        """The discount."""
        return 1.0 / (np.log2(rank + 1.0) if self.discount == "log2" else np.maximum(np.log2(rank), 1.0))


@dataclass(frozen=True)
class MAP(CountingMetric):
    """Mean average precision.

    Args:
        divide: by ``positives`` (all of the user's, as ir-measures) or by ``min`` (the k largest weights, as RePlay).
    """

    divide: str = option("positives", Words(("positives", "min")), "what the sum is divided by", changed=True)

    name = "map"
    shape = Shape.PRECISION  # the precision at each rank is counted by the kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.divide == "min" and self.k is None:
            raise InputError(
                "'map(divide=min)' needs a cut-off: write map(divide=min)@10.", code="missing-cut-off", metric="map"
            )

    @property
    def divides_by_largest_weights(self) -> bool:
        """By the k largest of a user, where it is not divided by all."""
        return self.divide == "min"

    @property
    def usual(self) -> MAP:
        """Divided by all positives."""
        return MAP(self.k)


@dataclass(frozen=True)
class MRR(RankingMetric):
    """Reciprocal rank of the first relevant item."""

    name = "mrr"
    shape = Shape.FIRST

    def worth(self, rank: Floats) -> Floats:
        """The reciprocal of the rank."""
        return 1.0 / rank


@dataclass(frozen=True)
class Hit(CountingMetric):
    """One if any relevant item is among the first ``k``."""

    name = "hit"
    shape = Shape.FIRST
    needs_k = True


@dataclass(frozen=True)
class RPrecision(CountingMetric):
    """Share of hits among the first n*, n* the number of the user's relevant items."""

    name = "r_precision"
    shape = Shape.CUT

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k is not None:
            raise InputError(
                "'r_precision' cuts at each user's own number of relevant items: write it without @k.",
                code="needless-cut-off",
                metric="r_precision",
            )
