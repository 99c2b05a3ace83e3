"""Cross-fitting over pairs: q of a pair comes from a model that has not seen what that pair yielded.

Pairs, seen or not, are put into k folds by a hash of user and item. Model j is fitted to the seen pairs outside fold j:
the pairs of its own fold are missing to it, not zero. q_ui then does not depend on O_ui and y_ui, so that

    E[ q + O r (y − q) ] = E[y]

for right propensities, whatever the model; a model that has learnt y_ui by heart takes the correction away instead
(saito20's Algorithm 1 fits in sample: ask the model itself for that).
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Self

import numpy as np

from unskew.bounds import FOLDS, SEED
from unskew.errors import InputError
from unskew.kernels.arrays import Bools, Floats
from unskew.kernels.folds import by_fold
from unskew.log import Ids, Log
from unskew.log.expected import a_log
from unskew.log.ids import Codes
from unskew.memory import require
from unskew.outcome.base import Outcome, PairPredictor
from unskew.parts import Made, option, part_of
from unskew.propensity.base import NO_INPUTS, FitInputs
from unskew.propensity.crossfit import folds_of, pair_folds

INNER = Made(part_of("unskew.outcome"), "an outcome model", "logistic_mf")


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
            raise InputError("'crossfit': the model is cross-fitted already.")
        if not self.inner.estimated:
            raise InputError(f"'crossfit': '{self.inner}' is not fitted to the log, so there is nothing to cross-fit.")

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
        if self.folds > np.count_nonzero(counts):
            raise InputError(
                f"{log.account.source}: {np.count_nonzero(counts):,} training rows are too few for "
                f"{self.folds:,} folds of pairs.\nTake fewer folds, or fit in sample (in_sample=True)."
            )
        sides = len(log.users) + len(log.items)
        require(32 * self.folds * sides, f"'{self}', a model for each fold,", "Take fewer folds.")
        models = []
        for k in range(self.folds):
            rest = fold != k
            if not counts[rest].any():
                raise InputError(
                    f"{log.account.source}: {np.count_nonzero(counts):,} training rows are too few for "
                    f"{self.folds} folds of pairs: without fold {k + 1} none is left.\n"
                    "Give more rows, or fit in sample (in_sample=True)."
                )
            p = None if propensity is None else np.asarray(propensity)[rest]
            models.append(self.inner.copy().fit(log.take(rest), propensity=p, inputs=inputs, weights=weights))
        return self.remember(models=tuple(models))

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
            raise InputError(f"'{self}' has not been fitted. Call .fit(log) first.")


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
    folded = outcome if outcome.crossfits else Crossfit(outcome, folds, seed)
    return folded.copy().fit(log, propensity=propensity, inputs=inputs, weights=weights)
