"""What the experiments share: Coat, its splits, and lists and answers that are kept, on the runner of ``recovery/``.

A draw is one split. Splits are random parts of one log, so they do not vary as fresh logs would: errors over splits say
how much the split matters, not how far another shop would be from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from unskew import RefusedError, load
from unskew.core import Progress, Store, available
from unskew.log import Log, Recommendations
from unskew.log.datasets import Dataset
from unskew_papers.arrays import present
from unskew_papers.coat_truth import learned, simple
from unskew_papers.coat_truth.recipes import LIKED, PER_USER, POOLED, Recipe
from unskew_papers.recovery.draws import Draw, Paired, Place
from unskew_papers.recovery.makers import Maker
from unskew_papers.recovery.run import Runner, StudyTask

VERSION = "3"  # of the lists and answers that are kept; raise it when their meaning changes
SHARE = 0.3
METRICS = ("recall@10", "recall@50")
SIMPLE, LEARNED, IMITATED = "simple", "learned", "imitated"  # sets of models
SETS: dict[str, dict[str, simple.ListMaker]] = {
    SIMPLE: simple.MODELS,
    LEARNED: learned.MODELS,
    IMITATED: learned.MODELS | learned.IMITATORS,
}
Unit = dict[str, Any]


@dataclass(frozen=True, eq=False)
class OfCoat(Maker):
    """A model of one of the sets, by its name: it ranks all coats that the person did not rate in training."""

    models: str
    name: str

    def key(self, place: Place) -> dict[str, Any]:
        """Its name, which means the same model in every set."""
        return {"coat": self.name}

    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """Fit and rank."""
        return SETS[self.models][self.name](draw.train)


class Setting:
    """Lists and answers, made once and kept.

    Args:
        store: where they are kept.
        data: by default Coat.
        workers: processes at once.
    """

    def __init__(self, store: Store, data: Callable[[], Dataset] | None = None, *, workers: int = 1) -> None:
        self.store, self.workers = store, workers
        self._make = data or (lambda: load("coat"))

    @cached_property
    def data(self) -> Dataset:
        """Coat."""
        return self._make()

    @cached_property
    def source(self) -> Paired:
        """Its splits, and the random ratings."""
        return Paired(self.data.mnar, present(self.data.mcar), f"holdout(share={SHARE})", LIKED, called="Coat")

    def calls(
        self, recipes: Sequence[Recipe], splits: int, *, models: str = SIMPLE, progress: Progress | None = None
    ) -> list[dict[str, Unit]]:
        """Of every split the truth and what each recipe says, by the recipe's name."""
        makers = {name: OfCoat(models, name) for name in SETS[models]}
        depth = len(self.source.log.items)
        task = StudyTask(self.source, makers, tuple(recipes), METRICS, (POOLED, PER_USER), depth, "unseen")
        places = self.source.places(range(splits))
        runner = Runner(task, self.store, self.workers, available(), keep_lists=True, progress=progress)
        found = {at: _whole(unit) for at, unit in runner.answers(places).items()}
        return [
            {"truth": _truth(found[place, None]), **{recipe.name: found[place, recipe.name] for recipe in recipes}}
            for place in places
        ]


def lists_of(train: Log, models: str) -> dict[str, Recommendations]:
    """Of fourteen models, simple or learned, and of imitators beside the learned ones where these are asked for."""
    return {name: make(train) for name, make in SETS[models].items()}


def _whole(unit: Unit) -> Unit:
    """Shares are of all pairs of models: an answer that lacks some is an error."""
    lacking = [f"{name}: {failure['error']}" for name, failure in unit["failed"].items()]
    lacking += [each["reason"] for each in unit.get("missing", ())]
    if lacking:
        raise RefusedError(f"coat-truth needs all its models and recipes: {'; '.join(lacking)}", code="missing-models")
    return unit


def _truth(unit: Mapping[str, Any]) -> Unit:
    """Per metric and target the value of every model with its standard error and z of every pair; who imitates."""
    found: Unit = {
        f"{metric} | {target} | {what}": unit[what][cell]
        for cell, (metric, _, target) in enumerate(unit["cells"])
        for what in ("value", "se", "z")
    }
    copied = [name in learned.IMITATORS or name == simple.IMITATOR for name in unit["models"]]
    found["imitates"] = np.array([float(one or other) for one, other in combinations(copied, 2)])
    return found
