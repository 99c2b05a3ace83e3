"""What is a rank worth? Ranking metrics, each with one canonical string (``recall@10``, ``rbp(p=0.9)@20``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from unskew.metrics.additive import ARHR, DCG, RBP, Precision, Recall
from unskew.metrics.base import RankingMetric, Shape
from unskew.metrics.plugin import MAP, MRR, NDCG, Hit, RPrecision
from unskew.spec import Spec, build, take

__all__ = [
    "ARHR",
    "DCG",
    "MAP",
    "MRR",
    "NDCG",
    "RBP",
    "Hit",
    "Precision",
    "RPrecision",
    "RankingMetric",
    "Recall",
    "Shape",
    "make",
]


def _maker(metric: type[RankingMetric], **kinds: type) -> Callable[[Spec], RankingMetric]:
    return lambda spec: metric(k=spec.at, **take(replace(spec, at=None), (), **kinds))


_METRICS: Mapping[str, Callable[[Spec], RankingMetric]] = {
    "recall": _maker(Recall),
    "precision": _maker(Precision),
    "dcg": _maker(DCG),
    "rbp": _maker(RBP, p=float),
    "arhr": _maker(ARHR),
    "ndcg": _maker(NDCG, ideal=str, discount=str),
    "map": _maker(MAP, divide=str),
    "mrr": _maker(MRR),
    "hit": _maker(Hit),
    "r_precision": _maker(RPrecision),
}


def make(text: str | RankingMetric) -> RankingMetric:
    """The metric with this canonical string, such as ``recall@10``."""
    return text if isinstance(text, RankingMetric) else build("metric", text, _METRICS)
