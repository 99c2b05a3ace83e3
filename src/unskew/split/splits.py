"""The splits of one log: its folds in order, and what was skipped on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import polars as pl

from unskew.core.showing import Shown
from unskew.log import Log
from unskew.log.clock import Clock
from unskew.log.expected import a_log
from unskew.split.record import FoldSummary, Skipped, SplitSummary
from unskew.split.split import Split, Splitter


@dataclass(frozen=True, eq=False, repr=False)
class Splits(Sequence[Split], Shown):
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
        return f"<Splits {self.splitter} of {len(self.log):,} rows: {len(self):,} folds{skipped}; .plot()>"

    def table(self) -> pl.DataFrame:
        """One row per fold: what it is called, how many rows train and are held out, and who is judged."""
        return pl.DataFrame(
            {
                "fold": [split.label for split in self],
                "train_rows": [split.train_count for split in self],
                "test_rows": [split.test_count for split in self],
                "users": pl.Series([split.users for split in self], dtype=pl.Int64),
                "left_out": [sum(split.left_out.values()) for split in self],
            }
        )

    def without_rows(self) -> SplitSummary:
        """What is known of the folds without their rows."""
        shares = {split.share for split in self}
        time = self.log.time
        known = time is not None and len(time) > 0
        first, last = (int(time.min()), int(time.max())) if time is not None and known else (0, 0)
        clock = Clock.of(self.log, first, last) if known else None
        return SplitSummary(
            source=self.log.account.source,
            splitter=self.splitter,
            rows=len(self.log),
            dropped=dict(self.log.account.dropped),
            share=shares.pop() if len(shares) == 1 else None,
            times=None if clock is None else clock.name,
            per_second=None if clock is None else clock.per_second,
            first=first if known else None,
            zoned=clock is not None and clock.zoned,
            folds=tuple(
                FoldSummary(s.label, s.train_count, s.test_count, s.users, s.window, dict(s.left_out)) for s in self
            ),
            skipped=self.skipped,
            notes=(*(note.saying(f"{note[0].upper()}{note[1:]}.") for note in self.log.account.notes), *self.notes),
        )

    def to_dict(self) -> dict[str, Any]:
        """What is known of the folds, ready for JSON."""
        return self.without_rows().to_dict()

    def _made_from(self) -> list[Path]:
        return [Path(self.log.account.source)]


def splits_by(splitter: Splitter, log: Log) -> Splits:
    """The splits that a splitter makes, also of one that gives back a plain list."""
    found = splitter.splits(a_log(log))
    return found if isinstance(found, Splits) else Splits(log, str(splitter), tuple(found))
