"""Small worlds as tables: logged clicks or ratings with propensities, lists and predictions, a population, factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

Cell = Any  # a text, a number or None; Parquet also knows dates, bytes, decimals
CUTS = (3, 5)


@dataclass
class Table:
    """Columns and rows, as they will be written."""

    columns: list[str]
    rows: list[list[Cell]]

    def copy(self) -> Table:
        """A table that may be changed without changing this one."""
        return Table(list(self.columns), [list(row) for row in self.rows])

    def at(self, name: str) -> int:
        """The place of a column; of the first one where it is gone."""
        return self.columns.index(name) if name in self.columns else 0


@dataclass(frozen=True)
class World:
    """Everything that one evaluation may be given."""

    users: list[Cell]
    items: list[Cell]
    log: Table
    lists: dict[str, Table]
    ratings: Table
    predictions: dict[str, Table]
    population: Table
    catalogue: Table
    features: Table
    train: Table


_STYLES: dict[str, Callable[[str, int], Cell]] = {
    "number": lambda letter, i: i + 1,
    "text": lambda letter, i: f"{letter}{i}",
    "padded": lambda letter, i: f"{i:04d}",
    "large": lambda letter, i: 10**15 + 7919 * i,
    "unicode": lambda letter, i: f"{letter}é-{i} ß",
    "sparse": lambda letter, i: (i + 1) * 1_000_003 - 5_000_000,
}


def draw(rng: Random) -> World:
    """A world of 12 to 24 users and 15 to 20 items."""
    style = _STYLES[rng.choice(list(_STYLES))]
    users = [style("u", i) for i in range(rng.randint(12, 24))]
    items = [style("i", i) for i in range(rng.randint(15, 20))]
    log, ratings, train = [], [], []
    for user in users:
        seen = rng.sample(items, rng.randint(3, 7))
        log += [[user, item, rng.choice((0.2, 0.25, 0.4, 0.5, 0.8))] for item in seen[:-2]]
        train += [[user, item] for item in seen[-2:]]
        for item in items:
            chance = rng.choice((0.3, 0.5, 0.6))
            if rng.random() < chance:
                ratings.append([user, item, float(rng.randint(1, 5)), chance])
    lists = {name: _lists(rng, users, items) for name in ("alpha", "beta")}
    predictions = {
        name: [[user, item, rng.randint(10, 50) / 10] for user in users for item in items] for name in ("alpha", "beta")
    }
    if rng.random() < 0.5:
        rng.shuffle(log)
    return World(
        users,
        items,
        Table(["user", "item", "propensity"], log),
        {name: Table(["user", "item", "rank"], rows) for name, rows in lists.items()},
        Table(["user", "item", "value", "propensity"], ratings),
        {name: Table(["user", "item", "prediction"], rows) for name, rows in predictions.items()},
        Table(["user", "relevant"], [[user, rng.randint(8, 12)] for user in users]),
        Table(["item"], [[item] for item in items]),
        Table(["user", "age", "score"], [[user, rng.randint(18, 80), rng.random()] for user in users]),
        Table(["user", "item"], train),
    )


def _lists(rng: Random, users: list[Cell], items: list[Cell]) -> list[list[Cell]]:
    rows = []
    for user in users:
        rows += [[user, item, rank] for rank, item in enumerate(rng.sample(items, rng.randint(6, 9)), start=1)]
    return rows
