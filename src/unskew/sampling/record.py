"""What a sample of files was: its size, its skew before and after, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unskew.core.showing import Shown
from unskew.sampling.evenness import Side

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class SampleSummary(Shown):
    """A sample that was written to a file.

    Args:
        source, out: the files read and written.
        strategy: its canonical string.
        seed: which sample it is.
        rows: rows read.
        kept: rows written.
        share: the chance of every row, where it is the same for all.
        repeated: rows whose user, item and time stood in an earlier row.
        train, mcar: the files that users and items were counted on.
        users, items: how evenly rows are spread.
        notes: what a reader should know.
    """

    source: str
    out: str
    strategy: str
    seed: int
    rows: int
    kept: int
    share: float | None
    repeated: int
    train: str | None
    mcar: str | None
    users: Side
    items: Side
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        found: Mapping[str, Any] = asdict(self)
        return {"schema_version": SCHEMA_VERSION, **found}

    def _made_from(self) -> list[Path]:
        return [Path(name) for name in (self.source, self.train, self.mcar, self.out) if name is not None]

    def __repr__(self) -> str:
        return (
            f"<SampleSummary {self.kept:,} of {self.rows:,} rows by {self.strategy}; KL of items "
            f"{self.items.before.kl_bits:.2f} → {self.items.after.kl_bits:.2f} bits; .to_html()>"
        )
