"""What the folds of a log are, as plain data: for tables, pictures and manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from unskew.core.showing import Shown
from unskew.split.windows import Window

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class FoldSummary:
    """One fold.

    Args:
        label: what it is called.
        train_rows, test_rows: how many rows train and are held out.
        users: who is judged, where that was counted.
        window: from when to when it judges, where time decides.
        left_out: rows that could have been held out and are not, by reason.
        files: where its parts were written.
    """

    label: str
    train_rows: int
    test_rows: int
    users: int | None = None
    window: Window | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """A fold that is not judged.

    Args:
        label: what it would have been called.
        reason: why it is not judged, as a phrase.
        users: users who could have been judged in it.
        rows: rows that fall into it.
        window: from when to when it would have judged.
    """

    label: str
    reason: str
    users: int
    rows: int
    window: Window | None = None


@dataclass(frozen=True)
class SplitSummary(Shown):
    """The folds of a log.

    Args:
        source: what was split.
        splitter: the canonical string of the way of splitting.
        rows: of the log.
        dropped: rows that were read and are not in the log, by reason.
        share: the probability with which a row was held out, where it is the same for all.
        times: what the log's times are (``datetime``, ``Unix seconds``, …), and ``per_second`` how many make a second.
        first: the first time of the log.
        zoned: whether a time is a moment, the same all over the world.
        folds, skipped: in the order of time where time decides.
        notes: what a reader should know, as sentences.
    """

    source: str
    splitter: str
    rows: int
    dropped: Mapping[str, int]
    share: float | None
    times: str | None
    per_second: int | None
    first: int | None
    zoned: bool
    folds: tuple[FoldSummary, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    def _made_from(self) -> list[Path]:
        return [Path(self.source)]

    def __repr__(self) -> str:
        skipped = f", {len(self.skipped):,} skipped" if self.skipped else ""
        return f"<SplitSummary {self.splitter} of {self.rows:,} rows: {len(self.folds):,} folds{skipped}; .plot()>"
