"""What if we knew the truth? Worlds with known preferences and known, skewed exposure.

world = World(users=2000, items=500, seed=0)
world.train, world.test            what the shop saw; test rows carry their propensity
world.full_log()                   what it would have seen if everything had been shown: the truth
world.draw(1)                      other users from the same population
answer(world, asked)               what its users say of pairs that a plan drew
write(world, "demo/")              all of it as files, with the lists of four recommenders

world = RatingWorld.like(log)      a full matrix of ratings that looks like a log of yours
world.draw(0)                      the ratings that were seen, with their propensities; world.truth has all
world.predictions()                five predictors that err in known ways
write_ratings(world, "world/")     all of it as files
"""

from __future__ import annotations

from unskew.simulate.answering import answer
from unskew.simulate.challenger import Challenger
from unskew.simulate.completion import complete, most_active
from unskew.simulate.files import MODELS, save, truths, write
from unskew.simulate.predictions import NAMES
from unskew.simulate.quantiles import SCHNABEL16, to_ratings
from unskew.simulate.rating_files import write_ratings
from unskew.simulate.ratings import RatingWorld, propensities
from unskew.simulate.world import World, relevant_for, true_value

__all__ = [
    "MODELS",
    "NAMES",
    "SCHNABEL16",
    "Challenger",
    "RatingWorld",
    "World",
    "answer",
    "complete",
    "most_active",
    "propensities",
    "relevant_for",
    "save",
    "to_ratings",
    "true_value",
    "truths",
    "write",
    "write_ratings",
]
