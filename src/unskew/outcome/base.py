"""Outcomes: what would a pair have yielded, had it been seen?

A model q_ui of E[y_ui] is fitted to the seen pairs of a log, zeros included, and asked about any pair. Seen pairs are a
biased choice, so that each may count 1/P (saito20 Eq. 8): Σ_O (1/P)·loss estimates the loss over all pairs. Only the
proportions of 1/P matter here; relative propensities will do.

``of`` answers for pairs in the shape of a log, ``predict`` for ids, ``totals`` adds q up over all candidates of a user,
block by block. No users × items matrix is ever held.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from unskew.core.bounds import LARGEST, SMALLEST, shown
from unskew.core.errors import InputError
from unskew.core.parts import Part
from unskew.core.threads import Threads
from unskew.kernels.arrays import Bools, Floats
from unskew.kernels.pairs import lacking
from unskew.log import Account, Feedback, Ids, Log
from unskew.log.expected import a_log, coded_pairs
from unskew.log.ids import Codes
from unskew.log.recommendations import exclusions
from unskew.log.relevance import row_gains
from unskew.propensity.base import NO_INPUTS, FitInputs, IdColumn, pairs_log

PairPredictor = Callable[[Codes, Codes], Floats]
Lacking = Callable[[Codes, Codes], Bools]
CELLS = 1 << 20  # pairs that one thread asks about at once


class Outcome(Part, ABC):
    """A model of E[y] for any pair."""

    estimated: ClassVar[bool] = True
    crossfits: ClassVar[bool] = False  # fits by folds of pairs of its own

    def fit(
        self,
        log: Log,
        *,
        propensity: Floats | None = None,
        inputs: FitInputs = NO_INPUTS,
        weights: Floats | None = None,
    ) -> Self:
        """Learn from the seen pairs of a log, in place; what comes ready-made has nothing to learn.

        Args:
            log: seen pairs with their outcomes, zeros included.
            propensity: P of every row, absolute or relative; each row then counts 1/P. Without it all count alike.
            inputs: covariates, where a model uses them.
            weights: how often each user of ``log`` counts (bootstrap); everybody once by default.
        """
        return self

    @property
    def fitted(self) -> bool:
        """Whether there is nothing left to learn."""
        return True

    @property
    def by_parts(self) -> bool:
        """Whether sums over users are all that a fit needs (``tally``), so that no log is needed as a whole."""
        return False

    def tally(self, log: Log, *, propensity: Floats | None = None) -> Any:
        """What a fit needs of the seen pairs of some users: sums, which ``merge`` with those of other users."""
        raise NotImplementedError

    def fit_tally(self, tally: Any, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """Learn from the sums over all users, in place; what a user's own pairs tell is left to ``of_part``."""
        raise NotImplementedError

    def of_part(self, log: Log, *, propensity: Floats | None = None) -> Self:
        """The same for users with these seen pairs, which tell more of them than sums do; by default nothing more."""
        return self

    @property
    def account(self) -> Account | None:
        """What was read, where it comes as a table."""
        return None

    def load(self) -> None:
        """Read a table that lies in a file, where that has not been done."""

    @property
    def default(self) -> float | None:
        """What it says of pairs that its table lacks; ``None`` where it has no table, or refuses to say."""
        return None

    @property
    def answers_all(self) -> bool:
        """Whether it has an answer for every pair; if not, asking about one that it lacks is an error."""
        return True

    @abstractmethod
    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """A function that gives q for pairs of codes of these vocabularies, ascending by user and item."""

    def known(self, users: Ids, items: Ids) -> tuple[Bools, Bools]:
        """Which of these users and items the model has learnt something about; by default all."""
        return np.ones(len(users), dtype=np.bool_), np.ones(len(items), dtype=np.bool_)

    def of(self, pairs: Log) -> Floats:
        """q of every row of a log."""
        return self.bind(pairs.users, pairs.items)(pairs.user, pairs.item)

    def lacking(self, users: Ids, items: Ids) -> Lacking:
        """Tells of pairs of codes whether the model knows too little: q is more of a guess, or a default.

        Fitted models lack pairs of whose user or item training said nothing.
        """
        of_users, of_items = self.known(users, items)

        def lacks(user: Codes, item: Codes) -> Bools:
            found = np.empty(len(user), dtype=np.bool_)
            lacking(user, item, of_users, of_items, found)
            return found

        return lacks

    def unknown(self, pairs: Log) -> int:
        """How many rows are such pairs."""
        return int(np.count_nonzero(self.lacking(pairs.users, pairs.items)(pairs.user, pairs.item)))

    def predict(self, users: IdColumn, items: IdColumn) -> Floats:
        """q of the pairs (users[j], items[j])."""
        (people, user), (things, item) = coded_pairs(users, items)
        order = np.lexsort((item, user))
        found = np.empty(len(order))
        found[order] = self.of(pairs_log(people, things, user[order], item[order]))
        return found

    def totals(self, users: Ids, items: Ids, seen: Log | None = None, threads: int | None = None) -> Floats:
        """Σ q over each user's candidates: all ``items``, less the user's items in ``seen``.

        Users are worked off in blocks side by side; neither blocks nor threads change a number.
        """
        ask, every = self.bind(users, items), np.arange(len(items), dtype=np.int32)
        start, gone = exclusions(seen, users, items)
        out, step = np.zeros(len(users)), max(1, CELLS // max(1, len(items)))

        def work(low: int) -> None:
            high = min(low + step, len(users))
            who = np.repeat(np.arange(low, high, dtype=np.int32), len(items))
            q = ask(who, np.tile(every, high - low)).reshape(high - low, len(items))
            q[np.repeat(np.arange(high - low), np.diff(start[low : high + 1])), gone[start[low] : start[high]]] = 0.0
            out[low:high] = q.sum(axis=1)

        with Threads(threads) as pool:
            list(pool.map(work, range(0, len(users), step)))
        return out


class RowModel(Outcome):
    """A model that is fitted to the rows of one log, whose outcomes and weights are checked first."""

    def fit(
        self,
        log: Log,
        *,
        propensity: Floats | None = None,
        inputs: FitInputs = NO_INPUTS,
        weights: Floats | None = None,
    ) -> Self:
        """Learn from the seen pairs of a log, in place (``Outcome.fit``)."""
        return self.learn(log, rows_of(log, propensity, weights, self.name), inputs)

    @abstractmethod
    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Remember what these rows of the log tell."""


class Rows(NamedTuple):
    """What a model is fitted to.

    Args:
        y: the outcome of every row.
        inverse: what each row weighs, ∝ 1/P, 1 on average.
        times: how often the user of each row counts.
    """

    y: Floats
    inverse: Floats
    times: Floats


def rows_of(train: Log, propensity: Floats | None, weights: Floats | None, name: str) -> Rows:
    """Outcomes and weights of the training rows, checked; there must be some."""
    y, inverse, times = seen_rows(train, propensity, weights, name)
    if not times.any():
        raise no_rows(train.account.source, name)
    return Rows(y, inverse * (times.sum() / (times @ inverse)), times)


def no_rows(source: str, name: str) -> InputError:
    """Nothing to learn from."""
    return InputError(
        f"{source}: '{name}' has no training row that counts. Give a log with at least one seen pair.", code="empty-log"
    )


def seen_rows(train: Log, propensity: Floats | None, weights: Floats | None, name: str) -> Rows:
    """The same of some users, perhaps without rows; what rows weigh is 1/P itself."""
    source = a_log(train).account.source
    if train.feedback is Feedback.IMPLICIT:
        raise InputError(
            f"{source}: an implicit log holds positives only, and '{name}' would learn that everything is liked.\n"
            "Give a log of all seen pairs, zeros included (feedback='conversions'), or predictions from outside.",
            code="positives-only",
        )
    y = np.asarray(row_gains(train), dtype=np.float64)
    times = np.ones(len(train)) if weights is None else np.asarray(weights, dtype=np.float64)[train.user]
    inverse = np.ones(len(train)) if propensity is None else _inverse(propensity, len(train), source)
    return Rows(y, inverse, times)


def _inverse(propensity: Floats, rows: int, source: str) -> Floats:
    """1/P, if there is one P above 0 for every row."""
    try:
        p = np.asarray(propensity, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{source}: propensities must be numbers, one for each row, not {shown(propensity)}.", code="not-a-number"
        ) from None
    if p.shape != (rows,):
        raise InputError(
            f"{source}: there are {rows:,} training rows and propensities of shape {p.shape}; give one each.",
            code="wrong-shape",
        )
    wrong = ~((p >= SMALLEST) & (p <= LARGEST))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{source}: the propensity of a training row must be at least {SMALLEST:g}; row {row + 1:,} has "
            f"{p[row]}.\nSeen pairs cannot have had no chance to be seen: fix the propensities, or leave them out.",
            code="out-of-range",
            row=row,
        )
    return np.asarray(1.0 / p)
