"""What the experiments share: cases on Coat and in worlds, and a store of finished sweeps and powers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from unskew.core import Progress, Store
from unskew.log.datasets import Dataset
from unskew.simulate import World
from unskew_papers.anchored.case import Case
from unskew_papers.anchored.coat import coat_case
from unskew_papers.anchored.power import fixed_users, resampled, sampled_users
from unskew_papers.anchored.sweep import Target, sweep
from unskew_papers.anchored.worlds import SHOP, USERS, population, some_of
from unskew_papers.arrays import Floats

VERSION = "1"  # of what is kept; raise it when its meaning changes
ROWS = (100, 200, 500, 1_000, 2_000, 4_000)
Unit = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Units:
    """Makes units from their descriptions; it is sent to processes.

    Args:
        data: Coat, or a set of its form.
        shop: the world.
        users: of a case in it.
    """

    data: Dataset | None = None
    shop: World = SHOP
    users: int = USERS

    def __call__(self, key: Mapping[str, Any]) -> Unit:
        """One unit."""
        return {
            "coat facts": self._coat_facts,
            "coat": self._coat,
            "coat users": self._coat_users,
            "coat power": self._coat_power,
            "world": self._world,
            "world power": self._world_power,
        }[key["unit"]](key)

    def _coat_facts(self, key: Mapping[str, Any]) -> Unit:
        """What there is to ask about."""
        known = coat_case(key["seed"], self.data).known
        a, b = known.sides
        there = known.worth[known.unseen]
        return {
            "candidates": float(len(known.y)),
            "relevant candidates": float(known.y.sum()),
            "candidates in the held-out log": float(known.logged.sum()),
            "candidates where any two lists differ": float(np.count_nonzero(np.ptp(there, axis=1))),
            "candidates where two lists differ, median": float(np.median((there[:, a] != there[:, b]).sum(axis=0))),
            "mean guess": float((1.0 / (1.0 + np.exp(-known.score))).mean()),
            "mean truth": float(known.y.mean()),
        }

    def _coat(self, key: Mapping[str, Any]) -> Unit:
        case = coat_case(key["seed"], self.data)
        return _sweeps(case, Target.of(case.known), _no_tails(key), key["draws"], key["seed"])

    def _coat_users(self, key: Mapping[str, Any]) -> Unit:
        """Users drawn anew for every draw, held against all of them."""
        case = coat_case(key["seed"], self.data)
        found, tails = [], _no_tails(key)
        for number in range(key["draws"]):
            other = resampled(case, 1_000 * key["seed"] + number)
            target = Target.of(other.known, case.known)
            found.append(_sweeps(other, target, tails, 1, 1_000 * key["seed"] + number))
        return _joined(found)

    def _coat_power(self, key: Mapping[str, Any]) -> Unit:
        case, how = coat_case(key["seed"], self.data), (key["simultaneous"], key["draws"], key["seed"])
        if key["users"] == "fixed":
            return fixed_users(case, *how)
        return sampled_users(case, lambda n: resampled(case, 1_000 * key["seed"] + n), case.known.lead, *how)

    def _world(self, key: Mapping[str, Any]) -> Unit:
        people = _people(key["seed"], self.shop)
        found, tails = [], _no_tails(key)
        for number in range(key["draws"]):
            case = some_of(people, number, self.users)
            found.append(_sweeps(case, Target.of(case.known, people.known), tails, 1, number))
        return _joined(found)

    def _world_power(self, key: Mapping[str, Any]) -> Unit:
        people, how = _people(key["seed"], self.shop), (key["simultaneous"], key["draws"], key["seed"])
        case = some_of(people, 0, self.users)
        if key["users"] == "fixed":
            return fixed_users(case, *how)
        lead = people.known.lead * (self.users / len(people.train))
        return sampled_users(case, lambda n: some_of(people, 1 + n, self.users), lead, *how)


def _no_tails(key: Mapping[str, Any]) -> dict[int, dict[str, float]]:
    """By number of rows; filled by the first draw."""
    return {rows: {} for rows in key["rows"]}


def _sweeps(case: Case, target: Target, tails: dict[int, dict[str, float]], draws: int, seed: int) -> Unit:
    """One for each number of rows."""
    return {
        f"{rows} | {name}": values
        for rows, known_tails in tails.items()
        for name, values in sweep(case, target, rows, draws, seed, known_tails).items()
    }


@lru_cache(maxsize=1)
def _people(seed: int, shop: World) -> Case:
    return population(seed, shop)


def _joined(found: Sequence[dict[str, Floats]]) -> Unit:
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


class Setting:
    """Units, made once and kept.

    Args:
        rows: how many rows are drawn.
    """

    def __init__(
        self, store: Store, workers: int = 1, units: Units | None = None, rows: tuple[int, ...] = ROWS
    ) -> None:
        self.store, self.workers, self.rows = store, workers, rows
        self.units = units or Units()

    def sweeps(self, unit: str, runs: int, draws: int, progress: Progress | None) -> dict[int, list[Unit]]:
        """By number of rows, one unit per run."""
        keys = [{"unit": unit, "seed": seed, "rows": list(self.rows), "draws": draws} for seed in range(runs)]
        found = self._made(keys, progress, f"{unit}: drawing")
        return {
            rows: [
                {name.removeprefix(f"{rows} | "): each[name] for name in each if name.startswith(f"{rows} | ")}
                for each in found
            ]
            for rows in self.rows
        }

    def facts(self, runs: int, progress: Progress | None) -> list[Unit]:
        """What there is on Coat, one unit per run."""
        return self._made([{"unit": "coat facts", "seed": seed} for seed in range(runs)], progress, "coat: facts")

    def powers(
        self, unit: str, users: str, simultaneous: bool, runs: int, draws: int, progress: Progress | None
    ) -> list[Unit]:
        """One unit per run."""
        keys = [
            {"unit": unit, "seed": seed, "users": users, "simultaneous": simultaneous, "draws": draws}
            for seed in range(runs)
        ]
        return self._made(keys, progress, f"{unit}: users {users}")

    def _made(self, keys: Sequence[Mapping[str, Any]], progress: Progress | None, stage: str) -> list[Unit]:
        return self.store.map(
            keys, self.units, workers=self.workers, processes=self.workers > 1, progress=progress, stage=stage
        )
