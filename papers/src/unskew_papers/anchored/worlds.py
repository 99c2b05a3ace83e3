"""Worlds: all pairs outside training are candidates, and what every user likes is known.

A population of people meets a shop (``simulate/world.py``) that logs conversions; models learn from all of them. A case
has some of these people, drawn at random: the truth of the population is what users as a sample are judged by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unskew import models
from unskew.log import Log
from unskew.simulate import World
from unskew_papers.anchored.case import LENGTH, NOBODY, Case, ranks_of
from unskew_papers.arrays import Ints64, present

PEOPLE, USERS, ITEMS = 4_000, 400, 100
SHOP = World(users=PEOPLE, items=ITEMS, relevant=12.0, impressions=40.0, feedback="conversions")  # type: ignore[arg-type]
RECOMMENDERS = ("most_popular", "random", "item_knn(neighbours=20)", "svd(dim=5)", "wmf(dim=10)")
CHALLENGERS = (0.8, 1.2, 2.0)  # noise of models that know tastes


def population(seed: int, shop: World = SHOP) -> Case:
    """Everybody of one world."""
    world = replace(shop, seed=seed, catalogue=seed)
    train, test = world.train, world.test
    likes = train.positives()
    lists: dict[str, Any] = {
        text: models.make(text).fit(likes).recommend(train.users, LENGTH, seen=train) for text in RECOMMENDERS
    }
    for noise in CHALLENGERS:
        lists[f"challenger ({noise:g})"] = world.challenger(noise).recommend(train.users, LENGTH, seen=train)
    truth = np.zeros((len(train.users), len(train.items)), dtype=np.int64)
    full = world.full_log()
    truth[full.user, full.item] = 1
    held = _matrix(test)
    truth[held != NOBODY] = held[held != NOBODY]
    return Case(
        models=tuple(lists),
        train=_matrix(train),
        held=held,
        truth=truth,
        liked=np.array([False, True]),
        rank=ranks_of(lists, train.users, train.items),
    )


def some_of(people: Case, seed: int, users: int = USERS) -> Case:
    """Some of the people."""
    chosen = np.random.default_rng([seed, users]).choice(len(people.train), users, replace=False)
    return people.of(np.sort(chosen))


def _matrix(log: Log) -> Ints64:
    out = np.full((len(log.users), len(log.items)), NOBODY, dtype=np.int64)
    out[log.user, log.item] = present(log.value).astype(np.int64)
    return out
