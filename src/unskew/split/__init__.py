"""What is held out: a split is a choice of rows of one log, and carries the share that propensities are scaled by."""

from unskew.split.holdout import holdout
from unskew.split.k_fold import k_fold
from unskew.split.split import Split

__all__ = ["Split", "holdout", "k_fold"]
