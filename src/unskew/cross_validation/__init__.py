"""Which model is better over many folds? Models are fitted fold by fold, and judged over all of them.

    us.cross_validate(log, ["most_popular", "item_knn(neighbours=50)"], split="sliding_window(width=1w, folds=10)")

``run.py`` is the function; here is what it gives back, which pages show without loading any model.
"""

from unskew.cross_validation.averaging import Average
from unskew.cross_validation.result import CrossValidation, Fold, FoldValue, OverFolds

__all__ = ["Average", "CrossValidation", "Fold", "FoldValue", "OverFolds"]
