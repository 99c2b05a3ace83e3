"""Lists from factors, screened in single precision and decided in double (``kernels/screened.py``: why they are exact).

Factors and offsets are scaled so that no entry is above 1: single precision then neither overflows nor loses anything
that counts, whatever the scale of the factors. With e the largest error of a screened score,

    |v̂·ŵ_i − s_i| ≤ e = (D + 8)·2⁻²⁴ ‖v̂‖ max_i ‖ŵ_i‖        D columns: factors, and offsets if any

Items come by the length of their factors, longest first: most of the best are among the first, and few later ones reach
the k-th best so far. Users for whom too many items are nearly tied are left to double precision alone.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.kernels.panels import FOUR, PANEL
from unskew.kernels.screened import top_k_screened
from unskew.kernels.topk import SEED
from unskew.log.ids import Codes, Hashes
from unskew.log.log import Floats, Integers
from unskew.log.order import starts_of
from unskew.models.by_length import ByLength

FEWEST_ITEMS = 2048  # below them nothing is gained
FEWEST_USERS = 32  # the factors of items are packed once for so many
USERS = 256  # whose candidates are held at once, fewer where lists are long
PLACES = 1 << 17  # candidates held at once
BITS = 1 << 26  # of excluded items, held at once
EVERY = 10  # of which one is in the sample
TINY = 1e-290  # a largest product below it, and scores in double precision are no longer exact either
LINE = 64  # bytes of a line of the cache, at whose start arrays begin


class Screen:
    """The factors of users and items, packed for the screen; ``block`` users are worked off together.

    Args:
        rows: of each user the row of factors; −1 is a user without factors, for whom the offsets rank.
        left, right: a row of factors per user, and one per item.
        offsets: of the items.
        hashes: of users and items, by which ties are broken.
    """

    def __init__(
        self,
        rows: Codes,
        left: Floats,
        right: Floats,
        offsets: Floats,
        hashes: tuple[Hashes, Hashes],
        k: int,
    ) -> None:
        self.rows, self.left, self.right, self.offsets = rows, left, np.ascontiguousarray(right), offsets
        self.users, self.items = hashes
        self.k = k
        self.room = -(-(max(2 * k, k + 2 * PANEL) + PANEL) // PANEL) * PANEL
        self.block = max(16, min(USERS, PLACES // self.room // 4 * 4, BITS // len(right) // 4 * 4))
        self.scale, self.level = (float(np.abs(part).max(initial=0.0)) for part in (right, offsets))
        lengths = np.square(right / (self.scale or 1.0)).sum(axis=1) + np.square(offsets / (self.level or 1.0))
        self.sample, self.order = _sampled_first(np.argsort(-lengths, kind="stable").astype(np.int32), k)
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(self.order), dtype=np.int32)
        self.longest = np.sqrt(lengths[self.order[::PANEL]]) * (1.0 + 1e-6)  # the first of every panel, rounded up
        self.panels = self._panels()
        self._held = threading.local()

    def fill(self, block: slice, indptr: Integers, excluded: Codes, out: Codes) -> npt.NDArray[np.bool_]:
        """Lists of some users into ``out``; per user whether the cut-off is tied."""
        wide, lengths, error = self._wide(self.rows[block])
        found: Any = top_k_screened(
            self.k, self.sample, wide, self.panels, self.longest, self.order, self.place, lengths, error,
            self.rows[block], self.left, self.right, self.offsets, self.users[block], self.items, SEED,
            indptr, excluded, *self._room(len(wide)), out,
        )  # fmt: skip
        if (left := np.flatnonzero(found < 0)).size:
            seen = [excluded[indptr[user] : indptr[user + 1]] for user in left]
            ends, lists = (
                starts_of(np.array([len(items) for items in seen])),
                np.empty((len(left), out.shape[1]), np.int32),
            )
            found[left] = self.rest.fill(left + block.start, ends, np.concatenate(seen), lists)
            out[left] = lists
        return np.asarray(found > 0)

    @cached_property
    def rest(self) -> ByLength:
        """The way for users whom the screen does not settle."""
        return ByLength(self.rows, self.left, self.right, self.offsets, (self.users, self.items))

    def _panels(self) -> npt.NDArray[np.float32]:
        """Single-precision factors of items in their order, a panel after the other, zeros behind the last."""
        items, dim = self.right.shape
        columns = dim + (self.level > 0.0)
        panels = _aligned((-(-items // PANEL), max(1, columns), PANEL), np.float32)
        panels[:] = 0.0
        for number, first in enumerate(range(0, items, PANEL)):
            chosen = self.order[first : first + PANEL]
            panels[number, :dim, : len(chosen)] = (self.right[chosen] / (self.scale or 1.0)).T
            if self.level > 0.0:
                panels[number, dim, : len(chosen)] = self.offsets[chosen] / self.level
        return panels

    def _wide(self, rows: Codes) -> tuple[npt.NDArray[np.float32], Floats, npt.NDArray[np.float32]]:
        """Single-precision factors of some users, their lengths, and 2e of each."""
        dim = self.right.shape[1]
        wide = np.zeros((len(rows), self.panels.shape[1]))
        known = rows >= 0
        wide[known, :dim] = self.left[rows[known]] * self.scale
        if self.level > 0.0:
            wide[:, dim] = self.level
        largest = np.abs(wide).max(axis=1, initial=0.0)
        wide /= np.where(largest > 0.0, largest, 1.0)[:, None]
        bound = (wide.shape[1] + 8) * 2.0**-24 * self.longest[0]
        lengths = np.sqrt(np.square(wide).sum(axis=1)) * (1.0 + 1e-6)
        error = np.where(largest < TINY, np.inf, 2.0 * bound * lengths)  # where products lose digits, nothing is known
        return wide.astype(np.float32), lengths, error.astype(np.float32)

    def _room(self, users: int) -> tuple[npt.NDArray[Any], ...]:
        """Room for scores, candidates and excluded items; a thread that has some takes it again."""
        held: tuple[npt.NDArray[Any], ...] = getattr(self._held, "room", ())
        if not held or len(held[-1]) < users:
            held = (
                _aligned((FOUR, PANEL), np.float32),
                _aligned((users, self.room), np.float32),
                _aligned((users, self.room), np.int32),
                _aligned((users, len(self.panels)), np.uint64),
            )
            self._held.room = held
        return held


def _sampled_first(order: Codes, k: int) -> tuple[tuple[int, int], Codes]:
    """Every tenth item first, then the others, both in their order; how many panels the sample fills, and r.

    Of I items about m = k·S/I of the k best are among the S of the sample, ± √m. The r-th best of the sample lies below
    the k-th best of all, but for one user in fifty, if r − 2√r ≥ m.
    """
    panels = len(order) // (EVERY * PANEL)
    chosen = np.zeros(len(order), dtype=np.bool_)
    chosen[: panels * PANEL * EVERY : EVERY] = True
    m = k * panels * PANEL / max(1, len(order))
    return (panels, int(np.ceil((1.0 + np.sqrt(1.0 + m)) ** 2))), np.concatenate([order[chosen], order[~chosen]])


def worthwhile(users: int, items: int, k: int) -> bool:
    """Whether a screen saves anything: lists are short, and there are many users and items."""
    return items >= FEWEST_ITEMS and users >= FEWEST_USERS and 4 * k <= items


def finite(left: Floats, right: Floats, offsets: Floats) -> bool:
    """Whether no score can leave the range of numbers, so that factors can be scaled."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = right.shape[1] * np.abs(left).max(initial=0.0) * np.abs(right).max(initial=0.0)
        return bool(np.isfinite(largest + np.abs(offsets).max(initial=0.0)))


def _aligned(shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
    """An array that begins at a line of the cache, so that no vector lies across two."""
    many = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(many + LINE, dtype=np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + many].view(dtype).reshape(shape)
