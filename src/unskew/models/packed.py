"""Factors of users and items as the screen reads them: in single precision, scaled, items by their length.

Factors and offsets are scaled so that no entry is above 1: single precision then neither overflows nor loses anything
that counts, whatever the scale of the factors. With e the largest error of a screened score,

    |v̂·ŵ_i − s_i| ≤ e = (D + 8)·2⁻²⁴ ‖v̂‖ max_i ‖ŵ_i‖        D columns: factors, and offsets if any
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.kernels.panels import PANEL
from unskew.log.ids import Codes, Hashes
from unskew.log.log import Floats

BITS = 1 << 26  # of excluded items, held at once
TINY = 1e-290  # a largest product below it, and scores in double precision are no longer exact either
LINE = 64  # bytes of a line of the cache, at whose start arrays begin

Singles = npt.NDArray[np.float32]


class Wide(NamedTuple):
    """Some users: single-precision factors, their lengths, 2e of each, and what factors were divided by."""

    factors: Singles
    length: Floats
    error: Singles
    largest: Floats


class Packed:
    """The factors of users and items, packed in panels of items.

    Args:
        rows: of each user the row of factors; −1 is a user without factors, for whom the offsets rank.
        left, right: a row of factors per user, and one per item.
        offsets: of the items.
        hashes: of users and items, by which ties are broken.
    """

    def __init__(
        self, rows: Codes, left: Floats, right: Floats, offsets: Floats, hashes: tuple[Hashes, Hashes]
    ) -> None:
        self.rows, self.left, self.right, self.offsets = rows, left, np.ascontiguousarray(right), offsets
        self.users, self.items = hashes
        self.scale, self.level = (float(np.abs(part).max(initial=0.0)) for part in (right, offsets))
        lengths = np.square(right / (self.scale or 1.0)).sum(axis=1) + np.square(offsets / (self.level or 1.0))
        self.order = self._arranged(np.argsort(-lengths, kind="stable").astype(np.int32))
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(self.order), dtype=np.int32)
        self.longest = np.sqrt(lengths[self.order[::PANEL]]) * (1.0 + 1e-6)  # the first of every panel, rounded up
        self.panels = self._panels()

    def wide(self, rows: Codes) -> Wide:
        """Some users as the screen reads them."""
        dim = self.right.shape[1]
        wide = np.zeros((len(rows), self.panels.shape[1]))
        known = rows >= 0
        wide[known, :dim] = self.left[rows[known]] * self.scale
        if self.level > 0.0:
            wide[:, dim] = self.level
        largest = np.abs(wide).max(axis=1, initial=0.0)
        divisor = np.where(largest > 0.0, largest, 1.0)
        wide /= divisor[:, None]
        bound = (wide.shape[1] + 8) * 2.0**-24 * self.longest[0]
        lengths = np.sqrt(np.square(wide).sum(axis=1)) * (1.0 + 1e-6)
        error = np.where(largest < TINY, np.inf, 2.0 * bound * lengths)  # where products lose digits, nothing is known
        return Wide(wide.astype(np.float32), lengths, error.astype(np.float32), divisor)

    def _arranged(self, order: Codes) -> Codes:
        """The order of the items, given the one by length."""
        return order

    def _panels(self) -> Singles:
        """Single-precision factors of items in their order, a panel after the other, zeros behind the last."""
        items, dim = self.right.shape
        columns = dim + (self.level > 0.0)
        panels = aligned((-(-items // PANEL), max(1, columns), PANEL), np.float32)
        panels[:] = 0.0
        for number, first in enumerate(range(0, items, PANEL)):
            chosen = self.order[first : first + PANEL]
            panels[number, :dim, : len(chosen)] = (self.right[chosen] / (self.scale or 1.0)).T
            if self.level > 0.0:
                panels[number, dim, : len(chosen)] = self.offsets[chosen] / self.level
        return panels


def finite(left: Floats, right: Floats, offsets: Floats) -> bool:
    """Whether no score can leave the range of numbers, so that factors can be scaled."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = right.shape[1] * np.abs(left).max(initial=0.0) * np.abs(right).max(initial=0.0)
        return bool(np.isfinite(largest + np.abs(offsets).max(initial=0.0)))


def aligned(shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
    """An array that begins at a line of the cache, so that no vector lies across two."""
    many = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(many + LINE, dtype=np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + many].view(dtype).reshape(shape)
