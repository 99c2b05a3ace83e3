"""Number the texts of a column as they appear, find them again, and hash them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.texts import BATCH, HALF, INLINE, SPARSE, hash_views, mark_unusual, move_slots, number_texts
from unskew.log.arrow_texts import Piece, pieces

SLOTS = 1 << 13
LARGEST = SPARSE << 27  # slots: numbers + 1 have 28 bits
STRETCH = 4  # at least 2^4 bytes of a buffer have one entry in what is remembered of it
NONE = 32  # as the length of a stretch: nothing is remembered
SAMPLED = 64  # rows of a piece, about, that tell how long its texts are
SECRET = np.uint64(secrets.randbits(64))  # so that nobody can choose texts that fall together; no result depends on it
_LARGEST = 2**63
_WHOLE = re.compile("0|-?[1-9][0-9]{0,18}")

Numbers = npt.NDArray[np.int32]


def number(texts: pl.Series) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Where each distinct text comes first, and the number of every row's text; there must be no nulls."""
    table = TextTable()
    out = table.number(texts)
    return (table.rows[: table.known].copy(), out) if out is not None else _by_polars(texts)


def ordered(texts: pl.Series) -> pl.Series:
    """Texts in the order of ids: whole numbers as numbers, before all others.

    So '9' comes before '10', as 9 before 10: ids have the same order whether a file holds them as numbers or as texts.
    """
    numbers = texts.cast(pl.Int64, strict=False)
    if numbers.null_count() == len(texts):
        return texts.sort()
    whole = (numbers.cast(pl.String) == texts).fill_null(False)
    return pl.concat([numbers.filter(whole).sort().cast(pl.String), texts.filter(~whole).sort()])


def place(one: object) -> tuple[bool, int, str]:
    """Where an id has its place in that order: what it may be compared by."""
    text = str(one)
    number = int(text) if _WHOLE.fullmatch(text) else _LARGEST
    return (False, number, "") if -_LARGEST <= number < _LARGEST else (True, 0, text)


def in_order(texts: pl.Series, table: TextTable | None = None) -> tuple[pl.Series, Numbers]:
    """Distinct texts in the order of ids, and the place there of each.

    To sort them and look each up is several times as fast as to ask polars for the order.

    Args:
        table: in which the texts have their rows as numbers.
    """
    if table is None:
        table = TextTable(len(texts))
        if table.number(texts) is None:
            table = None
    found = ordered(texts)
    order = None if table is None else table.find(found)
    if order is None:
        rows = pl.DataFrame({"id": texts, "row": np.arange(len(texts))})
        order = pl.DataFrame({"id": found}).join(rows, on="id", how="left", maintain_order="left")["row"].to_numpy()
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return found, places


class TextTable:
    """Distinct texts and their numbers.

    Slots, and for half as many texts the row where each came first; one more row says where the piece that is
    looked at begins.

    Args:
        expected: so many texts have room from the start.
    """

    def __init__(self, expected: int = 0) -> None:
        self.known, self._secret = 0, SECRET
        self._seen = np.zeros(0, dtype=np.uint64)
        self._make(min(LARGEST, max(SLOTS, SPARSE << (expected + BATCH).bit_length())))

    def number(self, texts: pl.Series, out: Numbers | None = None) -> Numbers | None:
        """The number of every row's text, a new one where it is new.

        Nothing where Arrow hands over no views, or where there are too many texts.

        Args:
            out: where numbers are written, if there is a place for them.
        """
        return self._walk(texts, True, out)

    def find(self, texts: pl.Series) -> Numbers | None:
        """The number of every row's text, −1 where it has none; nothing where Arrow hands over no views."""
        return self._walk(texts, False)

    def _walk(self, texts: pl.Series, grow: bool, out: Numbers | None = None) -> Numbers | None:
        found = pieces(texts)
        if found is None:
            return None
        out, start = np.empty(len(texts), dtype=np.int32) if out is None else out, 0
        for piece in found:
            row, here = 0, out[start : start + len(piece.views)]
            places, shift, many = _stretches(piece)
            seen = self._forgotten(many) if grow else np.zeros(many, dtype=np.uint64)  # several threads may look up
            self.rows[-1] = start
            while row < len(here):
                if grow and SPARSE * (self.known + BATCH) > len(self._slots) and not self._widen():
                    return None
                memory, table = (places, shift, seen), (self._slots, self.rows)
                self.known, row = number_texts(
                    piece.views, piece.buffers, *memory, self._secret, row, *table, self.known, grow, here
                )
            start += len(here)
        return out

    def _forgotten(self, size: int) -> npt.NDArray[np.uint64]:
        """Room for what is remembered of a piece, and nothing in it: places of another piece say nothing of this."""
        if len(self._seen) < size:
            self._seen = np.zeros(size, dtype=np.uint64)
        else:
            self._seen[:size] = 0
        return self._seen[:size]

    def _make(self, size: int) -> None:
        self._slots = np.zeros((size, 2), dtype=np.uint64)
        self.rows = np.empty(size // SPARSE + 2, dtype=np.int64)

    def _widen(self) -> bool:
        """The same texts in four times the slots, so that they seldom move; whether there can be more."""
        slots, rows = self._slots, self.rows
        if len(slots) >= LARGEST:
            return False
        self._make(min(4 * len(slots), LARGEST))
        self.rows[: self.known], self.rows[-1] = rows[: self.known], rows[-1]
        move_slots(slots, self._secret, self._slots)
        return True


def _stretches(piece: Piece) -> tuple[npt.NDArray[np.uintp], np.uint64, int]:
    """Where in ``seen`` each buffer's entries begin, how long a stretch is (2^shift bytes), and how many entries.

    About two entries for a row at most. Nothing is remembered where the buffers hold a text for about every row, as
    without a dictionary: then none is met again at its place.
    """
    lengths = piece.views[:: len(piece.views) // SAMPLED + 1, 0] & HALF
    total, shift = int(piece.sizes.sum()), STRETCH
    if 2 * total * len(lengths) >= len(piece.views) * int(lengths[lengths > INLINE].sum()):
        return np.zeros(len(piece.sizes), dtype=np.uintp), np.uint64(NONE), 1
    while total >> shift > 2 * len(piece.views):
        shift += 1
    ends = np.cumsum((piece.sizes >> shift) + 1)
    return np.append(0, ends[:-1]).astype(np.uintp), np.uint64(shift), int(ends[-1])


def stable_hashes(texts: pl.Series) -> npt.NDArray[np.uint64] | None:
    """The hash of every row's text, the same on every machine; nothing where Arrow hands over no views."""
    out = np.empty(len(texts), dtype=np.uint64)
    return out if _by_views(texts, hash_views, out) else None


def unusual(texts: pl.Series) -> pl.Series:
    """The texts with a blank, a sign before it or one beyond ASCII; all where Arrow hands over no views."""
    out = np.empty(len(texts), dtype=np.bool_)
    if not _by_views(texts, mark_unusual, out):
        return texts
    return texts.filter(pl.Series(out)) if out.any() else texts.clear()


def _by_views(texts: pl.Series, kernel: Callable[..., None], out: npt.NDArray[Any]) -> bool:
    """Fill ``out`` with what a kernel makes of every row's view; whether Arrow hands over views."""
    found = pieces(texts)
    if found is None:
        return False
    start = 0
    for views, buffers, _ in found:
        kernel(views, np.uint64(views.ctypes.data), buffers, out[start : start + len(views)])
        start += len(views)
    return True


def _by_polars(texts: pl.Series) -> tuple[npt.NDArray[np.int64], Numbers]:
    """The same by polars' dictionary, where Arrow does not hand over views."""
    out = texts.cast(pl.Categorical).to_physical().cast(pl.Int32).to_numpy()
    numbers, firsts = np.unique(out, return_index=True)
    table = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int32)
    order = np.argsort(firsts)
    table[numbers[order]] = np.arange(len(order), dtype=np.int32)
    return np.sort(firsts), table[out]
