"""MF-IPS: matrix factorisation of ratings, each weighted by the inverse of how likely it was to be seen."""

from unskew.models.mf.als import ROUNDS
from unskew.models.mf.model import MF, Predicted, Training
from unskew.models.mf.problem import Loss
from unskew.models.mf.search import DIMS, FOLD_TOLERANCE, OFFSETS, PENALTIES, Search

__all__ = [
    "DIMS",
    "FOLD_TOLERANCE",
    "MF",
    "OFFSETS",
    "PENALTIES",
    "ROUNDS",
    "Loss",
    "Predicted",
    "Search",
    "Training",
]
