"""How users are divided into parts: ranges of ids where ids are numbers, else by a hash of what is written alike.

Ranges come from a sample of the rows, so that parts have about the same number of them. Where every file is sorted by
user, which is looked at and not believed, a part is a slice of every file, found by a sparse index; else rows are
brought together on disk (``spill.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from unskew.engine.stream.files import PIECE, RowFile, Source
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.log.ids import hash_texts
from unskew.log.spelling import alike

STEP = 16_384  # rows between two entries of the index
SAMPLE = 32_768  # users that are looked at, where all are read
FEW = 16_000_000  # rows of a source up to which its users are read, which is quicker than slices
LOOKS = 64  # slices of a larger one that is not sorted
LOOK = 2_048  # rows of each


@dataclass(frozen=True, eq=False)
class Cuts:
    """Parts of the users.

    Args:
        count: how many there are.
        bounds: of ranges, the first id of every part but the first; ``None`` for hashes.
    """

    count: int
    bounds: Ints64 | None

    def of(self, users: pl.Series) -> Ints32:
        """The part of every row."""
        if self.count == 1:
            return np.zeros(len(users), dtype=np.int32)
        if self.bounds is not None:
            return np.searchsorted(self.bounds, users.to_numpy(), side="right").astype(np.int32)
        different = users.unique()
        part = (hash_texts(alike(different)) % np.uint64(self.count)).astype(np.int32)
        table = pl.DataFrame({"user": different, "part": part})
        found = pl.DataFrame({"user": users}).join(table, on="user", how="left", maintain_order="left")
        return found["part"].to_numpy()


@dataclass(frozen=True, eq=False)
class SortedFile:
    """The user of every so many rows of a file that is sorted by user."""

    file: RowFile
    users: Ints64

    def row_of(self, bound: int) -> int:
        """The first row whose user is not below a bound."""
        place = int(np.searchsorted(self.users, bound, side="left"))
        if place == 0:
            return 0
        start = (place - 1) * STEP
        rows = min(STEP, self.file.rows - start)
        return start + int(np.searchsorted(_numbers(self.file.slice(start, rows, ["user"])), bound, side="left"))


@dataclass(frozen=True, eq=False)
class Order:
    """What a look at the users of all inputs shows.

    Args:
        sample, weight: some of their ids, and how many rows each stands for; empty for texts.
        files: the index of every file, by input; ``None`` where any file is not sorted.
    """

    sample: Ints64
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
    if any(source.types["user"] != pl.Int64() for source in sources):
        return Order.unknown()
    samples: list[Ints64] = []
    weights: list[Floats] = []
    found: list[tuple[SortedFile, ...]] | None = []
    for source in sources:
        index = None if found is None else _sorted_files(source)
        if index is None:
            users, weight = _some_users(source)
        else:
            users, weight = np.concatenate([file.users for file in index]), float(STEP)
        samples.append(users)
        weights.append(np.full(len(users), weight))
        found = None if found is None or index is None else [*found, index]
    return Order(np.concatenate(samples), np.concatenate(weights), None if found is None else tuple(found))


def _sorted_files(source: Source) -> tuple[SortedFile, ...] | None:
    found = []
    for file in source.files:
        users, last = [], np.iinfo(np.int64).min
        for start in range(0, file.rows, PIECE - PIECE % STEP):
            frame = file.slice(start, min(PIECE - PIECE % STEP, file.rows - start), ["user"])
            if frame["user"].null_count() or not frame["user"].dtype.is_integer():
                return None
            numbers = _numbers(frame)
            if numbers[0] < last or (numbers[1:] < numbers[:-1]).any():
                return None
            users.append(numbers[::STEP])
            last = int(numbers[-1])
        found.append(SortedFile(file, np.concatenate(users) if users else np.empty(0, dtype=np.int64)))
    return tuple(found)


def _some_users(source: Source) -> tuple[Ints64, float]:
    """Users of evenly spaced rows, or of evenly spaced slices of many rows, and how many rows each stands for."""
    found = []
    few = source.rows <= FEW
    for file in source.files:
        step = PIECE if few else max(file.rows // max(1, LOOKS // len(source.files)), LOOK)
        for start in range(0, file.rows, step):
            frame = file.slice(start, min(step if few else LOOK, file.rows - start), ["user"])
            found.append(_numbers(frame)[:: source.rows // SAMPLE + 1 if few else 1])
    users = np.concatenate(found)
    return users, source.rows / max(len(users), 1)


def _numbers(frame: pl.DataFrame) -> Ints64:
    return frame["user"].cast(pl.Int64, strict=False).drop_nulls().to_numpy()
