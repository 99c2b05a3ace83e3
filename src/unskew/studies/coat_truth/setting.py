"""What the experiments share: Coat, its splits, and finished calls that are kept.

One unit is one recipe on one split. Splits are random parts of one log, so they do not vary as fresh logs would: errors
over splits say how much the split matters, not how far another shop would be from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from unskew.engine.store import Progress, Store
from unskew.log import Log
from unskew.log.datasets import Dataset, load
from unskew.log.recommendations import Recommendations
from unskew.split import holdout
from unskew.studies.coat_truth import learned, simple
from unskew.studies.coat_truth.recipes import PER_USER, POOLED, Recipe, truth
from unskew.studies.coat_truth.said import said
from unskew.studies.digest import digest_of

VERSION = "2"  # of the calls that are kept; raise it when their meaning changes
SHARE = 0.3
METRICS = ("recall@10", "recall@50")
SIMPLE, LEARNED, IMITATED = "simple", "learned", "imitated"  # sets of models
Unit = dict[str, Any]


class Setting:
    """Calls, made once and kept.

    Args:
        store: where they are kept.
        data: by default Coat.
        workers: how many calls at once.
    """

    def __init__(self, store: Store, data: Callable[[], Dataset] | None = None, *, workers: int = 1) -> None:
        self.store, self.workers = store, workers
        self._make = data or (lambda: load("coat"))
        self._split = lru_cache(maxsize=4)(self._split_of)

    @cached_property
    def data(self) -> Dataset:
        """Coat."""
        return self._make()

    @cached_property
    def _mark(self) -> str:
        assert self.data.mcar is not None
        return f"{digest_of(self.data.mnar)} {digest_of(self.data.mcar)}"

    def calls(
        self, recipes: Sequence[Recipe], splits: int, *, models: str = SIMPLE, progress: Progress | None = None
    ) -> list[dict[str, Unit]]:
        """Of every split the truth and what each recipe says, by the recipe's name."""
        found = {recipe.name: recipe for recipe in recipes}
        names = ["truth", *found]
        keys = [
            {"split": split, "call": name, "data": self._mark, "models": models, "metrics": list(METRICS)}
            | {"asked": _asked(found[name]) if name in found else ["value", "se", "z", "imitates"]}
            for split in range(splits)
            for name in names
        ]

        def make(key: Mapping[str, Any]) -> Unit:
            return self._call(found.get(key["call"]), key["split"], models)

        made = self.store.map(keys, make, workers=self.workers, progress=progress, stage="calls on Coat")
        each = iter(made)
        return [{name: next(each) for name in names} for _ in range(splits)]

    def _split_of(self, split: int, models: str) -> tuple[Log, Log, dict[str, Recommendations]]:
        train, test = holdout(self.data.mnar, SHARE, seed=split)
        return train, test, lists_of(train, models)

    def _call(self, recipe: Recipe | None, split: int, models: str) -> Unit:
        assert self.data.mcar is not None
        train, test, lists = self._split(split, models)
        if recipe is None:
            return _truth(train, self.data.mcar, lists)
        result = recipe.run(train, test, self.data.mcar, lists, list(METRICS))
        unit: Unit = {}
        for metric in METRICS:
            for name, row in recipe.rows.items():
                pairs = said(result, metric, row, recipe.points(name))
                unit |= {f"{metric} | {name} | {what}": values for what, values in asdict(pairs).items()}
        return unit


def lists_of(train: Log, models: str) -> dict[str, Recommendations]:
    """Of fourteen models, simple or learned, and of imitators beside the learned ones where these are asked for."""
    if models == SIMPLE:
        return simple.recommend(train)
    return learned.recommend(train) | (learned.imitate(train) if models == IMITATED else {})


def _truth(train: Log, random: Log, lists: Mapping[str, Recommendations]) -> Unit:
    """Per metric and target the value of every model with its standard error, and z of every pair."""
    result = truth(train, random, lists, list(METRICS))
    unit: Unit = {}
    for metric in METRICS:
        for target in (POOLED, PER_USER):
            rows = [e for e in result.estimates if (e.metric, str(e.target)) == (metric, target)]
            unit[f"{metric} | {target} | value"] = np.array([e.value for e in rows])
            unit[f"{metric} | {target} | se"] = np.array([e.se for e in rows])
            unit[f"{metric} | {target} | z"] = said(result, metric, ("naive", target)).z
    copied = [name in learned.IMITATORS or name == simple.IMITATOR for name in lists]
    unit["imitates"] = np.array([float(one or other) for one, other in combinations(copied, 2)])
    return unit


def _asked(recipe: Recipe) -> dict[str, Any]:
    return {
        "rows": {name: list(row) for name, row in recipe.rows.items()},
        "points": [point for name in recipe.rows for point in recipe.points(name)],
    }
