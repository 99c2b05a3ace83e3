"""Lists of a large Parquet file, coded piece by piece while the next pieces are decoded.

Only files without a doubt are read like that: one user after the other, ranks that ascend, every item once, no nulls.
At the first row that is otherwise the file is left to ``lists_of``, which puts rows in order, drops and counts, or says
what is wrong; the lists are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.list_pieces import lay_runs, number_heads, number_ids, view_heads
from unskew.kernels.texts import rename
from unskew.log.arrow_texts import pieces
from unskew.log.columns import padded_id
from unskew.log.ids import Codes, Ids
from unskew.log.numbered_texts import TextTable
from unskew.log.order import closed_ranks, starts_of

MANY = 100_000  # rows that are worth it
SHORTEST = 2  # rows of a list on average: what lies less together is not read like that
HIGHEST = 2**31 - 1  # rank
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)  # all of which 64 bits hold

Numbers = npt.NDArray[np.int64]
Read = Callable[[Sequence[str]], Iterable[pl.DataFrame]]  # columns of the file in pieces, in the order of the rows


class CodedLists(NamedTuple):
    """Lists that are in order: their vocabularies, where each user's entries begin, and the entries."""

    users: Ids
    items: Ids
    indptr: Numbers
    item: Codes
    rank: Codes


def fit_for_pieces(schema: pl.Schema) -> bool:
    """Whether the columns are of types that can be read piece by piece."""
    if set(schema) != {"user", "item", "rank"} or schema["rank"] not in INTEGERS:
        return False
    return all(schema[name] in (*INTEGERS, pl.String, pl.Categorical, pl.Enum) for name in ("user", "item"))


def code_pieces(read: Read, rows: int) -> CodedLists | None:
    """The lists of ``rows`` rows that come in pieces; nothing where a row is not as it should be.

    Users are read first. Where each list has its place is known then, and its entries are put there at once, whatever
    the order of users in the file. Ranks are kept where they do not just run 1, 2, 3, ….
    """
    found = _runs(read(["user"]), rows)
    if found is None:
        return None
    (users, user), starts = found
    if len(users) != len(user) or _doubtful(users):
        return None
    lengths = np.empty(len(users), dtype=np.int64)
    lengths[user] = np.diff(starts)
    indptr = starts_of(lengths)
    for kept in (0, rows):
        rank = np.empty(kept, dtype=np.int32)
        entries = _entries(read(["item", "rank"]), starts, indptr[user], rank)
        if entries is not None:
            return CodedLists(users, entries[0], indptr, entries[1], rank if kept else closed_ranks(indptr))
    return None


def _runs(frames: Iterable[pl.DataFrame], rows: int) -> tuple[tuple[Ids, Codes], Numbers] | None:
    """The users, the code of every run's, and the rows where runs begin, and where the last ends."""
    users: Heads | None = None
    starts: list[Numbers] = []
    row = runs = 0
    for frame in frames:
        column = frame["user"]
        users = users or _heads(column.dtype)
        begun = None if column.null_count() or row + len(column) > rows else users.begun(column)
        if begun is None:
            return None
        starts.append(begun + row)
        row, runs = row + len(column), runs + len(begun)
        if SHORTEST * runs > row:
            return None
    return None if users is None or row != rows else (users.ids(), np.concatenate([*starts, [rows]]))


def _entries(frames: Iterable[pl.DataFrame], starts: Numbers, places: Numbers, rank: Codes) -> tuple[Ids, Codes] | None:
    """The items, and the item of every entry, those of each run from its place on; ``rank`` is filled in, if it can."""
    rows, items = int(starts[-1]), None
    item = np.empty(rows, dtype=np.int32)
    carried, stamp = np.array([-1, 0]), np.empty(0, dtype=np.int32)
    numbers, row = np.empty(0, dtype=np.int32), 0
    for frame in frames:
        items = items or _items(frame["item"].dtype, rows)
        if len(numbers) < len(frame):
            numbers = np.empty(len(frame), dtype=np.int32)
        here = numbers[: len(frame)]
        if row + len(frame) > rows or any(column.null_count() for column in frame):
            return None
        if not items.number(frame["item"], here):
            return None
        if items.known > len(stamp):
            stamp = np.append(stamp, np.full(2 * items.known - len(stamp), -1, dtype=np.int32))
        if not lay_runs(starts, places, row, here, _array(frame["rank"]), HIGHEST, carried, stamp, item, rank):
            return None
        row += len(frame)
    if items is None or row != rows:
        return None
    ids, names = items.ids()
    if _doubtful(ids):
        return None
    rename(item, names)
    return ids, item


def _doubtful(ids: Ids) -> bool:
    return ids.values.dtype == pl.String and (padded_id(ids) is not None or bool((ids.values == "").any()))


def _array(column: pl.Series) -> Numbers:
    """Whole numbers, not copied where they lie together, and always read-only (one compilation for all)."""
    numbers = column.cast(pl.Int64).to_numpy().view()
    numbers.flags.writeable = False
    return numbers


def _at_least(room: Numbers, size: int) -> Numbers:
    """The same room, or a larger one: what is asked for and given back for every piece is cleared every time."""
    return room if len(room) >= size else np.empty(size, dtype=np.int64)


class Heads(Protocol):
    """The users of runs, in the order of the rows."""

    def begun(self, column: pl.Series) -> Numbers | None:
        """The rows of the next piece where another user begins; nothing where that cannot be seen."""
        ...

    def ids(self) -> tuple[Ids, Codes]:
        """The users, and the code of every run's."""
        ...


def _heads(dtype: pl.DataType) -> Heads:
    return NumberHeads() if dtype.is_integer() else TextHeads()


class NumberHeads:
    """Users that are whole numbers."""

    def __init__(self) -> None:
        self._heads: list[Numbers] = []
        self._room = np.empty(0, dtype=np.int64)

    def begun(self, column: pl.Series) -> Numbers | None:
        """The rows of the next piece where another user begins."""
        numbers = _array(column)
        self._room = _at_least(self._room, len(numbers) + 1)
        rows = self._room[: number_heads(numbers, self._room)].copy()
        if self._heads and len(rows) and numbers[0] == self._heads[-1][-1]:
            rows = rows[1:]
        if len(rows):
            self._heads.append(numbers[rows])
        return rows

    def ids(self) -> tuple[Ids, Codes]:
        """The users, and the code of every run's."""
        return Ids.code(pl.Series(np.concatenate(self._heads)))


class TextHeads:
    """Users that are texts: those of a piece are numbered where another view stands than in the row before."""

    def __init__(self) -> None:
        self._table, self._last = TextTable(), -1
        self._heads: list[pl.Series] = []
        self._room = np.empty(0, dtype=np.int64)

    def begun(self, column: pl.Series) -> Numbers | None:
        """The rows of the next piece where another user begins; nothing where Arrow hands over no views."""
        found = pieces(column)
        if found is None:
            return None
        heads, start = [], 0
        for views, *_ in found:
            self._room = _at_least(self._room, len(views) + 1)
            heads.append(self._room[: view_heads(views, self._room)] + start)
            start += len(views)
        rows = np.concatenate(heads) if heads else np.empty(0, dtype=np.int64)
        texts = column[rows]
        numbers = self._table.number(texts)
        if numbers is None:
            return None
        new = np.diff(numbers, prepend=self._last) != 0
        if len(numbers):
            self._last = int(numbers[-1])
        self._heads.append(texts if new.all() else texts.filter(pl.Series(new)))
        begun: Numbers = rows[new]
        return begun

    def ids(self) -> tuple[Ids, Codes]:
        """The users, and the code of every run's."""
        heads = pl.concat(self._heads)
        return Ids.code(heads) if self._table.known < len(heads) else Ids.of_texts(heads, self._table)


class Items(Protocol):
    """Items, numbered as they appear."""

    @property
    def known(self) -> int:
        """How many there are."""
        ...

    def number(self, column: pl.Series, out: Codes) -> bool:
        """Fill in the numbers of the next piece, if that can be done."""
        ...

    def ids(self) -> tuple[Ids, Codes]:
        """The items, and the code of every number."""
        ...


def _items(dtype: pl.DataType, rows: int) -> Items:
    return NumberItems(rows) if dtype.is_integer() else TextItems()


class NumberItems:
    """Items that are whole numbers, over a table of their range: no larger than a few columns of rows."""

    def __init__(self, rows: int) -> None:
        self.known, self._most = 0, 4 * rows + 1024
        self._low, self._table = 0, np.empty(0, dtype=np.int32)
        self._values = np.empty(0, dtype=np.int64)

    def number(self, column: pl.Series, out: Codes) -> bool:
        """Fill in the numbers of the next piece, unless they are scattered too widely."""
        numbers, row = _array(column), 0
        while row < len(numbers):
            self.known, row = number_ids(numbers, row, self._low, self._table, self.known, self._values, out)
            if row < len(numbers) and not self._widen(int(numbers.min()), int(numbers.max())):
                return False
        return True

    def _widen(self, low: int, high: int) -> bool:
        """Make the table reach from ``low`` to ``high`` as well."""
        size = len(self._table)
        if size:
            low, high = min(low, self._low), max(high, self._low + size - 1)
        if high - low + 1 > self._most:
            return False
        table, values = np.full(high - low + 1, -1, dtype=np.int32), np.empty(high - low + 1, dtype=np.int64)
        table[self._low - low : self._low - low + size] = self._table
        values[: self.known] = self._values[: self.known]
        self._low, self._table, self._values = low, table, values
        return True

    def ids(self) -> tuple[Ids, Codes]:
        """The items, and the code of every number."""
        return Ids.code(pl.Series(self._values[: self.known]))


class TextItems:
    """Items that are texts."""

    def __init__(self) -> None:
        self._table = TextTable()
        self._values: list[pl.Series] = []

    @property
    def known(self) -> int:
        """How many there are."""
        return self._table.known

    def number(self, column: pl.Series, out: Codes) -> bool:
        """Fill in the numbers of the next piece, unless Arrow hands over no views."""
        before = self._table.known
        if self._table.number(column, out) is None:
            return False
        if self._table.known > before or not self._values:
            self._values.append(column[self._table.rows[before : self._table.known]])
        return True

    def ids(self) -> tuple[Ids, Codes]:
        """The items, and the code of every number."""
        return Ids.of_texts(pl.concat(self._values), self._table)
