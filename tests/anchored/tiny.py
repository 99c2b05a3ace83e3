"""Tiny worlds with a log, lists and answers, small enough to look at every design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

USERS, ITEMS = ["a", "b", "c"], ["i", "j", "k", "l"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Tiny:
    """Relevance of every pair, which of them are logged, two models' lists, and what a model guesses."""

    relevance: dict[Pair, float]
    logged: list[Pair]
    lists: dict[str, dict[str, list[str]]]
    guess: dict[Pair, float]

    @property
    def unseen(self) -> list[Pair]:
        return [(u, i) for u in USERS for i in ITEMS if (u, i) not in self.logged]

    def test(self) -> pl.DataFrame:
        rows = [(u, i, self.relevance[u, i]) for u, i in self.logged]
        return pl.DataFrame(rows, schema=["user", "item", "value"], orient="row")

    def recs(self) -> dict[str, pl.DataFrame]:
        return {
            name: pl.DataFrame(
                [(u, i, n + 1) for u, own in lists.items() for n, i in enumerate(own)],
                schema=["user", "item", "rank"],
                orient="row",
            )
            for name, lists in self.lists.items()
        }

    def outcome(self) -> pl.DataFrame:
        rows = [(u, i, q) for (u, i), q in self.guess.items()]
        return pl.DataFrame(rows, schema=["user", "item", "prediction"], orient="row")

    def answers(self, drawn: dict[Pair, float]) -> pl.DataFrame:
        rows = [(u, i, self.relevance[u, i], p) for (u, i), p in drawn.items()]
        return pl.DataFrame(rows, schema=["user", "item", "value", "propensity"], orient="row")

    def truth(self, name: str, k: int) -> tuple[float, float]:
        """Σ_u of relevant items among the first k, and Σ_u of all relevant items."""
        lists = self.lists[name]
        listed = sum(self.relevance[u, i] for u, own in lists.items() for i in own[:k])
        return listed, sum(self.relevance.values())


def tiny(seed: int, *, useless: bool = False) -> Tiny:
    """A world; ``useless`` guesses have nothing to do with it."""
    rng = np.random.default_rng(seed)
    every = [(u, i) for u in USERS for i in ITEMS]
    relevance = {pair: float(rng.random() < 0.5) for pair in every}
    logged = [every[n] for n in sorted(rng.choice(len(every), 6, replace=False))]
    relevance[logged[0]], relevance[logged[1]] = 1.0, 0.0
    lists = {name: {u: list(rng.permutation(ITEMS)[:3]) for u in USERS} for name in ("one", "other")}
    guess = {
        pair: 0.9 if useless else float(np.clip(relevance[pair] * 0.6 + rng.random() * 0.4, 0, 1)) for pair in every
    }
    return Tiny(relevance, logged, lists, guess)
