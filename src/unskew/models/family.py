"""All recommenders by name."""

from __future__ import annotations

from unskew.core.parts import Family
from unskew.models.base import Model

FAMILY: Family[Model] = Family(
    "model",
    Model,
    "unskew.models",
    {
        "average_rating": "average_rating:AverageRating",
        "item_knn": "item_knn:ItemKNN",
        "mf": "mf:MF",
        "most_popular": "most_popular:MostPopular",
        "random": "random:Random",
        "recently_popular": "recently_popular:RecentlyPopular",
        "svd": "svd:SVD",
        "user_knn": "user_knn:UserKNN",
        "wmf": "wmf:WMF",
    },
)
