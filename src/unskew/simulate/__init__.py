"""What if we knew the truth? Worlds with known preferences and known, popularity-skewed exposure.

world = World(users=2000, items=500, seed=0)
world.train, world.test            what the shop saw; test rows carry their propensity
world.full_log()                   what it would have seen if everything had been shown: the truth
world.draw(1)                      other users from the same population
write(world, "demo/")              all of it as files, with the lists of four recommenders
"""

from __future__ import annotations

from unskew.simulate.challenger import Challenger
from unskew.simulate.files import MODELS, truths, write
from unskew.simulate.truth import true_value
from unskew.simulate.world import World, relevant_for

__all__ = ["MODELS", "Challenger", "World", "relevant_for", "true_value", "truths", "write"]
