"""Ratings in the order in which stochastic gradient descent meets them: by tile, shuffled, twelve bytes each.

Users and items are dealt at random into as many groups of each; a tile is a pair of groups. The rows of a group of
items stay in the second cache of a core, and windows of a tile, whose users' rows stay in the first one, are shuffled.
Tiles of a diagonal share neither users nor items: they are worked on side by side (Gemulla et al. 2011), and since
groups do not depend on the number of threads, neither does any result.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from unskew.kernels import descent as kernel
from unskew.kernels.hashing import pair_uniform
from unskew.log.log import Floats, Integers
from unskew.models.mf.problem import MFParameters, Ratings

GROUPS = 8  # at least: as many threads find work
BYTES = 1 << 21  # of a group's rows at most; it has fewer than 2¹⁶
WINDOW = 8192  # ratings

Singles = npt.NDArray[np.float32]
Shorts = npt.NDArray[np.uint16]


class Tiles(NamedTuple):
    """Ratings by tile; the pairs are of users and of items.

    Args:
        unit: the mean weight, which weights are divided by: they fit into single precision.
        level: c at the start, which values are less by.
        places: where the row of each code is kept.
        rows: how many rows a group has.
        sums: the number of ratings and the sum of weights of every row.
        ends: the first rating of every tile, and the last one's end.
        user, item: the row of a rating inside its group.
    """

    unit: float
    level: float
    places: tuple[Integers, Integers]
    rows: tuple[int, int]
    sums: tuple[Floats, Floats]
    ends: Integers
    user: Shorts
    item: Shorts
    value: Singles
    weight: Singles

    @classmethod
    def of(cls, ratings: Ratings, dim: int, level: float, seed: int) -> Tiles:
        """Deal, sort and shuffle."""
        side, sizes, n = ratings.by_user, (ratings.users, ratings.items), len(ratings.by_user.value)
        groups = max(GROUPS, -(-max(sizes) * kernel.wide(dim) * 4 // BYTES))
        rows = -(-sizes[0] // groups), -(-sizes[1] // groups)
        places = _dealt(2 * seed, sizes[0]), _dealt(2 * seed + 1, sizes[1])
        sums = np.zeros((rows[0] * groups, 2)), np.zeros((rows[1] * groups, 2))
        ends, unit = np.zeros(groups**2 + 1, dtype=np.int64), float(side.weight.mean())
        out = np.empty(n, np.uint16), np.empty(n, np.uint16), np.empty(n, np.float32), np.empty(n, np.float32)
        kernel.tiled(*side.columns, level, unit, places, rows, ends, sums, *out)
        kernel.shuffle(ends, WINDOW, seed, *out)
        return cls(unit, level, places, rows, sums, ends, *out)

    @property
    def groups(self) -> int:
        """Of users, and of items."""
        return len(self.sums[0]) // self.rows[0]

    def pack(self, factors: MFParameters) -> tuple[Singles, Singles]:
        """Rows in single precision at their places, padded; those without ratings are 0, as are steps for now."""
        dim = factors.user.shape[1] - 1
        out = tuple(np.zeros((len(sums), kernel.wide(dim)), np.float32) for sums in self.sums)
        for rows, place, given in zip(out, self.places, (factors.user, factors.item), strict=True):
            rows[place, : dim + 1] = given
        for rows, sums in zip(out, self.sums, strict=True):
            rows[sums[:, 0] == 0.0] = 0.0
        return out[0], out[1]

    def view(self, packed: tuple[Singles, Singles], dim: int) -> MFParameters:
        """The same numbers, not a copy, at their places and in single precision; c as at the start."""
        user, item = (cast(Floats, rows[:, : dim + 1]) for rows in packed)
        return MFParameters(user, item, self.level)

    def unpack(self, packed: tuple[Singles, Singles], dim: int, level: float) -> MFParameters:
        """The rows of all codes in double precision."""
        user, item = (rows[place, : dim + 1] for rows, place in zip(packed, self.places, strict=True))
        return MFParameters(user.astype(np.float64), item.astype(np.float64), level)


def _dealt(seed: int, size: int) -> Integers:
    """The numbers 0 … size − 1 in a random order."""
    numbers = np.arange(size, dtype=np.uint64)
    return np.argsort(pair_uniform(seed, numbers, numbers), kind="stable")
