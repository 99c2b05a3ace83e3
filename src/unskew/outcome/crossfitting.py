"""Cross-fitting over pairs: q of a pair comes from a model that has not seen what that pair yielded.

Pairs, seen or not, are put into k folds by a hash of user and item. Model j is fitted to the seen pairs outside fold j:
the pairs of its own fold are missing to it, not zero. q_ui then does not depend on O_ui and y_ui, so that

    E[ q + O r (y − q) ] = E[y]

for right propensities, whatever the model; a model that has learnt y_ui by heart takes the correction away instead
(saito20's Algorithm 1 fits in sample: ask the model itself for that).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, field
from itertools import accumulate
from typing import Any, Self

import numpy as np

from unskew.core.bounds import FOLDS, SEED
from unskew.core.errors import InputError
from unskew.core.memory import require
from unskew.core.parts import Made, option, part_of
from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.kernels.folds import by_fold
from unskew.log import Ids, Log
from unskew.log.expected import a_log
from unskew.log.ids import Codes
from unskew.outcome.base import Outcome, PairPredictor
from unskew.propensity.base import NO_INPUTS, FitInputs
from unskew.propensity.crossfit import folds_of, pair_folds

INNER = Made(part_of("unskew.outcome"), "an outcome model", "logistic_mf")


@dataclass(frozen=True, eq=False)
class FoldSums:
    """What models need of the seen pairs of some users, by fold; that of other users is added.

    Args:
        source: what messages call the log.
        rows: how many pairs each fold has.
        folds: what the model that is cross-fitted needs of them (``Outcome.tally``).
    """

    source: str
    rows: Ints64
    folds: tuple[Any, ...]

    def merge(self, other: FoldSums) -> FoldSums:
        """That of both sets of users."""
        return FoldSums(self.source, self.rows + other.rows, tuple(map(_merged, self.folds, other.folds)))


@dataclass(frozen=True)
class Crossfit(Outcome):
    """k models, each fitted without one fold of the pairs."""

    inner: Outcome = option(MISSING, INNER, "what is fitted", unnamed=True)
    folds: int = option(5, FOLDS, "of pairs")
    seed: int = option(0, SEED, "of the folds")
    models: tuple[Outcome, ...] = field(default=(), compare=False, repr=False)

    name = "crossfit"
    crossfits = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner.crossfits:
            raise InputError("'crossfit': the model is cross-fitted already.", code="conflicting-arguments")
        if not self.inner.estimated:
            raise InputError(
                f"'crossfit': '{self.inner}' is not fitted to the log, so there is nothing to cross-fit.",
                code="not-fitted",
            )

    @property
    def fitted(self) -> bool:
        """Whether there are models."""
        return bool(self.models)

    def fit(
        self,
        log: Log,
        *,
        propensity: Floats | None = None,
        inputs: FitInputs = NO_INPUTS,
        weights: Floats | None = None,
    ) -> Self:
        """Fit the k models. Fewer rows make all P smaller by one factor, which does not matter to any of them."""
        fold = pair_folds(a_log(log), self.folds, self.seed)
        counts = np.ones(len(log), dtype=np.bool_) if weights is None else np.asarray(weights)[log.user] > 0.0
        self._check_rows(log.account.source, np.bincount(fold[counts], minlength=self.folds))
        sides = len(log.users) + len(log.items)
        require(32 * self.folds * sides, f"'{self}', a model for each fold,", "Take fewer folds.")
        models = []
        for k in range(self.folds):
            rest = fold != k
            p = _some(propensity, rest)
            models.append(self.inner.copy().fit(log.take(rest), propensity=p, inputs=inputs, weights=weights))
        return self.remember(models=tuple(models))

    @property
    def by_parts(self) -> bool:
        """Where the model that is cross-fitted is."""
        return self.inner.by_parts

    def tally(self, log: Log, *, propensity: Floats | None = None) -> FoldSums:
        """The sums of each fold."""
        require(100 * self.folds * len(log.items), f"'{self}', sums for each fold,", "Take fewer folds.")
        fold = pair_folds(a_log(log), self.folds, self.seed)
        sums = (
            self.inner.tally(log.take(fold == k), propensity=_some(propensity, fold == k)) for k in range(self.folds)
        )
        return FoldSums(log.account.source, np.bincount(fold, minlength=self.folds), tuple(sums))

    def fit_tally(self, tally: FoldSums, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """Each model from the sums of all folds but its own."""
        self._check_rows(tally.source, tally.rows)
        models = (self.inner.copy().fit_tally(sums, inputs=inputs) for sums in _without_each(tally.folds))
        return self.remember(models=tuple(models))

    def of_part(self, log: Log, *, propensity: Floats | None = None) -> Self:
        """Each model for these users, from their pairs outside its fold."""
        self._check()
        fold = pair_folds(a_log(log), self.folds, self.seed)
        models = (
            model.of_part(log.take(fold != k), propensity=_some(propensity, fold != k))
            for k, model in enumerate(self.models)
        )
        return self.copy().remember(models=tuple(models))

    def _check_rows(self, source: str, rows: Ints64) -> None:
        """Whether every model has a row to learn from; ``rows`` counts those of each fold."""
        total = int(rows.sum())
        if self.folds > total:
            raise InputError(
                f"{source}: {total:,} training rows are too few for {self.folds:,} folds of pairs.\n"
                "Take fewer folds, or fit in sample (in_sample=True).",
                code="too-few-rows",
                rows=total,
            )
        if (rows == total).any():
            raise InputError(
                f"{source}: {total:,} training rows are too few for {self.folds} folds of pairs: without fold "
                f"{int(np.argmax(rows)) + 1} none is left.\nGive more rows, or fit in sample (in_sample=True).",
                code="too-few-rows",
                rows=total,
            )

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """Each pair is answered by the model of its fold."""
        self._check()
        asks = [model.bind(users, items) for model in self.models]

        def ask(user: Codes, item: Codes) -> Floats:
            fold, count = folds_of(users, items, user, item, self.folds, self.seed)
            ends = np.cumsum(count)
            order, asked, about = np.empty(len(user), dtype=np.int64), np.empty_like(user), np.empty_like(item)
            by_fold(fold, user, item, ends - count, order, asked, about)  # one question to each model
            found, q = np.empty(len(user)), np.empty(len(user))
            for one, low, high in zip(asks, ends - count, ends, strict=True):
                found[low:high] = one(asked[low:high], about[low:high])
            q[order] = found
            return q

        return ask

    def known(self, users: Ids, items: Ids) -> tuple[Bools, Bools]:
        """Those that every model knows."""
        self._check()
        each = [model.known(users, items) for model in self.models]
        return np.all([of_users for of_users, _ in each], axis=0), np.all([of_items for _, of_items in each], axis=0)

    def _check(self) -> None:
        if not self.models:
            raise InputError(f"'{self}' has not been fitted. Call .fit(log) first.", code="not-fitted")


def crossfit(
    outcome: Outcome,
    log: Log,
    folds: int = 5,
    *,
    propensity: Floats | None = None,
    inputs: FitInputs = NO_INPUTS,
    weights: Floats | None = None,
    seed: int = 0,
) -> Outcome:
    """q for any pair from models that were fitted without it; predictions from outside are given back as they are.

    A model that says itself how it is cross-fitted keeps its own folds.
    """
    if not outcome.estimated:
        return outcome
    return folded(outcome, folds, seed).copy().fit(log, propensity=propensity, inputs=inputs, weights=weights)


def folded(outcome: Outcome, folds: int = 5, seed: int = 0) -> Outcome:
    """The model cross-fitted over pairs, unfitted so far; one that says itself how keeps its own folds."""
    return outcome if outcome.crossfits else Crossfit(outcome, folds, seed)


def _some(propensity: Floats | None, rows: Bools) -> Floats | None:
    return None if propensity is None else np.asarray(propensity)[rows]


def _without_each(sums: Sequence[Any]) -> Iterator[Any]:
    """For each of two or more sums, all others merged: nothing is taken off again, so that no digit of it stays."""
    before, after = list(accumulate(sums[:-1], _merged)), list(accumulate(sums[:0:-1], _merged))[::-1]
    yield after[0]
    yield from map(_merged, before[:-1], after[1:])
    yield before[-1]


def _merged(one: Any, other: Any) -> Any:
    return one.merge(other)
