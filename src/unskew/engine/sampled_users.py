"""A sample of the users where some serve as well as all: those with the least hashes, whatever engine holds them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.engine.data import EvaluationData
from unskew.kernels.arrays import Ints32, Ints64
from unskew.log.order import pick, regroup, starts_of

USERS = 4_096  # about so many


def sample_limit(users: int) -> np.uint64 | None:
    """The hash below which a user is looked at, so that about ``USERS`` of them are; ``None`` for everybody."""
    return None if users <= USERS else np.uint64(int(USERS / users * 2**64))


@dataclass(frozen=True, eq=False)
class ListsOfSome:
    """The lists of one model for a sample of the users; those of other users are put behind."""

    lengths: Ints64
    item: Ints32
    rank: Ints32

    def merge(self, other: ListsOfSome) -> ListsOfSome:
        """Those of both sets of users."""
        return ListsOfSome(
            np.concatenate([self.lengths, other.lengths]),
            np.concatenate([self.item, other.item]),
            np.concatenate([self.rank, other.rank]),
        )

    @property
    def indptr(self) -> Ints64:
        """Where lists begin."""
        return starts_of(self.lengths)


def lists_of_some(held: EvaluationData, limit: np.uint64 | None) -> tuple[ListsOfSome, ...]:
    """The lists of the sampled users, by model."""
    users = np.arange(held.users, dtype=np.int32)
    if limit is not None:
        users = users[held.hashes < limit]
    found = []
    for lists in held.lists:
        indptr, order = regroup(lists.indptr, users)
        found.append(ListsOfSome(np.diff(indptr), pick(lists.item, order), pick(lists.rank, order)))
    return tuple(found)
