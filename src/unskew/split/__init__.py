"""What is held out: a split is a choice of rows of one log, and carries the share that propensities are scaled by.

holdout(log, 0.3) and k_fold(log, 5) split at once; a splitter is the same as a part with a canonical string:

    make("holdout(share=0.3)").splits(log)
"""

from unskew.parts import Family
from unskew.split.holdout import Holdout, holdout
from unskew.split.k_fold import KFold, k_fold
from unskew.split.split import Split, Splitter

__all__ = ["Holdout", "KFold", "Split", "Splitter", "holdout", "k_fold", "make", "register"]

FAMILY: Family[Splitter] = Family(
    "splitter",
    Splitter,
    __name__,
    {"holdout": "holdout:Holdout", "k_fold": "k_fold:KFold"},
)
register, make = FAMILY.register, FAMILY.make  # make: the splitter with this canonical string, k_fold(folds=5)
__dir__ = FAMILY.class_names
