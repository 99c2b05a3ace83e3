"""Coat: the random ratings as the candidates, so that the truth about all of them is known.

290 people rated 24 coats of their choice and 16 that were drawn for them. The chosen ones are split as in coat-truth,
70 % for training and 30 % held out; candidates are the randomly drawn coats outside training (pairs that stand in both
parts of Coat are kept). Models rank all coats that were not rated in training, and what they list among the candidates
counts. Fourteen models: those of coat-truth ("models").
"""

from __future__ import annotations

from functools import cache

import numpy as np

from unskew import load
from unskew.log import Ids, Log
from unskew.log.datasets import Dataset
from unskew_papers.anchored.case import NOBODY, Case, ranks_of
from unskew_papers.arrays import Ints64, present
from unskew_papers.coat_truth.recipes import LIKED
from unskew_papers.coat_truth.setting import SHARE
from unskew_papers.coat_truth.simple import MODELS
from unskew_papers.recovery.draws import Paired, Place

STARS = 5


@cache
def coat() -> Dataset:
    """Coat."""
    return load("coat")


def coat_case(seed: int, data: Dataset | None = None) -> Case:
    """One split."""
    found = data or coat()
    source = Paired(found.mnar, present(found.mcar), f"holdout(share={SHARE})", LIKED)
    split = source.draw(Place(seed))
    users, items = split.users, split.items
    train = split.train.recode(users, items)
    lists = {name: make(train) for name, make in MODELS.items()}
    return Case(
        models=tuple(lists),
        train=_matrix(train, users, items),
        held=_matrix(split.test, users, items),
        truth=_matrix(split.truth, users, items),
        liked=np.arange(STARS) >= 3,  # four and five stars
        rank=ranks_of(lists, users, items),
    )


def _matrix(log: Log, users: Ids, items: Ids) -> Ints64:
    """Stars less one, by user and item."""
    own = log.recode(users, items)
    out = np.full((len(users), len(items)), NOBODY, dtype=np.int64)
    out[own.user, own.item] = np.rint(present(own.value)).astype(np.int64) - 1
    return out
