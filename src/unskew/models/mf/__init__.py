"""MF-IPS: matrix factorisation of ratings, each weighted by the inverse of how likely it was to be seen."""

from unskew.models.mf.model import MF, Predicted, Training
from unskew.models.mf.search import Search

__all__ = ["MF", "Predicted", "Search", "Training"]
