"""What the experiments of saito20 share: the worlds of ML-100K, the real sets, and finished runs that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import Any

import numpy as np

from unskew import load
from unskew.core import Progress, Store
from unskew.log import Log
from unskew.log.datasets import folder_of
from unskew_papers.arrays import Codes, present
from unskew_papers.digest import digest, digest_of
from unskew_papers.saito20 import real, semi
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.real import Real
from unskew_papers.saito20.world import World, world_of

VERSION = "3"  # of the runs that are kept; raise it when their meaning changes


class Setting:
    """Runs, made once and kept.

    Args:
        ratings: what the semi-synthetic worlds are made of; by default ML-100K.
        real: a real set by name, or nothing where it is not there; by default the user's copy.
    """

    def __init__(
        self,
        store: Store,
        ratings: Callable[[], Log] | None = None,
        real: Callable[[str], Real | None] | None = None,
        *,
        workers: int = 1,
    ) -> None:
        self.store, self.workers = store, workers
        self.ratings = cache(ratings or (lambda: load("ml-100k").mnar))
        self.real = cache(real or (lambda name: None if folder_of(name) is None else Real.of(load(name))))
        self.world = _one_at_a_time(lru_cache(maxsize=max(2, workers))(lambda seed: world_of(self.ratings(), seed)))

    def worlds(self, seeds: Sequence[int], progress: Progress | None = None) -> list[dict[str, Any]]:
        """Rates and shares of every world (Tables 2 and 3)."""
        keys = [{"world": seed, "log": self.fingerprint} for seed in seeds]

        def make(key: Mapping[str, Any]) -> dict[str, Any]:
            return semi.describe(self.world(key["world"]), key["world"])

        return self.store.map(keys, make, workers=self.workers, progress=progress, stage="making worlds")

    def semi(
        self, powers: Sequence[float], seeds: Sequence[int], training: Training, progress: Progress | None = None
    ) -> dict[float, list[dict[str, Any]]]:
        """Runs in the worlds of ML-100K, by power."""
        shared = {"log": self.fingerprint, **_told(training)}
        keys = [{"semi": seed, "power": power, **shared} for seed in seeds for power in powers]

        def make(key: Mapping[str, Any]) -> dict[str, Any]:
            seed, power = key["semi"], key["power"]
            return semi.one_run(self.world(seed), power, seed, self.lists(power, seed, training))

        found = self.store.map(keys, make, workers=self.workers, progress=progress, stage="worlds of ML-100K")
        return {power: found[place :: len(powers)] for place, power in enumerate(powers)}

    def lists(self, power: float, seed: int, training: Training) -> Codes:
        """What candidates list in a world of ML-100K: nearly all the time of a run, whatever is then made of it."""
        key = {"lists": seed, "power": power, "log": self.fingerprint, **_told(training)}
        made = self.store.once(key, lambda: {"lists": semi.lists_of(self.world(seed), power, seed, training)})
        return np.asarray(made["lists"], dtype=np.int32)

    def runs(
        self, name: str, seeds: Sequence[int], training: Training, progress: Progress | None = None
    ) -> list[dict[str, Any]]:
        """Runs on a real set, which must be there."""
        data = present(self.real(name))
        mark = digest(data.users.hashes, data.items.hashes, data.clicked, data.converted, data.test)
        keys = [{"real": name, "run": seed, "data": mark, **_told(training)} for seed in seeds]

        def make(key: Mapping[str, Any]) -> dict[str, Any]:
            return real.one_run(data, key["run"], training)

        return self.store.map(keys, make, workers=self.workers, progress=progress, stage=f"learning from {name}")

    @cached_property
    def fingerprint(self) -> str:
        """Of the ratings: what worlds depend on."""
        return digest_of(self.ratings())


def _told(training: Training) -> dict[str, Any]:
    return {"epochs": training.epochs, "rate": training.rate, "dims": list(training.dims)}


def _one_at_a_time(make: Callable[[int], World]) -> Callable[[int], World]:
    """Several workers ask for the same world: the first makes it, the others wait."""
    lock = Lock()

    def locked(seed: int) -> World:
        with lock:
            return make(seed)

    return locked
