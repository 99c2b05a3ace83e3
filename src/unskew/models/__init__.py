"""What would be recommended? Baselines that are fitted on a training log and make lists.

Models follow scikit-learn: the constructor stores parameters, ``fit(log)`` learns and gives back the model, and what
is learnt ends in an underscore. They have a canonical string like every other part:

    make("item_knn(neighbours=20)").fit(train).recommend(test.users, 100, seen=train)

Factors that were made elsewhere need no fit (``GivenFactors``), saved models are read back (``load``),
and models of other libraries become recommenders (``adapt``).
"""

from __future__ import annotations

from pathlib import Path

from unskew.core.errors import InputError
from unskew.models import files
from unskew.models.average_rating import AverageRating
from unskew.models.base import Model, Updatable, from_scores, from_shared_scores, training_rows
from unskew.models.by_factors import ByFactors, Scored
from unskew.models.family import FAMILY
from unskew.models.foreign import adapt, matrix
from unskew.models.given_factors import GivenFactors
from unskew.models.grid_search import Grid, Searched, search
from unskew.models.item_knn import ItemKNN
from unskew.models.mf import MF
from unskew.models.most_popular import MostPopular
from unskew.models.random import Random
from unskew.models.recently_popular import RecentlyPopular
from unskew.models.svd import SVD
from unskew.models.user_knn import UserKNN
from unskew.models.wmf import WMF

__all__ = [
    "MF",
    "SVD",
    "WMF",
    "AverageRating",
    "ByFactors",
    "GivenFactors",
    "Grid",
    "ItemKNN",
    "Model",
    "MostPopular",
    "Random",
    "RecentlyPopular",
    "Scored",
    "Searched",
    "Updatable",
    "UserKNN",
    "adapt",
    "files",
    "from_scores",
    "from_shared_scores",
    "load",
    "make",
    "matrix",
    "register",
    "search",
    "training_rows",
]

register, make = FAMILY.register, FAMILY.make  # make: the model with this canonical string, not yet fitted
__dir__ = FAMILY.class_names


def load(path: str | Path) -> Model | GivenFactors:
    """The model in a file: what ``save`` of ``MF``, ``GivenFactors`` or a registered model wrote, or plain factors."""
    written_by = files.format_of(path)
    if written_by is not None:
        for kind in map(FAMILY.class_of, FAMILY.names()):
            if written_by == files.format_name(kind.__name__) and hasattr(kind, "load"):
                found: Model = kind.load(path)
                return found
        raise InputError(f"{path}: '{written_by}' is no model that this unskew knows.", code="unknown-name")
    return GivenFactors.load(path)
