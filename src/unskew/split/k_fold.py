"""Cross-validation: every row is held out once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.bounds import FOLDS, SEED
from unskew.core.parts import option
from unskew.log import Log
from unskew.split.rows import Coded
from unskew.split.split import Split, Splitter, draws
from unskew.split.splits import Splits


@dataclass(frozen=True)
class KFold(Splitter):
    """Split a log ``folds`` times, so that the test parts are disjoint and together are the log.

    A row's fold is drawn by a hash of the seed and the texts of its user and item, each fold equally likely, as
    independently of all other rows as in ``Holdout``; folds are therefore only about equally large. The share is
    1/k for validation and (k − 1)/k for training.

    >>> import polars as pl
    >>> from unskew.log import Log
    >>> folds = KFold(3).splits(Log.from_frame(pl.DataFrame({"user": [1, 2] * 50, "item": range(100)})))
    >>> [split.test_count for split in folds], folds[0].test.share
    ([35, 35, 30], 0.3333333333333333)
    """

    folds: int = option(5, FOLDS, "how many parts")
    seed: int = option(0, SEED, "picks one of the random partitions", changed=True)

    name = "k_fold"

    @property
    def question(self) -> str:
        """What models are asked."""
        return "Which items are missing where rows were removed at random, from the others, later ones included?"

    def splits(self, log: Log) -> Splits:
        """One split per fold."""
        fold = (draws(log, "k_fold", self.seed) * self.folds).astype(np.int16)
        counts = np.bincount(fold, minlength=self.folds).tolist()
        parts = (Coded(fold, k, number) for k, number in enumerate(counts))
        share = 1.0 / self.folds
        return Splits(log, str(self), tuple(Split(log, rows, share, label=f"{rows.code + 1}") for rows in parts))


def k_fold(log: Log, folds: int = 5, *, seed: int = 0) -> Splits:
    """Every row is held out once: ``for train, test in k_fold(log, 5)``; see ``KFold``."""
    return KFold(folds, seed).splits(log)
