"""The challenger."""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.log import Ids
from unskew.simulate import World

WORLD = World(users=400, items=60, relevant=12, impressions=60)


def test_without_noise_lists_follow_the_preferences() -> None:
    """The list is the unseen items by probability of relevance."""
    lists = WORLD.challenger(noise=0.0).recommend(WORLD.train.users, 20, seen=WORLD.train)
    preference = WORLD.population.preference(slice(None))
    for u in range(WORLD.users):
        seen = set(WORLD.train.item[WORLD.train.indptr[u] : WORLD.train.indptr[u + 1]].tolist())
        best = [i for i in np.argsort(-preference[u]).tolist() if i not in seen]
        assert lists.item[lists.indptr[u] : lists.indptr[u + 1]].tolist() == best[:20]


def test_noise_drowns_the_preferences() -> None:
    """With enough noise the challenger lists every item equally often (χ² within 4 sd)."""
    lists = WORLD.challenger(noise=1e6).recommend(WORLD.train.users, 15)
    counts = np.bincount(lists.item, minlength=60)
    assert abs(((counts - 100) ** 2 / (100 * 0.75)).sum() - 59) < 4 * np.sqrt(2 * 59)


def test_asking_for_some_gives_the_same_lists() -> None:
    """A user's list does not depend on who else is asked for; strangers get a list too."""
    challenger = WORLD.challenger()
    whole = challenger.recommend(WORLD.train.users, 10).item.reshape(400, 10)
    some = challenger.recommend(Ids(pl.Series("id", [17, 300, 5000])), 10)
    np.testing.assert_array_equal(some.item.reshape(3, 10)[:2], whole[[17, 300]])
    assert some.tied == 1
