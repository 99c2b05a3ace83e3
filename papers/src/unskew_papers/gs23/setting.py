"""What the experiments share: Coat, Yahoo! R3 and a world of its size; two ways to train and weigh; a store.

Ratings of 4 and 5 are likes, everything else is thrown away before anything is learnt or estimated. The likes are split
80/20 at random, once per seed; the truth is the plain average over the likes among random pairs.

    ANCESTOR   as the code that the paper builds on: its training, popularity counted on the whole log, the test part
               included, and strata of equal width in P
    OURS       Cornac's training, popularity counted on the training part, and strata of as many pairs each
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from unskew import load
from unskew import propensity as propensities
from unskew.core import Store
from unskew.log import Log
from unskew.log.datasets import folder_of
from unskew.propensity import Propensity
from unskew_papers.arrays import present
from unskew_papers.carraro20 import rating_world
from unskew_papers.gs23 import families
from unskew_papers.recovery import Draw, Paired, Question, Source, StudyResult, study

VERSION = "1"  # of what is kept; raise it when its meaning changes
LIKED, LEAST = ">=4", 4.0
SPLIT = "holdout(share=0.2)"
YAHOO, WORLD, COAT = "Yahoo! R3", "a world of Yahoo's size", "Coat"
USERS, CHOSEN, ASKED = 15_400, 311_704, 5_400  # of Yahoo! R3
TENTH = 10  # a quick look at the world has this share of its users
FEW = (10, 50, 100)
NAIVE, IPS = "naive", "snips"  # what the paper calls IPS divides by the user's own weights


class WholeLog(Question):
    """Propensities fitted on the training and the test part together."""

    def key(self) -> dict[str, Any]:
        """With what is counted."""
        return super().key() | {"fitted": "whole log"}

    def weighed(self, draw: Draw) -> Propensity:
        """Fitted here, and not again."""
        both = pl.concat([draw.train.to_frame(), draw.test.to_frame()])
        whole = Log.from_frame(both, feedback="ratings").positives(draw.relevant)
        return propensities.make(present(self.propensity)).fit(whole)


class Way(NamedTuple):
    """How models are trained, where popularity is counted, and what strata are."""

    training: families.Training
    whole: bool
    equal: bool

    def gs(self, count: int = 5) -> str:
        """The paper's estimator with so many strata."""
        return f"gs(strata=equal_width({count}))" if self.equal else f"gs(strata={count})"

    @property
    def estimators(self) -> dict[str, str]:
        """All three by the paper's names."""
        return {"GS": self.gs(), "IPS": IPS, "Naive": NAIVE}

    def question(self, name: str, estimators: Sequence[str], gamma: float = 2.0, **options: Any) -> Question:
        """Estimators weighed by popularity."""
        kind = WholeLog if self.whole else Question
        return kind(name, tuple(estimators), f"popularity(gamma={gamma:g})", **options)


ANCESTOR = Way("ancestor", whole=True, equal=True)
OURS = Way("cornac", whole=False, equal=False)


class Setting:
    """Studies, run once and kept.

    Args:
        coat, yahoo, world: how to get the sets; without a copy of Yahoo! R3 it is ``None``.
        sizes: of factor models; ``few`` of them for a quick look, and where every pair of models costs much.
    """

    def __init__(
        self,
        store: Store,
        coat: Callable[[], Paired] | None = None,
        yahoo: Callable[[], Paired | None] | None = None,
        world: Callable[[bool], Paired] | None = None,
        *,
        sizes: tuple[int, ...] = families.SIZES,
        few: tuple[int, ...] = FEW,
        workers: int = 1,
    ) -> None:
        self.store, self.workers, self.sizes, self.few = store, workers, sizes, few
        self.coat = cache(coat or (lambda: _named("coat", COAT)))
        self.yahoo = cache(yahoo or self._copy)
        self.world = cache(world or big_world)

    def _copy(self) -> Paired | None:
        if folder_of("yahoo-r3") is not None:
            return _named("yahoo-r3", YAHOO)
        self.store.tell("yahoo-r3 is not there: Table 1 and Figure 1a are empty (unskew data says how to add it).")
        return None

    def models(self, few: bool, *, values: bool = True, training: families.Training = "ancestor") -> dict[str, str]:
        """The 81, or 25 of them."""
        return families.models(self.few if few else self.sizes, values=values, training=training)

    def study(self, source: Source, models: Any, questions: Sequence[Question], seeds: int, **how: Any) -> StudyResult:
        """One study, in the store of all of them; ``how`` as ``recovery.study`` takes it."""
        how = {"target": "per_user"} | how
        return study(source, models, questions, seeds=seeds, store=self.store.folder, workers=self.workers, **how)


def likes_of(log: Log, random: Log, called: str) -> Paired:
    """Both parts without what is not liked; the ratings of the others stay as they are."""
    likes, liked = (replace(each.take(present(each.value) >= LEAST), propensity=None) for each in (log, random))
    return Paired(likes, liked, SPLIT, LIKED, called=called)


def _named(name: str, called: str) -> Paired:
    data = load(name)
    return likes_of(data.mnar, present(data.mcar), called)


def big_world(quick: bool = False) -> Paired:
    """A world of Yahoo's size: as many users, items and chosen ratings, and ten random ones of 5,400 users."""
    share = TENTH if quick else 1
    chosen, random = rating_world.draw(0, users=USERS // share, chosen=CHOSEN // share)
    return likes_of(chosen, random.take(random.user < ASKED // share), WORLD)
