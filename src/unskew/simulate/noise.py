"""One random number per pair, from a hash of (name of the stream, user, item): no order, block or thread changes it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids
from unskew.log.ids import stream_of

CELLS = 1 << 21  # pairs held at once: 16 MiB


def uniform(stream: str, users: Ids, items: Ids) -> Iterator[tuple[slice, Floats]]:
    """Numbers in [0, 1) for all pairs, in blocks of users: which rows, and float64[rows, items]."""
    block = max(1, CELLS // max(1, len(items)))
    right = np.tile(items.hashes, min(block, len(users)))
    for first in range(0, len(users), block):
        rows = slice(first, min(first + block, len(users)))
        left = np.repeat(users.hashes[rows], len(items))
        yield rows, pair_uniform(stream_of(stream), left, right[: len(left)]).reshape(-1, len(items))


def uniform_of(stream: str, users: Ids, items: Ids, pair: Ints64) -> Floats:
    """The same numbers for some pairs; pair = user code × items + item code."""
    return pair_uniform(stream_of(stream), users.hashes[pair // len(items)], items.hashes[pair % len(items)])
