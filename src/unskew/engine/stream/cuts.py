"""How users are divided into parts: ranges of ids where ids are numbers, else by a hash of what is written alike.

Ranges come from a sample of the rows, so that parts have about the same number of them. Where every file is sorted by
user, which is looked at and not believed, a part is a slice of every file, found by a sparse index; else rows are
brought together on disk (``spill.py``). Texts are divided by ranges too where all files are sorted by them and none of
them could be written otherwise (``log/spelling.py``), as 'U7' or '07' could: users who are only written otherwise must
come together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.engine.stream.files import PIECE, RowFile, Source
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.coding import count_below
from unskew.log.ids import hash_texts
from unskew.log.spelling import alike

IdArray = npt.NDArray[Any]  # whole numbers, or texts
PIECES = 16  # 2^… pieces of the range of bounds: their table stays in the cache
STEP = 16_384  # rows between two entries of the index
SAMPLE = 32_768  # users that are looked at, where all are read
FEW = 16_000_000  # rows of a source up to which its users are read, which is quicker than slices
FIRST_LOOKS = 16  # slices that are looked at first
LOOKS = 64  # slices of a larger one that is not sorted
LOOK = 2_048  # rows of each
MIDDLE = (0.1, 0.9)  # quantiles of the users of a slice
ALIKE = 0.8  # of the reach of all slices together: what each of them reaches over, where they are alike


@dataclass(frozen=True, eq=False)
class Cuts:
    """Parts of the users.

    Args:
        count: how many there are.
        bounds: of ranges, the first id of every part but the first; ``None`` for hashes.
    """

    count: int
    bounds: IdArray | None

    def of(self, users: pl.Series) -> Ints32:
        """The part of every row."""
        if self.count == 1:
            return np.zeros(len(users), dtype=np.int32)
        if self._pieces is not None:
            parts = np.empty(len(users), dtype=np.int32)
            count_below(users.to_numpy(), *self._pieces, parts)
            return parts
        if self.bounds is not None:
            return np.searchsorted(self.bounds, users.to_numpy(), side="right").astype(np.int32)
        different = users.unique()
        part = (hash_texts(alike(different)) % np.uint64(self.count)).astype(np.int32)
        table = pl.DataFrame({"user": different, "part": part})
        found = pl.DataFrame({"user": users}).join(table, on="user", how="left", maintain_order="left")
        return found["part"].to_numpy()

    @cached_property
    def _pieces(self) -> tuple[Ints64, np.uint64, Ints64] | None:
        """Of numbers, the bounds, and how many of them lie before each of some thousand pieces of their range."""
        if self.bounds is None or self.bounds.dtype != np.int64:
            return None
        above = self.bounds.view(np.uint64) - self.bounds.view(np.uint64)[0]
        shift = np.uint64(max(0, int(above[-1]).bit_length() - PIECES))
        piece = (above >> shift).astype(np.int64)
        return self.bounds, shift, np.searchsorted(piece, np.arange(piece[-1] + 2), side="left")


@dataclass(frozen=True, eq=False)
class SortedFile:
    """The user of every so many rows of a file that is sorted by user."""

    file: RowFile
    users: IdArray

    def row_of(self, bound: int | str) -> int:
        """The first row whose user is not below a bound."""
        place = int(np.searchsorted(self.users, bound, side="left"))
        if place == 0:
            return 0
        start = (place - 1) * STEP
        rows = min(STEP, self.file.rows - start)
        ids = self.file.slice(start, rows, ["user"])["user"]
        return start + int((ids < bound).sum())


@dataclass(frozen=True, eq=False)
class Order:
    """What a look at the users of all inputs shows.

    Args:
        sample, weight: some of their ids, and how many rows each stands for; empty for texts that are not sorted.
        files: the index of every file, by input; ``None`` where any file is not sorted.
    """

    sample: IdArray
    weight: Floats
    files: tuple[tuple[SortedFile, ...], ...] | None

    @classmethod
    def unknown(cls) -> Order:
        """Nobody has looked: parts are made by hashes."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), None)

    def cuts(self, parts: int) -> Cuts:
        """So many parts of about the same number of rows, at most."""
        if not len(self.sample):
            return Cuts(parts, None)
        order = np.argsort(self.sample, kind="stable")
        users, below = self.sample[order], np.cumsum(self.weight[order])
        wanted = np.arange(1, parts) / parts * below[-1]
        bounds = np.unique(users[np.searchsorted(below, wanted)])
        return Cuts(len(bounds) + 1, bounds)


def look_at_users(sources: Sequence[Source]) -> Order:
    """Whether all files are sorted by user, and where their users lie."""
    texts = any(source.types["user"] != pl.Int64() for source in sources)
    samples: list[IdArray] = []
    weights: list[Floats] = []
    found: list[tuple[SortedFile, ...]] | None = []
    for source in sources:
        index = None if found is None else _sorted_files(source, texts)
        if index is None and texts:
            return Order.unknown()
        if index is None:
            users, weight = _some_users(source)
        else:
            users, weight = np.concatenate([file.users for file in index]), float(STEP)
        samples.append(users)
        weights.append(np.full(len(users), weight))
        found = None if found is None or index is None else [*found, index]
    return Order(np.concatenate(samples), np.concatenate(weights), None if found is None else tuple(found))


def _sorted_files(source: Source, texts: bool) -> tuple[SortedFile, ...] | None:
    found = []
    for file in source.files:
        users: list[IdArray] = []
        last: Any = None
        for start in range(0, file.rows, PIECE - PIECE % STEP):
            ids = file.slice(start, min(PIECE - PIECE % STEP, file.rows - start), ["user"])["user"]
            fits = ids.dtype == pl.String if texts else ids.dtype.is_integer()
            if not fits or ids.null_count() or not _ascend(ids, last, texts):
                return None
            some = ids.gather_every(STEP)
            users.append(some.to_numpy() if texts else _numbers(some))
            last = ids[-1]
        found.append(SortedFile(file, np.concatenate(users) if users else np.empty(0, dtype=np.int64)))
    return tuple(found)


def _ascend(ids: pl.Series, last: Any, texts: bool) -> bool:
    """Whether ids ascend from the last one before them, and texts among them are written in the only way."""
    if (last is not None and ids[0] < last) or (ids[1:] < ids[:-1]).any():
        return False
    if not texts:
        return True
    different = ids.filter(ids.ne_missing(ids.shift(1)))
    return bool((alike(different) == different).all())


def _some_users(source: Source) -> tuple[Ints64, float]:
    """Some users, and how many rows each stands for.

    Those of a few evenly spaced slices, where these look alike, as they do in files in no order. Else users lie close
    together, and a few places say little of the others: those of evenly spaced rows, or, of many rows, of more slices.
    """
    found = _slices(source, FIRST_LOOKS)
    if not _look_alike(found):
        found = _spaced(source) if source.rows <= FEW else _slices(source, LOOKS)
    users = np.concatenate(found)
    return users, source.rows / max(len(users), 1)


def _slices(source: Source, count: int) -> list[Ints64]:
    """The users of about so many slices."""
    found = []
    for file in source.files:
        step = max(file.rows // max(1, count // len(source.files)), LOOK)
        for start in range(0, file.rows, step):
            found.append(_numbers(file.slice(start, min(LOOK, file.rows - start), ["user"])["user"]))
    return found


def _spaced(source: Source) -> list[Ints64]:
    """The users of every so many rows."""
    found = []
    for file in source.files:
        for start in range(0, file.rows, PIECE):
            ids = file.slice(start, min(PIECE, file.rows - start), ["user"])["user"]
            found.append(_numbers(ids)[:: source.rows // SAMPLE + 1])
    return found


def _look_alike(slices: Sequence[Ints64]) -> bool:
    """Whether the middle of every slice reaches over most of where the middle of all of them lies."""
    full = [users for users in slices if len(users) >= LOOK // 2]
    if len(full) < FIRST_LOOKS // 2 or len(full) < len(slices) - 1:
        return False
    low, high = np.quantile(np.concatenate(full), MIDDLE)
    ends = np.array([np.quantile(users, MIDDLE) for users in full])
    reach = np.minimum(ends[:, 1], high) - np.maximum(ends[:, 0], low)
    return bool((reach >= ALIKE * (high - low)).all())


def _numbers(ids: pl.Series) -> Ints64:
    return ids.cast(pl.Int64, strict=False).drop_nulls().to_numpy()
