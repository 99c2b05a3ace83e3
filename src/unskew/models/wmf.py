"""Weighted matrix factorisation of implicit feedback (Hu, Koren & Volinsky 2008, "Collaborative filtering for implicit
feedback datasets").

    min  Σ over all pairs of c_ui (p_ui − x_u·y_i)² + λ (Σ|x_u|² + Σ|y_i|²)
    p = 1, c = 1 + α for positives,          p = 0, c = 1 for all other pairs
    p = r, c = 1 + α r for pairs with a rating r, where values=ratings

All users given the items, then all items given the users, again and again; no unseen pair is visited
(``kernels/confidence.py``). The second is what RankSys fits, by the steps of Hu, Koren & Volinsky or by those of
Pilászy, Zibriczky & Tikk (2010); the latter's λ counts twice there: it stands in YᵀY + λ and again in every step. The
defaults of d, λ, α and the number of rounds are those of RankSys' own example.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np

from unskew.core.bounds import DIM, ROUNDS, SEED, Number
from unskew.core.errors import InputError
from unskew.core.memory import require
from unskew.core.parts import Words, option
from unskew.core.threads import Each, by_blocks
from unskew.kernels import confidence as kernel
from unskew.kernels.fours import LANES
from unskew.kernels.gram import add_gram, padded
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids
from unskew.log.expected import some_ids
from unskew.log.log import Floats, Log
from unskew.models.base import Rated, ones_or_ratings
from unskew.models.by_factors import ByFactors, Scored
from unskew.models.neighbours import Rows

STEPS = 3  # conjugate gradients of a row in every round
CHUNK = 64  # rows that are multiplied together: they stay in the first cache
START = 0.02  # factors of items start between −START/2 and START/2
MODERATE = Number(above=0.0, high=1e6, why="Numbers of single precision could not hold its products.")
PENALTY = Number(low=0.0, high=1e9, why="A stronger one leaves nothing.")

Solver = Literal["cg", "exact"]
Progress = Callable[[int, int], object]


@dataclass(eq=False, repr=False)
class WMF(ByFactors, Rated):
    """Factors of users and items from positives, every other pair counting as a weak zero.

    Args:
        solver: ``cg`` takes three steps of conjugate gradients per row and round, ``exact`` solves every row; the
            second is slower from about 30 factors on, and ends at the same lists but for rounding.

    Users without positives, or unknown to the training log, score 0 everywhere: their lists are random. Items without
    positives score 0 for everybody.
    """

    dim: int = option(50, DIM, "factors")
    alpha: float = option(1.0, MODERATE, "how much more a positive counts than any other pair")
    penalty: float = option(0.1, PENALTY, "λ")
    rounds: int = option(20, ROUNDS, "sweeps over all users and all items")
    solver: Solver = option("cg", Words(get_args(Solver)), "how rows are renewed", changed=True)
    seed: int = option(0, SEED, "of the start")
    values: str = ones_or_ratings()
    users_: Ids = field(init=False)
    user_: Floats = field(init=False)
    item_: Floats = field(init=False)

    name = "wmf"

    def footprint(self, log: Log) -> int:
        """The factors besides, in both precisions."""
        return super().footprint(log) + 24 * (len(log.users) + len(log.items)) * (self.dim + LANES)

    def fit(self, log: Log, *, progress: Progress | None = None) -> Self:
        """Learn from the positives of a log.

        Args:
            progress: called after every round with its number and the number of rounds.
        """
        liked = self.learnt(log)
        shape = len(log.users), len(log.items)
        require(self.footprint(log), f"'{self}'", "Take a smaller dim.")
        rows = Rows.of_users(liked), Rows.of_items(liked)
        users, items = np.zeros((shape[0], self.dim)), self._start(log.items)
        renew = self._approach if self.solver == "cg" else self._solve
        with by_blocks(None) as each:
            for number in range(self.rounds):
                users = renew(rows[0], items, users, each)
                items = renew(rows[1], users, items, each)
                if progress is not None:
                    progress(number + 1, self.rounds)
        self.users_, self.items_ = log.users, log.items
        self.user_, self.item_ = (
            np.ascontiguousarray(side[:, : self.dim], dtype=np.float64) for side in (users, items)
        )
        if not (np.isfinite(self.user_).all() and np.isfinite(self.item_).all()):
            raise InputError(f"'{self}': the factors grew beyond all bounds. Take a larger penalty.", code="diverged")
        return self

    def _start(self, ids: Ids) -> Floats:
        """Small numbers by a hash of (seed, id, number of the factor)."""
        numbers = np.arange(self.dim, dtype=np.uint64)
        drawn = pair_uniform(self.seed, np.repeat(ids.hashes, self.dim), np.tile(numbers, len(ids)))
        return START * (drawn - 0.5).reshape(len(ids), self.dim)

    def _solve(self, rows: Rows, other: Floats, own: Floats, each: Each) -> Floats:
        """Renew one side given the other, each row exactly."""
        wide = _wide(other, padded(self.dim), np.float64)
        base = _wide(self._base(wide), padded(self.dim + 1), np.float64, square=True)
        given = (rows.start, rows.column, rows.weight, wide, base, self.alpha, own)
        each(len(own), lambda first, last: kernel.solve_rows(first, last, *given))
        return own

    def _approach(self, rows: Rows, other: Floats, own: Floats, each: Each) -> Floats:
        """Renew one side given the other by a few steps for each row."""
        width = -(-self.dim // LANES) * LANES
        wide, mine = (_wide(side, width, np.float32) for side in (other, own))
        base = self._base(wide).astype(np.float32)
        given = (rows.start, rows.column, rows.weight, wide, base, np.float32(self.alpha), STEPS, mine)
        each(len(own), lambda first, last: kernel.approach_rows(first, last, *given))
        return mine

    def _base(self, wide: Floats) -> Floats:
        """YᵀY + λ; always summed in the same order."""
        upper = np.zeros((wide.shape[1], wide.shape[1]))
        for start in range(0, len(wide), CHUNK):
            part = wide[start : start + CHUNK].astype(np.float64)
            add_gram(part, len(part), upper)
        upper = np.triu(upper)
        return upper + np.triu(upper, 1).T + self.penalty * np.eye(len(upper))

    def loss(self, log: Log) -> float:
        """What is minimised, for the log that the model was fitted on."""
        liked = self.learnt(log)
        user, item = self.user_[log.users.into(self.users_)], self.item_[log.items.into(self.catalogue)]
        total = float(np.sum((user.T @ user) * (item.T @ item)))
        for start in range(0, len(liked), 1_000_000):
            part = slice(start, start + 1_000_000)
            guess = np.einsum("ij,ij->i", user[liked.user[part]], item[liked.item[part]])
            worth = 1.0 if liked.value is None else liked.value[part]
            total += float(np.sum((1.0 + self.alpha * worth) * (worth - guess) ** 2 - guess**2))
        return total + self.penalty * float(np.sum(user**2) + np.sum(item**2))

    def factors(self) -> tuple[Floats, Floats]:
        """Matrices of users and items whose product holds all scores."""
        _ = self.catalogue
        return self.user_, self.item_

    def scored(self, users: Ids) -> Scored:
        """By x·y."""
        items, rows = self.catalogue, some_ids(users).into(self.users_)
        return Scored(rows, self.factors(), np.zeros(len(items)), items)


def _wide(rows: Floats, width: int, kind: Any, square: bool = False) -> Floats:
    """The same numbers with zeros behind them."""
    if rows.shape[1] == width and rows.dtype == kind:
        return rows
    out = np.zeros((width if square else len(rows), width), dtype=kind)
    there = rows[: len(out), :width]
    out[: len(there), : there.shape[1]] = there
    return out
