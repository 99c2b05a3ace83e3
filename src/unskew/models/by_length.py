"""Lists from factors in double precision, item by item from the longest factors on (``kernels/top_factors.py``).

For catalogues and numbers of users too small for the screen (``screen.py``), and for users whom it does not settle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unskew.kernels.top_factors import top_k_of_factors
from unskew.kernels.topk import SEED
from unskew.log.ids import Codes, Hashes
from unskew.log.log import Floats, Integers

USERS = 128  # users who share a tile of factors while it is in the cache
ROUNDING = 1e-9  # of a score, relative to the lengths of its factors: far more than sums in double precision lose

TINY = 1e-300  # products below it lose digits: far more than a sum of them is off


class ByLength:
    """Factors and offsets of items by the length of the factors, and the rows of users.

    Args:
        rows: of each user the row of factors; −1 is a user without factors, for whom the offsets rank.
        left, right: a row of factors per user, and one per item.
        offsets: of the items.
        hashes: of users and items, by which ties are broken.
    """

    block = USERS

    def __init__(
        self, rows: Codes, left: Floats, right: Floats, offsets: Floats, hashes: tuple[Hashes, Hashes]
    ) -> None:
        self.rows, self.left, self.users = rows, left, hashes[0]
        largest = np.abs(right).max(axis=1, initial=0.0)
        scaled = right / np.where(largest > 0.0, largest, 1.0)[:, None]  # squares of tiny factors would vanish
        length = largest * np.sqrt(np.square(scaled).sum(axis=1))
        order = np.argsort(-length, kind="stable").astype(np.int32)
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=np.int32)
        offset = offsets[order]
        highest = np.maximum.accumulate(offset[::-1])[::-1] + ROUNDING * np.abs(offset).max(initial=0.0) + TINY
        columns = np.ascontiguousarray(right[order].T)
        self.by_place = columns, offset, length[order] * (1.0 + ROUNDING), highest, order, place
        self.items = hashes[1][order]

    def fill(self, chosen: slice | Integers, indptr: Integers, excluded: Codes, out: Codes) -> npt.NDArray[np.bool_]:
        """Lists of some users into ``out``; per user whether the cut-off is tied."""
        asked = self.users[chosen], self.items, SEED, indptr, excluded, out
        return np.asarray(top_k_of_factors(self.rows[chosen], self.left, *self.by_place, out.shape[1], *asked))
