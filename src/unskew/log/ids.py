"""Ids of any type, coded as 0 … n−1 in ascending order, and given back as they came.

The order depends on the ids alone, never on the order of rows or files. The identity of an id is its *text*: where
one file holds the integer 7 and another the text "7" they are the same user, and the stable hash that breaks ties
and drives the bootstrap is computed from that text (FNV-1a, then a finaliser), so it is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.hashing import hash_texts

Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Ids:
    """A vocabulary of unique ids; the code of an id is its position in ``values``."""

    values: pl.Series

    @classmethod
    def of(cls, *ids: pl.Series) -> Ids:
        """Collect the distinct ids of some columns (text as soon as the columns disagree about the type)."""
        return cls(pl.concat(_agree(ids)).unique().sort().rename("id"))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def hashes(self) -> Hashes:
        """A stable 64-bit hash of each id's text."""
        return hash_texts(self.values)

    def encode(self, ids: pl.Series) -> Codes:
        """Codes of the given ids, −1 where an id is unknown."""
        known, asked = _agree((self.values, ids))
        table = pl.DataFrame({"id": known, "code": np.arange(len(known), dtype=np.int32)})
        found = pl.DataFrame({"id": asked}).join(table, on="id", how="left", maintain_order="left")
        return found["code"].fill_null(-1).to_numpy()

    def into(self, other: Ids) -> Codes:
        """For each of our codes, the code of the same id in ``other`` (−1 where it has none)."""
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        return other.encode(self.values)


def _agree(columns: tuple[pl.Series, ...]) -> list[pl.Series]:
    """One common type: integers stay integers, anything mixed becomes text."""
    kinds = {"integer" if c.dtype.is_integer() else str(c.dtype) for c in columns}
    if kinds == {"integer"}:
        return [c.cast(pl.Int64) for c in columns]
    return [c.cast(pl.String) for c in columns] if len(kinds) > 1 else list(columns)
