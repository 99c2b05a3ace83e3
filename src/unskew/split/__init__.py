"""What is held out: a split is a choice of rows of one log, and carries the share that propensities are scaled by.

holdout(log, 0.3) and k_fold(log, 5) split at once; a splitter is the same as a part with a canonical string:

    for train, test in make_splits(log, "k_fold(folds=5)"): ...
"""

from unskew.core.parts import Family
from unskew.log import Log
from unskew.split.files import write_splits
from unskew.split.holdout import Holdout, holdout
from unskew.split.k_fold import KFold, k_fold
from unskew.split.leave_one_out import LeaveOneOut, leave_one_out
from unskew.split.record import Skipped, SplitSummary
from unskew.split.sliding_window import SlidingWindow, sliding_window
from unskew.split.split import ChosenBy, Split, Splitter
from unskew.split.splits import Splits, splits_by
from unskew.split.windows import Window

__all__ = [
    "ChosenBy",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "Skipped",
    "SlidingWindow",
    "Split",
    "SplitSummary",
    "Splits",
    "Splitter",
    "Window",
    "holdout",
    "k_fold",
    "leave_one_out",
    "make",
    "make_splits",
    "register",
    "sliding_window",
    "write_splits",
]

FAMILY: Family[Splitter] = Family(
    "splitter",
    Splitter,
    __name__,
    {
        "holdout": "holdout:Holdout",
        "k_fold": "k_fold:KFold",
        "leave_one_out": "leave_one_out:LeaveOneOut",
        "sliding_window": "sliding_window:SlidingWindow",
    },
)
register, make = FAMILY.register, FAMILY.make  # make: the splitter with this canonical string, k_fold(folds=5)
__dir__ = FAMILY.class_names


def make_splits(log: Log, splitter: str | Splitter) -> Splits:
    """The folds of a log by a splitter or its canonical string, ``"k_fold(folds=5)"``, and what was skipped."""
    return splits_by(make(splitter), log)
