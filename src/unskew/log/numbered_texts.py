"""Number the texts of a column as they appear: 0 for the first, 1 for the next that differs, and so on."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.kernels.texts import fill_slots, number_texts
from unskew.log.arrow_texts import pieces

SLOTS = 1 << 12
SECRET = np.uint64(secrets.randbits(64))  # so that nobody can choose texts that fall together; no result depends on it


def number(texts: pl.Series) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Where each distinct text comes first, and the number of every row's text; there must be no nulls."""
    found = pieces(texts)
    out = np.empty(len(texts), dtype=np.int32)
    if found is None:
        return _by_polars(texts, out)
    table = _Table(SLOTS)
    known = start = 0
    for views, data, bases in found:
        row, here = 0, out[start : start + len(views)]
        while row < len(views):
            if 2 * known >= len(table.slots):
                table = table.wider(known)
            table.rows[-1] = start
            known, row = number_texts(views, data, bases, SECRET, row, *table.columns, known, here)
        start += len(views)
    return table.rows[:known].copy(), out


class _Table:
    """Slots, and columns for half as many texts: two words, and the row where it came first.

    One more row says where the piece begins.
    """

    def __init__(self, size: int) -> None:
        many = size // 2 + 1
        self.slots = np.full(size, -1, dtype=np.int32)
        self.first, self.second = np.empty(many, dtype=np.uint64), np.empty(many, dtype=np.uint64)
        self.rows = np.empty(many + 1, dtype=np.int64)

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """As the kernel takes them."""
        return self.slots, self.first, self.second, self.rows

    def wider(self, known: int) -> _Table:
        """The same texts in four times the slots."""
        found = _Table(4 * len(self.slots))
        for old, new in zip(self.columns[1:], found.columns[1:], strict=True):
            new[:known] = old[:known]
        fill_slots(found.first, found.second, known, SECRET, found.slots)
        return found


def _by_polars(texts: pl.Series, out: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The same by polars' dictionary, where Arrow does not hand over views."""
    out[:] = texts.cast(pl.Categorical).to_physical().to_numpy()
    numbers, firsts = np.unique(out, return_index=True)
    table = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int32)
    order = np.argsort(firsts)
    table[numbers[order]] = np.arange(len(order), dtype=np.int32)
    return np.sort(firsts), table[out]
