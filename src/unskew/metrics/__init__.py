"""What is a rank, or an error, worth? Metrics, each with one canonical string (``recall@10``, ``mae``)."""

from __future__ import annotations

from unskew.core.errors import InputError
from unskew.core.parts import Family
from unskew.metrics.additive import ARHR, CG, DCG, RBP, Precision, Recall
from unskew.metrics.base import RankingMetric, Shape
from unskew.metrics.plugin import MAP, MRR, NDCG, Hit, RPrecision
from unskew.metrics.rating import MAE, MSE, RMSE, Accuracy, RatingMetric

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
    "register",
]


Metric = RankingMetric | RatingMetric


FAMILY: Family[Metric] = Family(
    "metric",
    (RankingMetric, RatingMetric),
    __name__,
    (Recall, Precision, CG, DCG, RBP, ARHR, NDCG, MAP, MRR, Hit, RPrecision, MAE, MSE, RMSE, Accuracy),
)
register, make = FAMILY.register, FAMILY.make  # make: the metric with this canonical string, recall@10 or mae
__dir__ = FAMILY.class_names


def ranking(text: str | Metric) -> RankingMetric:
    """The metric of lists with this canonical string; errors of predictions are refused."""
    metric = make(text)
    if not isinstance(metric, RankingMetric):
        raise InputError(
            f"lists have no {metric}: it is an error of predictions. Use recall@10 or dcg@10.",
            code="error-of-predictions",
            metric=str(metric),
        )
    return metric
