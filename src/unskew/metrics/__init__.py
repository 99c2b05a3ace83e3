"""What is a rank, or an error, worth? Metrics, each with one canonical string (``recall@10``, ``mae``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from unskew.errors import InputError
from unskew.metrics.additive import ARHR, CG, DCG, RBP, Precision, Recall
from unskew.metrics.base import RankingMetric, Shape
from unskew.metrics.plugin import MAP, MRR, NDCG, Hit, RPrecision
from unskew.metrics.rating import MAE, MSE, RMSE, Accuracy, RatingMetric
from unskew.spec import Spec, build, take

__all__ = [
    "ARHR",
    "CG",
    "DCG",
    "MAE",
    "MAP",
    "MRR",
    "MSE",
    "NDCG",
    "RBP",
    "RMSE",
    "Accuracy",
    "Hit",
    "Metric",
    "Precision",
    "RPrecision",
    "RankingMetric",
    "RatingMetric",
    "Recall",
    "Shape",
    "make",
    "ranking",
]


Metric = RankingMetric | RatingMetric


def _maker(metric: type[RankingMetric], **kinds: type) -> Callable[[Spec], RankingMetric]:
    return lambda spec: metric(k=spec.at, **take(replace(spec, at=None), (), **kinds))


def _rating(metric: type[RatingMetric]) -> Callable[[Spec], Metric]:
    return lambda spec: metric(**take(spec))


_METRICS: Mapping[str, Callable[[Spec], Metric]] = {
    "recall": _maker(Recall),
    "precision": _maker(Precision),
    "cg": _maker(CG),
    "dcg": _maker(DCG),
    "rbp": _maker(RBP, p=float),
    "arhr": _maker(ARHR),
    "ndcg": _maker(NDCG, ideal=str, discount=str),
    "map": _maker(MAP, divide=str),
    "mrr": _maker(MRR),
    "hit": _maker(Hit),
    "r_precision": _maker(RPrecision),
    "mae": _rating(MAE),
    "mse": _rating(MSE),
    "rmse": _rating(RMSE),
    "accuracy": _rating(Accuracy),
}


def make(text: str | Metric) -> Metric:
    """The metric with this canonical string, such as ``recall@10`` or ``mae``."""
    return text if isinstance(text, RankingMetric | RatingMetric) else build("metric", text, _METRICS)


def ranking(text: str | Metric) -> RankingMetric:
    """The metric of lists with this canonical string; errors of predictions are refused."""
    metric = make(text)
    if not isinstance(metric, RankingMetric):
        raise InputError(f"lists have no {metric}: it is an error of predictions. Use recall@10 or dcg@10.")
    return metric
