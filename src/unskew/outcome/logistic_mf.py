"""Logistic matrix factorisation of outcomes, weighted by 1/P (saito20 Eq. 8, with its minus sign).

    q_ui = σ(v_u·w_i + a_u + b_i + c)
    min of −Σ_O (1/P) [ y log q + (1 − y) log(1 − q) ] + ½ (Σ λ_u|v_u|² + Σ λ_i|w_i|²)

over the seen pairs. It is fitted like the propensity of the same name (``propensity/logistic_mf.py``): Newton steps for
all users, then for all items, until the likelihood of held-out rows (a hash of user and item) stops rising; a ridge
holds the offsets, since few rows speak for each. A pair that was not seen is missing: it is no zero.

The penalty is told in units of chance. With w = 1/P up to its mean, m the mean outcome and D_u = Σ w² m (1 − m) over a
user's rows (D_i over an item's, S over all): w (y − m)/√(D_u D_i) has a largest singular value of about √(U/S) + √(I/S)
when there is no structure at all. So λ_u = penalty · (√(U/S) + √(I/S)) · D_u, and likewise for items, where D stands
half-way between its own value and the mean: items that many have seen would otherwise bring in noise, and those that
few have seen would be learnt by heart (Foygel et al. 2011, the smoothed weighted trace norm).

A y between 0 and 1 counts as y of a success and 1 − y of a failure. saito20 fits by Adam: ``outcome/adam.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import polars as pl
from scipy import sparse

from unskew.core.bounds import DIM_OR_NONE, ROUNDS, SEED, STRENGTH, THREADS, Number, check
from unskew.core.memory import require
from unskew.core.parts import option
from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.ids import hash_texts
from unskew.outcome.base import Rows
from unskew.outcome.factored import Factored, Found, refuse_graded, with_rows
from unskew.propensity.alternating import Pairs, Task, alternate
from unskew.propensity.base import FitInputs
from unskew.propensity.logistic_mf import STEPS

LEAST = 1e-6  # the mean outcome is taken to be at least this far from 0 and 1 at the start


@dataclass(frozen=True)
class LogisticMF(Factored):
    """Factors and offsets of users and items, by Newton steps.

    Args:
        penalty: of factors, in units of what chance alone would bring.
        ridge: of offsets; 4 is what suits offsets that vary by ½ between users, 1/variance.
        held_out: share of the rows that is kept aside to know when to stop; 0 runs all epochs.
        threads: by default one per core; the numbers do not depend on it.
    """

    dim: int = option(10, DIM_OR_NONE, "factors; 0: offsets only")
    penalty: float = option(0.85, STRENGTH, "on factors")
    ridge: float = option(4.0, STRENGTH, "on offsets")
    epochs: int = option(30, ROUNDS, "at most so many rounds")
    held_out: float = option(0.1, Number(low=0.0, high=0.5), "share of rows that say when to stop")
    seed: int = option(0, SEED, "of start and held-out rows")
    threads: int | None = field(default=None, compare=False, repr=False)
    found: Found | None = field(default=None, compare=False, repr=False)

    name = "logistic_mf"

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, self.name, threads=THREADS)

    @property
    def held_out_loss(self) -> tuple[float, ...]:
        """Weighted mean log-loss of the held-out rows: with offsets alone, after every round, and in the end."""
        return self.state.losses

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Fit to the seen pairs."""
        refuse_graded(log, rows, self.name)
        users, items = with_rows(log, rows)
        held = self._held(log, rows)
        kept_pairs, kept_pull = _entries(log, rows, ~held)
        held_pairs, held_pull = _entries(log, rows, held)
        turned, order = _turn(kept_pairs, len(log.items))
        times = np.zeros(len(log.users))
        times[log.user] = rows.times
        task = Task(
            kept_pairs, turned, held_pairs, times, items.astype(np.float64), (kept_pull, kept_pull[order], held_pull)
        )
        count = (rows.times * rows.inverse)[~held]
        mean = min(max(float(count @ rows.y[~held] / count.sum()), LEAST), 1.0 - LEAST)
        dim = min(self.dim, int(users.sum()), int(items.sum()))
        require(64 * (len(users) + len(items)) * (dim + 1), f"'{self}'", "Take a smaller dim.")

        def first(user: Floats, item: Floats, level: float) -> Floats:
            return _first(log, task, dim, self.seed, user[:, -1], item[:, -1], level)

        level = float(np.log(mean / (1.0 - mean)))
        user, item, level, losses = alternate(
            task, self._penalties(task, mean), level, first, self.epochs, self.threads, (self.ridge, self.ridge)
        )
        user[~users], item[~items] = 0.0, 0.0
        return self.remember(found=Found(log.users, log.items, users, items, user, item, level, losses))

    def _penalties(self, task: Task, mean: float) -> tuple[Floats, Floats]:
        """λ of every user and item."""
        noise, user = (
            task.pulls[0] ** 2 * mean * (1.0 - mean),
            np.repeat(np.arange(len(task.users)), np.diff(task.kept[0])),
        )
        many = float(task.users.sum()), float(task.items.sum())
        of_users = np.bincount(user, noise, len(task.users))
        of_items = np.bincount(task.kept[1] >> 1, noise * task.users[user], len(task.items))
        total = float(of_items.sum())
        unit = self.penalty * (np.sqrt(many[0] / total) + np.sqrt(many[1] / total))
        return unit * 0.5 * (of_users + total / many[0]), unit * 0.5 * (of_items + total / many[1])

    def _held(self, train: Log, rows: Rows) -> Bools:
        """The rows to judge by; none, if they would be all that count."""
        stream = int(hash_texts(pl.Series([f"outcome {self.seed}"]))[0])
        drawn = pair_uniform(stream, train.users.hashes[train.user], train.items.hashes[train.item])
        held = drawn < self.held_out
        return held if rows.times[~held].any() else np.zeros(len(train), dtype=np.bool_)


def _entries(train: Log, rows: Rows, chosen: Bools) -> tuple[Pairs, Floats]:
    """2·item + success by user, and what each entry weighs; a y inside (0, 1) makes two entries."""
    at = np.flatnonzero(chosen)
    y = rows.y[at]
    twice = np.repeat(np.arange(len(at)), np.where((y > 0.0) & (y < 1.0), 2, 1))
    second = np.append(False, twice[1:] == twice[:-1])
    success = (y[twice] > 0.0) & ~second
    pair = 2 * train.item[at][twice] + success
    pull = rows.inverse[at][twice] * np.where(success, y[twice], 1.0 - y[twice])
    counts = np.bincount(train.user[at][twice], minlength=len(train.users))
    return (np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), pair.astype(np.int32)), pull


def _turn(pairs: Pairs, items: int) -> tuple[Pairs, Ints64]:
    """The same entries by item, 2·user + success, and the order in which they stand there."""
    item, user = pairs[1] >> 1, np.repeat(np.arange(len(pairs[0]) - 1), np.diff(pairs[0]))
    order = np.argsort(item, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=items))]).astype(np.int64)
    return (ends, (2 * user[order] + (pairs[1][order] & 1)).astype(np.int32)), order


def _first(train: Log, task: Task, dim: int, seed: int, a: Floats, b: Floats, level: float) -> Floats:
    """First item factors: singular vectors of what offsets leave, w (y − q), over the root of its information.

    A few steps of subspace iteration, begun with hashes of (seed, item, number of the factor).
    """
    item, pull = task.kept[1] >> 1, task.pulls[0]
    user = np.repeat(np.arange(len(a)), np.diff(task.kept[0]))
    p = 1.0 / (1.0 + np.exp(-np.clip(level + a[user] + b[item], -15.0, 15.0)))
    rest, weight = pull * ((task.kept[1] & 1) - p), pull * p * (1.0 - p)
    rows, columns = np.bincount(user, weight, len(a)), np.bincount(item, weight * task.users[user], len(b))
    out, back = (
        1.0 / np.sqrt(side + float(np.average(side, weights=many)) + 1e-12)
        for side, many in ((rows, task.users), (columns, task.items))
    )
    matrix = sparse.csr_array((rest * out[user] * back[item], (user, item)), (len(a), len(b)))
    numbers = np.arange(dim, dtype=np.uint64)
    drawn = pair_uniform(seed, np.repeat(train.items.hashes, dim), np.tile(numbers, len(b)))
    basis, triangle = drawn.reshape(len(b), dim) - 0.5, np.zeros((dim, dim))
    for _ in range(STEPS if dim else 0):
        basis, triangle = np.linalg.qr(matrix.T @ (task.users[:, None] * (matrix @ basis)))
    size = np.abs(np.diag(triangle)) ** 0.25  # the root of the singular value
    return np.asarray(basis * size * (task.users.sum() * task.items.sum()) ** 0.25)
