"""Models whose scores are v·w + b: lists of the best items, and exact ranks of held-out items without any list.

A rank is 1 + the number of candidates before an item, in the order that lists have (score, then a hash of the ids where
scores are equal; ``kernels/topk.py``), over the whole catalogue less what the user has seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from unskew.core.errors import InputError
from unskew.core.threads import Threads, usual
from unskew.kernels.counted_ranks import count_ranks
from unskew.kernels.panels import FOUR, PANEL
from unskew.kernels.topk import SEED
from unskew.log.expected import a_log
from unskew.log.ids import Codes, Ids
from unskew.log.log import Floats, Log
from unskew.log.recommendations import Recommendations, exclusions
from unskew.models.base import from_factors
from unskew.models.packed import BITS, Packed, aligned, finite

USERS = 256  # who are worked off together


class Scored(NamedTuple):
    """What scores of some users are made from: as in ``from_factors``."""

    rows: Codes
    factors: tuple[Floats, Floats]
    offsets: Floats
    items: Ids


class ByFactors(ABC):
    """A model with factors of users and items, and offsets of items."""

    @abstractmethod
    def scored(self, users: Ids) -> Scored:
        """The factors by which items are ranked for these users."""

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest scores."""
        rows, factors, offsets, items = self.scored(users)
        return from_factors(rows, factors, offsets, items, users, k, seen)

    def ranks(self, held_out: Log, *, seen: Log | None = None) -> Codes:
        """The rank of every row's item among all items that the user has not seen; 0 where it is none of them.

        They are the ranks that lists as long as the catalogue would have; nothing is sorted, and no list is kept.
        """
        return ranks_of(self.scored(a_log(held_out).users), held_out, seen)


def ranks_of(scored: Scored, held_out: Log, seen: Log | None) -> Codes:
    """Ranks of the rows of a log; ``scored`` is of its users."""
    (rows, (left, right), offsets, items), users = scored, held_out.users
    if not finite(left, right, offsets):
        raise InputError(
            "the factors are so large that scores are not numbers, and ranks are not known.", code="factors-too-large"
        )
    out = np.zeros(len(held_out), dtype=np.int32)
    if not len(items):
        return out
    packed = Packed(rows, np.ascontiguousarray(left), right, offsets, (users.hashes, items.hashes))
    held, starts = held_out.items.into(items)[held_out.item], held_out.indptr
    indptr, excluded = exclusions(seen, users, items)
    block = max(16, min(USERS, BITS // len(items) // FOUR * FOUR))

    def work(start: int) -> None:
        some = slice(start, min(start + block, len(users)))
        ends = starts[start : some.stop + 1]
        wide, length, error, largest = packed.wide(rows[some])
        count_ranks(
            wide, packed.panels, packed.longest, packed.order, packed.place, length, error, largest, rows[some],
            packed.left, packed.right, offsets, users.hashes[some], items.hashes, SEED,
            indptr[start : some.stop + 1], excluded, ends, held,
            aligned((FOUR, PANEL), np.float32), aligned((len(wide), len(packed.panels)), np.uint64),
            out[ends[0] : ends[-1]],
        )  # fmt: skip

    with Threads(usual()) as pool:
        for _ in (map if usual() == 1 else pool.map)(work, range(0, len(users), block)):
            pass
    return out
