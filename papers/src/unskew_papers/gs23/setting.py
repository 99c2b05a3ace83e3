"""What the experiments share: Coat, Yahoo! R3 or a world of its size, and a store of finished fits and answers.

Ratings of 4 and 5 are likes, everything else is thrown away before anything is learnt or estimated. The likes are split
80/20 at random (our reading: the paper does not say), once per seed; the truth is the plain average over the likes
among random pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from unskew import load
from unskew.core import Progress, Store
from unskew.log import Log
from unskew.log.datasets import folder_of
from unskew_papers.arrays import present
from unskew_papers.carraro20 import rating_world
from unskew_papers.gs23 import families
from unskew_papers.recovery import Paired, Question, Source, StudyResult, study

VERSION = "1"  # of what is kept; raise it when its meaning changes
LIKED, LEAST = ">=4", 4.0
SPLIT = "holdout(share=0.2)"
YAHOO, WORLD, COAT = "Yahoo! R3", "a world of Yahoo's size", "Coat"
USERS, CHOSEN, ASKED = 15_400, 311_704, 5_400  # of Yahoo! R3
FEW = (10, 50, 100)


class Setting:
    """Studies, run once and kept.

    Args:
        coat, yahoo: how to get the sets; by default Coat, and Yahoo! R3 where there is a copy, else a world of its
            size.
        sizes: of factor models; ``few`` of them for a quick look, and where every pair of models costs much.
        workers: processes at once.
    """

    def __init__(
        self,
        store: Store,
        coat: Callable[[], Paired] | None = None,
        yahoo: Callable[[], Paired] | None = None,
        *,
        sizes: tuple[int, ...] = families.SIZES,
        few: tuple[int, ...] = FEW,
        workers: int = 1,
    ) -> None:
        self.store, self.workers, self.sizes, self.few = store, workers, sizes, few
        self.coat = cache(coat or _coat)
        self.yahoo = cache(yahoo or _yahoo)

    def models(self, few: bool, **options: bool) -> dict[str, str]:
        """The 81, or 25 of them."""
        return families.models(self.few if few else self.sizes, **options)

    def study(
        self,
        source: Source,
        models: Mapping[str, Any] | Sequence[str],
        questions: Sequence[Question],
        seeds: int,
        *,
        metrics: Sequence[str],
        target: str | Sequence[str] = "per_user",
        candidates: Literal["unseen", "all"] = "unseen",
        progress: Progress | None = None,
    ) -> StudyResult:
        """One study, in the store of all of them."""
        return study(
            source,
            models,
            questions,
            seeds=seeds,
            metrics=metrics,
            target=target,
            candidates=candidates,
            store=self.store.folder,
            workers=self.workers,
            progress=progress,
        )


def likes_of(log: Log, random: Log, called: str) -> Paired:
    """Both parts without what is not liked; the ratings of the others stay as they are."""
    likes, liked = (replace(each.take(present(each.value) >= LEAST), propensity=None) for each in (log, random))
    return Paired(likes, liked, SPLIT, LIKED, called=called)


def _coat() -> Paired:
    data = load("coat")
    return likes_of(data.mnar, present(data.mcar), COAT)


def _yahoo() -> Paired:
    if folder_of("yahoo-r3") is not None:
        data = load("yahoo-r3")
        return likes_of(data.mnar, present(data.mcar), YAHOO)
    return big_world()


def big_world(seed: int = 0) -> Paired:
    """A world of Yahoo's size: as many users, items and chosen ratings, and ten random ones of 5,400 users."""
    chosen, random = rating_world.draw(seed, users=USERS, chosen=CHOSEN)
    return likes_of(chosen, random.take(random.user < ASKED), WORLD)
