"""The splits of one log: its folds in order, and what was skipped on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import polars as pl

from unskew.log import Log
from unskew.log.expected import a_log
from unskew.split.split import Split, Splitter


@dataclass(frozen=True)
class Skipped:
    """A fold that is not judged.

    Args:
        label: what it would have been called.
        reason: why it is not judged, as a phrase.
        users: users who could have been judged in it.
        rows: rows that fall into it.
    """

    label: str
    reason: str
    users: int
    rows: int


@dataclass(frozen=True, eq=False)
class Splits(Sequence[Split]):
    """The folds of a splitter: ``for train, test in splits``.

    Args:
        log: what was split.
        splitter: the canonical string of the way of splitting.
        folds: the splits, in the order of time where time decides.
        skipped: folds that are not judged, with the reason.
        notes: what a reader should know, as sentences.
    """

    log: Log
    splitter: str
    folds: tuple[Split, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.folds)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Split]: ...
    def __getitem__(self, index: int | slice) -> Split | Sequence[Split]:
        return self.folds[index]

    def __iter__(self) -> Iterator[Split]:
        return iter(self.folds)

    def __repr__(self) -> str:
        skipped = f", {len(self.skipped):,} skipped" if self.skipped else ""
        return f"<Splits {self.splitter} of {len(self.log):,} rows: {len(self):,} folds{skipped}>"

    def table(self) -> pl.DataFrame:
        """One row per fold: what it is called, and how many rows train and are held out."""
        return pl.DataFrame(
            {
                "fold": [split.label for split in self],
                "train_rows": [split.train_count for split in self],
                "test_rows": [split.test_count for split in self],
                "left_out": [sum(split.left_out.values()) for split in self],
            }
        )


def splits_by(splitter: Splitter, log: Log) -> Splits:
    """The splits that a splitter makes, also of one that gives back a plain list."""
    found = splitter.splits(a_log(log))
    return found if isinstance(found, Splits) else Splits(log, str(splitter), tuple(found))
