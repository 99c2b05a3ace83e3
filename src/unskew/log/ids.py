"""Ids of any type, coded as 0 … n−1 in ascending order, and given back as they came.

The order depends on the ids alone, never on the order of rows or files. The identity of an id is its *text*: where
one file holds the integer 7 and another the text "7" they are the same user, in the same place of the order (whole
numbers first, as numbers), and the stable hash that breaks ties and drives the bootstrap is computed from that text
(FNV-1a, then a finaliser), so it is the same on every machine.

Most catalogues number their ids compactly; a look-up table over the range of the numbers then codes a column in one
pass. Texts are numbered, and found again, by a table of their hashes; scattered numbers go through a join.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.kernels.coding import look_up, mark
from unskew.kernels.hashing import hash_bytes
from unskew.kernels.texts import rename
from unskew.log.numbered_texts import TextTable, in_order, number, ordered, place, stable_hashes
from unskew.log.sorted_flags import without_sorted_flag

LATELY = 8  # vocabularies of texts that are remembered, as long as somebody has them

Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Ids:
    """A vocabulary of unique ids; the code of an id is its position in ``values``.

    Args:
        origin: the vocabulary of which this is a part, and the codes there: two parts of one vocabulary, such as the
            folds of a log, find each other's codes without comparing ids.
    """

    values: pl.Series
    origin: tuple[Ids, npt.NDArray[Any]] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, *ids: pl.Series) -> Ids:
        """Collect the distinct ids of some columns (text as soon as the columns disagree about the type)."""
        found = pl.concat(_agree(ids)).unique().rename("id")
        return cls(ordered(found) if found.dtype == pl.String else found.sort())

    @classmethod
    def union(cls, *vocabularies: Ids) -> Ids:
        """All ids of some vocabularies: the largest as it is, where it has them all."""
        largest = max(vocabularies, key=len)
        others = [ids for ids in vocabularies if ids is not largest]
        if all(ids.values.dtype == largest.values.dtype and (ids.into(largest) >= 0).all() for ids in others):
            return largest
        return cls.of(*(ids.values for ids in vocabularies))

    @classmethod
    def code(cls, ids: pl.Series) -> tuple[Ids, Codes]:
        """The vocabulary of one column without nulls, and the code of each of its rows.

        Categories are numbered already: only those that occur become texts.
        """
        labels = ids.dtype in (pl.Categorical, pl.Enum)
        column = ids if labels else _agree((ids,))[0]
        if column.dtype == pl.String:
            return cls._code_texts(column)
        numbers = column.to_physical().cast(pl.Int64) if labels else column
        span = _span(numbers, len(numbers))
        if span is None and labels:
            return cls._code_texts(column.cast(pl.String))
        if span is None:
            vocabulary = cls.of(column)
            return vocabulary, vocabulary.encode(column)
        low, size = span
        last = _last_rows(numbers, low, size)
        present = np.flatnonzero(last >= 0)
        values, codes = column.gather(last[present]).rename("id"), np.arange(len(present), dtype=np.int32)
        vocabulary, codes = cls.of_texts(values.cast(pl.String)) if labels else (cls(values), codes)
        table = np.full(size, -1, dtype=np.int32)
        table[present] = codes
        return vocabulary, _look_up(numbers, low, table)

    @classmethod
    def _code_texts(cls, column: pl.Series) -> tuple[Ids, Codes]:
        """The same of texts: numbered as they appear, then put in order."""
        firsts, numbers = number(column)
        vocabulary, codes = cls.of_texts(column.gather(firsts))
        rename(numbers, codes)
        return vocabulary, numbers

    @classmethod
    def of_texts(cls, texts: pl.Series, table: TextTable | None = None) -> tuple[Ids, Codes]:
        """The vocabulary of distinct texts, and the code of each.

        The files of one evaluation have most users, and often all items, in common: where a vocabulary that was made a
        moment ago has the same texts, it is taken, and nothing has to be sorted, nor compared later.

        Args:
            table: in which the texts have their rows as numbers.
        """
        for made in _made_lately(len(texts)):
            codes = None if made.values.dtype != pl.String or made._texts is None else made._texts.find(texts)
            if codes is not None and codes.min(initial=0) >= 0:
                return made, codes
        values, codes = in_order(without_sorted_flag(texts).rename("id"), table)
        vocabulary = cls(values)
        _lately.append(ref(vocabulary))
        return vocabulary, codes

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    @cached_property
    def hashes(self) -> Hashes:
        """A stable 64-bit hash of each id's text."""
        return hash_texts(self.values)

    def subset(self, codes: npt.NDArray[Any]) -> Ids:
        """Some of the ids, by ascending codes; hashes that are known are not computed again."""
        if len(codes) == len(self):
            return self
        whole, own = self.origin or (self, None)
        found = Ids(self.values.gather(codes), (whole, codes if own is None else own[codes]))
        found.__dict__["hashes"] = self.hashes[codes]
        return found

    def encode(self, ids: pl.Series) -> Codes:
        """Codes of the given ids, −1 where an id is unknown."""
        known, asked = _agree((self.values, ids))
        if asked.dtype == pl.String and asked.null_count() == 0 and self._texts is not None:
            found = self._texts.find(asked)
            if found is not None:
                return found
        if self._table is not None and asked.dtype == pl.Int64 and asked.null_count() == 0:
            return _look_up(asked, *self._table)
        span = _span(known, len(known) + len(asked)) if known.dtype == pl.Int64 else None
        if span is not None and asked.null_count() == 0:
            return _look_up(asked, *_codes_over(known, *span))
        codes = pl.DataFrame({"id": known, "code": np.arange(len(known), dtype=np.int32)})
        joined = pl.DataFrame({"id": asked}).join(codes, on="id", how="left", maintain_order="left")
        return joined["code"].fill_null(-1).to_numpy(writable=True)

    @cached_property
    def _texts(self) -> TextTable | None:
        """The texts of the ids, whose numbers are the codes; nothing where Arrow hands over no views."""
        table = TextTable(len(self))
        return None if table.number(without_sorted_flag(self.values).cast(pl.String)) is None else table

    @cached_property
    def _table(self) -> tuple[int, Codes] | None:
        """The codes over the range of the ids, where these are whole numbers without large gaps."""
        if not self.values.dtype.is_integer():
            return None
        (known,) = _agree((self.values,))
        span = _span(known, len(known)) if known.dtype == pl.Int64 else None
        return None if span is None else _codes_over(known, *span)

    def into(self, other: Ids) -> Codes:
        """For each of our codes, the code of the same id in ``other`` (−1 where it has none)."""
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        if other not in self._codes_in:
            self._codes_in[other] = self._compare(other)
        return self._codes_in[other].copy()

    @cached_property
    def _codes_in(self) -> WeakKeyDictionary[Ids, Codes]:
        """The codes in vocabularies that were asked about: an evaluation asks several times."""
        return WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """What another process is told: the ids, not what was found out about them on the way."""
        return {name: self.__dict__[name] for name in ("values", "origin", "hashes") if name in self.__dict__}

    def _compare(self, other: Ids) -> Codes:
        """``into``, worked out."""
        (whole, mine), (same, theirs) = self.origin or (self, None), other.origin or (other, None)
        if whole is same:
            codes = np.arange(len(other), dtype=np.int32)
            if theirs is not None:
                table = np.full(len(whole), -1, dtype=np.int32)
                table[theirs] = codes
                codes = table
            return codes if mine is None else codes[mine]
        if len(self) == len(other) and self.values.dtype == other.values.dtype and self.values.equals(other.values):
            return np.arange(len(self), dtype=np.int32)
        return other.encode(self.values)


def lesser(a: Any, b: Any) -> Any:
    """The id that comes before the other, either of which may be missing."""
    return min((one for one in (a, b) if one is not None), default=None, key=place)


_lately: deque[ref[Ids]] = deque(maxlen=LATELY)


def _made_lately(size: int) -> list[Ids]:
    """Vocabularies of so many ids that were made of texts lately, and are still there."""
    alive = [made for each in list(_lately) if (made := each()) is not None]
    return [made for made in alive if len(made) == size]


def _agree(columns: tuple[pl.Series, ...]) -> list[pl.Series]:
    """One common type: integers stay integers if 64 bits hold them, anything else or mixed becomes text."""
    plain = [without_sorted_flag(column) for column in columns]
    integers = [_as_int64(column) for column in plain if column.dtype.is_integer()]
    nulls = [column.null_count() for column in plain]
    if len(integers) == len(plain) and [column.null_count() for column in integers] == nulls:
        return integers
    return [column.cast(pl.String) for column in plain]


def _as_int64(column: pl.Series) -> pl.Series:
    """Whole numbers in 64 bits, null where these do not hold them; as they are where they have that type already."""
    return column if column.dtype == pl.Int64 else column.cast(pl.Int64, strict=False)


def _span(numbers: pl.Series, rows: int) -> tuple[int, int] | None:
    """Lowest number and size of the range, if a table over the range is no larger than a few columns of rows."""
    low, high = numbers.min(), numbers.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    size = high - low + 1
    return (low, size) if size <= 4 * rows + 1024 else None


def _codes_over(known: pl.Series, low: int, size: int) -> tuple[int, Codes]:
    """A table over a range with the code of each known number, −1 for all others."""
    table = np.full(size, -1, dtype=np.int32)
    table[known.to_numpy() - low] = np.arange(len(known), dtype=np.int32)
    return low, table


def _chunks(numbers: pl.Series) -> list[npt.NDArray[Any]]:
    """The pieces in which the column lies in memory, not copied and all read-only (one compilation for all)."""
    pieces = [chunk.to_numpy().view() for chunk in numbers.get_chunks()]
    for piece in pieces:
        piece.flags.writeable = False
    return pieces


def _last_rows(numbers: pl.Series, low: int, size: int) -> npt.NDArray[np.int64]:
    """For each number of the range the last row that holds it, −1 if there is none."""
    last = np.full(size, -1, dtype=np.int64)
    start = 0
    for piece in _chunks(numbers):
        if not mark(piece, low, start, last):
            raise changed()
        start += len(piece)
    return last


def _look_up(numbers: pl.Series, low: int, table: Codes) -> Codes:
    """The entry of a table over a range for each number, −1 outside the range."""
    out = np.empty(len(numbers), dtype=np.int32)
    start = 0
    for piece in _chunks(numbers):
        look_up(piece, low, table, out[start : start + len(piece)])
        start += len(piece)
    return out


def changed() -> InputError:
    """Look-up tables are sized by the rows: a row that does not fit was not there before."""
    return InputError(
        "the rows changed while they were read.\nTry again when nothing writes to them.", code="changed-rows"
    )


@lru_cache(maxsize=256)
def stream_of(purpose: str) -> int:
    """A seed for random numbers of one purpose, so that no other purpose draws the same ones."""
    return int(hash_texts(pl.Series([purpose]))[0])


def hash_texts(values: pl.Series) -> Hashes:
    """A stable hash of the text of each value; there must be no nulls."""
    texts = values.cast(pl.String)
    if (found := stable_hashes(texts)) is not None:
        return found
    out = np.empty(len(texts), dtype=np.uint64)
    joined = texts.str.join("").item() if len(texts) else ""
    data = np.frombuffer((joined or "").encode(), dtype=np.uint8)
    hash_bytes(data, np.cumsum(texts.str.len_bytes().to_numpy()).astype(np.int64), out)
    return out
