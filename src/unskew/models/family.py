"""All recommenders by name."""

from __future__ import annotations

from unskew.models.base import Model
from unskew.parts import Family

FAMILY: Family[Model] = Family(
    "model",
    Model,
    "unskew.models",
    {
        "average_rating": "average_rating:AverageRating",
        "biased_mf": "recipes.plain_mf:BiasedMF",
        "bpr": "recipes.bpr:BPR",
        "factors": "factors:Factors",
        "item_knn": "item_knn:ItemKNN",
        "mf": "mf:MF",
        "mmmf": "recipes.mmmf:MMMF",
        "most_popular": "most_popular:MostPopular",
        "nmf": "recipes.nmf:NMF",
        "plain_mf": "recipes.plain_mf:PlainMF",
        "pmf": "recipes.pmf:PMF",
        "random": "random:Random",
        "recently_popular": "recently_popular:RecentlyPopular",
        "svd": "svd:SVD",
        "user_knn": "user_knn:UserKNN",
        "wmf": "wmf:WMF",
    },
)
