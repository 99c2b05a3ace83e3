"""Which λ, d and treatment of offsets? k-fold cross-validation, scored by inverse propensities (schnabel16 §6.1).

    score = 1/k Σ over folds  1/(UI) Σ over held-out ratings  δ(y, ŷ) / (P/k),        ŷ fitted with P·(k − 1)/k

Without propensities that is the plain mean error. Folds come from ``split.k_fold``: a hash of (seed, user, item). One
task is a fold, a d and a treatment; it walks λ upwards, each fit beginning where the last one ended (upwards, since
from a strong penalty, where factors are 0, there is no way back), and tasks share the cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.workers import each
from unskew.kernels import pairs
from unskew.kernels.arrays import present
from unskew.log.ids import Codes
from unskew.log.log import Floats, Log
from unskew.models.mf.als import als
from unskew.models.mf.problem import GroupedRatings, Loss, Offsets, Problem, Ratings
from unskew.models.mf.solving import Effort
from unskew.models.mf.start import svd_start
from unskew.models.mf.weights import Weighted
from unskew.split import k_fold

PENALTIES = (0.008, 0.04, 0.2, 1.0, 5.0, 25.0, 125.0)
DIMS = (5, 10, 20, 40)
OFFSETS: tuple[Offsets, ...] = ("free", "penalised")
FOLD_TOLERANCE = 1e-4  # what a finer one would change is far below what folds differ by

Advance = Callable[[int, int], object]


class Search(NamedTuple):
    """How every setting did.

    Args:
        table: penalty, dim, offsets, score, its standard error over folds, and how many of the fits converged; best
            first.
    """

    table: pl.DataFrame
    folds: int
    seed: int

    @property
    def best(self) -> dict[str, Any]:
        """The setting with the least score."""
        return self.table.select("penalty", "dim", "offsets").row(0, named=True)

    @property
    def cautions(self) -> tuple[Notice, ...]:
        """What one should know before trusting the choice."""
        best = self.table.row(0, named=True)
        said = edges(self.table, {name: best[name] for name in ("penalty", "dim")})
        if late := self.folds - best["converged"]:
            text = (
                f"{late} of {self.folds} fits of the best setting had not converged: its score may be too bad or too "
                "good. Give more rounds."
            )
            said.append(Notice(text, code="fits-not-converged", fits=late))
        if late := int((self.table["converged"] < self.folds).sum()):
            text = f"{late} of {len(self.table)} settings had fits that did not converge; another may be the best."
            said.append(Notice(text, code="settings-not-converged", settings=late))
        return tuple(said)


def edges(tried: pl.DataFrame, best: Mapping[str, float]) -> list[Notice]:
    """Options whose best value is the least or the greatest that was tried."""
    said = []
    for option, chosen in best.items():
        low, high = tried[option].min(), tried[option].max()
        if low != high and chosen in (low, high):
            edge, further = ("largest", "larger") if chosen == high else ("smallest", "smaller")
            text = f"the best {option}, {chosen:g}, is the {edge} tried: a {further} one may do better."
            said.append(Notice(text, code="edge-of-grid", option=option, value=chosen))
    return said


@dataclass(frozen=True)
class Grid:
    """What to try."""

    penalties: Sequence[float] = PENALTIES
    dims: Sequence[int] = DIMS
    offsets: Sequence[Offsets] = OFFSETS

    def __post_init__(self) -> None:
        if not (self.penalties and self.dims and self.offsets):
            raise InputError(
                "a search needs at least one penalty, one dim and one treatment of offsets.", code="missing-argument"
            )


def ratings_of(log: Log, weight: Floats) -> Ratings:
    """Weighted ratings as solvers want them."""
    value = np.ascontiguousarray(present(log.value))
    return Ratings(GroupedRatings(log.indptr, log.item, value, weight), len(log.items))


def cross_validate(
    weighted: Weighted,
    grid: Grid,
    loss: Loss,
    folds: int,
    seed: int,
    effort: Effort,
    advance: Advance | None = None,
) -> Search:
    """Fit and score every setting on every fold."""
    parts = [_Fold.of(weighted, split.held_out, folds) for split in k_fold(weighted.log, folds, seed=seed)]
    penalties = sorted(grid.penalties)
    tasks = sorted(product(grid.dims, grid.offsets, range(folds)), key=lambda task: -task[0])  # the longest first
    over = threading.Event()

    def work(dim: int, offsets: Offsets, fold: int) -> list[tuple[float, bool]]:
        return parts[fold].walk(dim, offsets, penalties, loss, seed, replace(effort, threads=1), over)

    scores = {}
    try:
        for place, found in each(work, tasks, workers=effort.threads or os.cpu_count() or 1):
            scores[tasks[place]] = found
            if advance is not None:
                advance(len(scores), len(tasks))
    finally:
        over.set()  # after Ctrl-C nobody waits for walks under way, and they end with the fit they are at
    return Search(_table(scores, grid, folds), folds, seed)


class _Fold(NamedTuple):
    """One fold: ratings to fit on, and rows to score with their weights."""

    train: Ratings
    user: Codes
    item: Codes
    value: Floats
    weight: Floats

    @classmethod
    def of(cls, weighted: Weighted, held_out: npt.NDArray[np.bool_], folds: int) -> _Fold:
        log, weight = weighted.log, weighted.weight
        train = ratings_of(log.take(~held_out), weight[~held_out] * (folds / (folds - 1)))
        value, weight = present(log.value)[held_out], weight[held_out] * folds
        return cls(train, log.user[held_out], log.item[held_out], value, weight)

    def walk(
        self,
        dim: int,
        offsets: Offsets,
        penalties: Iterable[float],
        loss: Loss,
        seed: int,
        effort: Effort,
        over: threading.Event,
    ) -> list[tuple[float, bool]]:
        """The score of every λ, and whether the fit converged; what there is so far, once ``over`` is set."""
        found, factors = [], svd_start(self.train, dim, seed, threads=1)
        for penalty in penalties:
            if over.is_set():
                break
            solved = als(Problem(self.train, dim, penalty, loss, offsets), factors, effort)
            factors = solved.factors
            guess = np.empty(len(self.value))
            pairs.predict(self.user, self.item, factors.user, factors.item, factors.level, guess)
            error = np.abs(guess - self.value)
            cost = float(self.weight @ (error if loss == "absolute" else error**2))
            found.append((cost / (self.train.users * self.train.items), solved.converged))
        return found


def _table(scores: Mapping[Any, list[tuple[float, bool]]], grid: Grid, folds: int) -> pl.DataFrame:
    """From scores by (dim, offsets, fold), each of all penalties upwards."""
    rows = []
    for dim, offsets, (place, penalty) in product(grid.dims, grid.offsets, enumerate(sorted(grid.penalties))):
        each = [scores[dim, offsets, fold][place] for fold in range(folds)]
        values = np.array([score for score, _ in each])
        spread = float(values.std(ddof=1) / np.sqrt(folds))
        rows.append((penalty, dim, offsets, float(values.mean()), spread, sum(converged for _, converged in each)))
    names = ["penalty", "dim", "offsets", "score", "se", "converged"]
    return pl.DataFrame(rows, schema=names, orient="row").sort("score", maintain_order=True)
