"""Lists from factors, screened in single precision and decided in double (``kernels/screened.py``: why they are exact).

Items come by the length of their factors, longest first: most of the best are among the first, and few later ones reach
the k-th best so far. Before them comes a sample, from which floors start. Users for whom too many items are nearly tied
are left to double precision alone.
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
from unskew.models.packed import BITS, Packed, aligned

FEWEST_ITEMS = 2048  # below them nothing is gained
FEWEST_USERS = 32  # the factors of items are packed once for so many
USERS = 256  # whose candidates are held at once, fewer where lists are long
PLACES = 1 << 17  # candidates held at once
EVERY = 10  # of which one is in the sample


class Screen(Packed):
    """Lists of k items; ``block`` users are worked off together, other arguments are those of ``Packed``."""

    def __init__(
        self, rows: Codes, left: Floats, right: Floats, offsets: Floats, hashes: tuple[Hashes, Hashes], k: int
    ) -> None:
        self.k = k
        super().__init__(rows, left, right, offsets, hashes)
        self.room = -(-(max(2 * k, k + 2 * PANEL) + PANEL) // PANEL) * PANEL
        self.block = max(16, min(USERS, PLACES // self.room // 4 * 4, BITS // len(right) // 4 * 4))
        self._held = threading.local()

    def fill(self, block: slice, indptr: Integers, excluded: Codes, out: Codes) -> npt.NDArray[np.bool_]:
        """Lists of some users into ``out``; per user whether the cut-off is tied."""
        wide, length, error, _ = self.wide(self.rows[block])
        found: Any = top_k_screened(
            self.k, self.sample, wide, self.panels, self.longest, self.order, self.place, length, error,
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

    def _arranged(self, order: Codes) -> Codes:
        """Every tenth item first, then the others, both in their order.

        Of I items about m = k·S/I of the k best are among the S of the sample, ± √m. The r-th best of the sample lies
        below the k-th best of all, but for one user in fifty, if r − 2√r ≥ m.
        """
        panels = len(order) // (EVERY * PANEL)
        chosen = np.zeros(len(order), dtype=np.bool_)
        chosen[: panels * PANEL * EVERY : EVERY] = True
        m = self.k * panels * PANEL / max(1, len(order))
        self.sample = panels, int(np.ceil((1.0 + np.sqrt(1.0 + m)) ** 2))
        return np.concatenate([order[chosen], order[~chosen]])

    def _room(self, users: int) -> tuple[npt.NDArray[Any], ...]:
        """Room for scores, candidates and excluded items; a thread that has some takes it again."""
        held: tuple[npt.NDArray[Any], ...] = getattr(self._held, "room", ())
        if not held or len(held[-1]) < users:
            held = (
                aligned((FOUR, PANEL), np.float32),
                aligned((users, self.room), np.float32),
                aligned((users, self.room), np.int32),
                aligned((users, len(self.panels)), np.uint64),
            )
            self._held.room = held
        return held


def worthwhile(users: int, items: int, k: int) -> bool:
    """Whether a screen saves anything: lists are short, and there are many users and items."""
    return items >= FEWEST_ITEMS and users >= FEWEST_USERS and 4 * k <= items
