"""Which model is better over many folds? Models are fitted fold by fold, and judged over all of them.

us.cross_validate(log, ["most_popular", "item_knn(neighbours=50)"], split="sliding_window(width=1w, folds=10)")
"""

from unskew.cross_validation.merging import Average
from unskew.cross_validation.result import CrossValidation, Fold, FoldValue, OverFolds
from unskew.cross_validation.run import cross_validate

__all__ = ["Average", "CrossValidation", "Fold", "FoldValue", "OverFolds", "cross_validate"]
