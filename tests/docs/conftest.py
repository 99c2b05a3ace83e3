"""A small result."""

from __future__ import annotations

import pytest

import unskew as us
from unskew.result import Result
from unskew.simulate import World, relevant_for


@pytest.fixture(scope="session")
def known() -> Result:
    """Two models, known propensities."""
    world = World(users=300, items=60, seed=0, relevant=relevant_for(60))
    models = {name: us.models.make(name).fit(world.train) for name in ("most_popular", "item_knn")}
    return us.evaluate(world.test, models, train=world.train, metrics=["recall@10"])
