"""What is a rank, or an error, worth? Metrics, each with one canonical string (``recall@10``, ``mae``)."""

from __future__ import annotations

from unskew.errors import InputError
from unskew.metrics.additive import ARHR, CG, DCG, RBP, Precision, Recall
from unskew.metrics.base import RankingMetric, Shape
from unskew.metrics.plugin import MAP, MRR, NDCG, Hit, RPrecision
from unskew.metrics.rating import MAE, MSE, RMSE, Accuracy, RatingMetric
from unskew.parts import Family

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


_ADDITIVE, _PLUGIN, _RATING = (f"unskew.metrics.{module}" for module in ("additive", "plugin", "rating"))

FAMILY: Family[Metric] = Family(
    "metric",
    (RankingMetric, RatingMetric),
    {
        "recall": f"{_ADDITIVE}:Recall",
        "precision": f"{_ADDITIVE}:Precision",
        "cg": f"{_ADDITIVE}:CG",
        "dcg": f"{_ADDITIVE}:DCG",
        "rbp": f"{_ADDITIVE}:RBP",
        "arhr": f"{_ADDITIVE}:ARHR",
        "ndcg": f"{_PLUGIN}:NDCG",
        "map": f"{_PLUGIN}:MAP",
        "mrr": f"{_PLUGIN}:MRR",
        "hit": f"{_PLUGIN}:Hit",
        "r_precision": f"{_PLUGIN}:RPrecision",
        "mae": f"{_RATING}:MAE",
        "mse": f"{_RATING}:MSE",
        "rmse": f"{_RATING}:RMSE",
        "accuracy": f"{_RATING}:Accuracy",
    },
)
register, make = FAMILY.register, FAMILY.make  # make: the metric with this canonical string, recall@10 or mae


def ranking(text: str | Metric) -> RankingMetric:
    """The metric of lists with this canonical string; errors of predictions are refused."""
    metric = make(text)
    if not isinstance(metric, RankingMetric):
        raise InputError(f"lists have no {metric}: it is an error of predictions. Use recall@10 or dcg@10.")
    return metric


def __dir__() -> list[str]:
    return FAMILY.class_names()
