"""Cross-validation: every row is held out once."""

from __future__ import annotations

from unskew.bounds import FOLDS
from unskew.log import Log
from unskew.log.expected import a_log
from unskew.memory import require
from unskew.split.draws import draws
from unskew.split.split import Split


def k_fold(log: Log, folds: int = 5, *, seed: int = 0) -> list[Split]:
    """Split a log ``folds`` times, so that the test parts are disjoint and together are the log.

    A row's fold is drawn by a hash of the seed and the texts of its user and item, each fold equally likely, as
    independently of all other rows as in ``holdout``; folds are therefore only about equally large. The share is
    1/k for validation and (k − 1)/k for training.

    Args:
        log: what to split.
        folds: how many parts, at least 2.
        seed: a whole number ≥ 0 that picks one of the random partitions.
    """
    folds = int(FOLDS.of(folds, "the number of folds"))
    require(folds * len(a_log(log)), f"cross-validation with {folds:,} folds", "Take fewer folds.")
    fold = (draws(log, "k_fold", seed) * folds).astype(int)
    return [Split(log, fold == k, 1.0 / folds) for k in range(folds)]
