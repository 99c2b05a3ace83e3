"""Random: every order of the unseen items is equally likely.

The floor that any other model should clear. The order is a hash of (seed, user, item), so a user's list does not
depend on who else is asked for, and another seed gives an independent list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from unskew.core.bounds import SEED
from unskew.core.parts import option
from unskew.kernels.hashing import mix
from unskew.log import Ids
from unskew.log.expected import a_log
from unskew.log.log import Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Model, from_shared_scores

_OWN = np.uint64(0x52414E444F4D)  # keeps seed 0 apart from the seed that breaks the ties of other models


@dataclass(eq=False, repr=False)
class Random(Model):
    """Rank items at random."""

    seed: int = option(0, SEED, "of the order")

    name = "random"
    personal = False

    def fit(self, log: Log) -> Self:
        """Learn the catalogue, nothing else."""
        self.items_ = a_log(log).items
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """k random items that a user has not seen; chance is meant here, so no cut-off counts as tied."""
        seed = np.uint64(mix(np.uint64(mix(np.uint64(self.seed))) ^ _OWN))
        lists = from_shared_scores(np.zeros(len(self.catalogue)), self.catalogue, users, k, seen, seed)
        return replace(lists, tied=0)
