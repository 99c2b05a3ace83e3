"""From scores to lists: what every model shares.

Candidates of a user are the items of the log that the model was fitted on, less the user's items in ``seen``. Users
are worked off in blocks of a fixed size by a pool of threads (kernels release the lock); neither the size of a block
nor the number of threads changes a list, since ties are broken by a hash of the ids.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.core.parts import Part, Words, option
from unskew.core.threads import Threads, usual
from unskew.kernels.topk import SEED, top_k, top_k_shared
from unskew.log.expected import a_log
from unskew.log.ids import Codes, Ids
from unskew.log.log import Floats, Integers, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import Recommendations, exclusions
from unskew.log.relevance import gains, told_feedback
from unskew.models.by_length import ByLength
from unskew.models.packed import finite
from unskew.models.screen import Screen, worthwhile

CELLS = 1 << 22  # predictions held at once by one thread: 32 MiB
SCORES = 1 << 17  # scores of candidates that are made and ranked at once: they stay in the cache of a core meanwhile
PLACES = Whole(1, 2**31 - 1)
ROWS = 4096  # users per block where no scores are held
NOTHING = 1e-6  # ratings up to it count as 0: products of smaller ones might be 0 by rounding

Fill = Callable[[slice, Integers, Codes, Codes], npt.NDArray[np.bool_]]


class Model(Part, ABC):
    """A recommender that is fitted on a log; parameters are stored by the constructor, what is learnt ends in _."""

    items_: Ids | None = None
    personal: ClassVar[bool] = True  # whether lists depend on the user's own rows, besides leaving them out

    @property
    def learns_values(self) -> bool:
        """Whether all rows with their values teach it something; else it is fitted on positives."""
        return False

    def footprint(self, log: Log) -> int:
        """About how many bytes a fit on this log, and lists from it, take besides the log."""
        return 16 * CELLS + 32 * len(log)

    @abstractmethod
    def fit(self, log: Log) -> Self:
        """Learn from a log: from its rows with their values, or from its positives (all rows of an implicit log)."""

    @abstractmethod
    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """For each user the k best items of the catalogue that are not in ``seen``; fewer if there are not k."""

    @property
    def catalogue(self) -> Ids:
        """The items that the model can recommend."""
        if self.items_ is None:
            raise InputError(f"'{self}' has not been fitted. Call fit(log) before recommend.", code="not-fitted")
        return self.items_

    def __repr__(self) -> str:
        return str(self)


class Updatable(Model):
    """A model that learns further rows without starting again.

    After ``fit(log)`` and ``update(rows)`` every list is the one that ``fit`` on all rows together gives, so that the
    folds of a sliding window cost little more than one fit. ``rows`` holds new pairs (a log has each pair once) in any
    order of time; users and items may be new. Each model says what it keeps in memory to that end.
    """

    @abstractmethod
    def update(self, rows: Log) -> Self:
        """Learn rows besides those that are known."""

    def update_pays(self, log: Log) -> bool:
        """Whether an update takes less time than a fit on ``log``, all rows together."""
        return True


class Rated(Model):
    """A model for which a pair counts as 1 or, with values=ratings, as its rating; one of 0 is like an unseen pair."""

    values: str

    @property
    def learns_values(self) -> bool:
        """Whether ratings count."""
        return self.values == "ratings"

    def learnt(self, log: Log) -> Log:
        """The positives without values, or all rows with a rating above 0."""
        if not self.learns_values:
            return replace(a_log(log).positives(), value=None)
        values = values_of(self, log)
        if (least := values.min(initial=0.0)) < 0.0:
            text = f"{log.account.source}: '{self}' cannot learn from ratings below 0; the least is {least:g}."
            raise InputError(text, code="bad-value", column="value")
        return log.take(values > NOTHING)


def ones_or_ratings() -> Any:
    """The option ``values`` of such models."""
    return option("ones", Words(("ones", "ratings")), "what a pair counts as: 1, or its rating", changed=True)


def united(known: Ids, further: Ids) -> Ids:
    """All ids of two vocabularies; one of the two where it holds the other, as in folds of one log."""
    if further is known or (further.into(known) >= 0).all():
        return known
    if (known.into(further) >= 0).all():
        return further
    return Ids.of(known.values, further.values)


def values_of(model: Model, log: Log) -> Floats:
    """The values that a model learns from; a log without them is refused."""
    if a_log(log).value is None:
        text = f"{log.account.source}: '{model}' learns from a column 'value', and there is none."
        raise InputError(text, code="missing-column", column="value")
    return np.asarray(log.value)


def training_rows(model: Model, log: Log, relevant: str | None) -> Log:
    """What a model learns from: all rows, with y where a threshold says it, or the positives."""
    threshold = None if log.value is None else relevant
    if not model.learns_values:
        return log.positives(threshold)
    return log if threshold is None else replace(log, gain=gains(log, told_feedback(log, threshold), threshold))


def from_scores(score: Callable[[slice], Floats], items: Ids, users: Ids, k: int, seen: Log | None) -> Recommendations:
    """Lists from ``score(rows)``, the scores of a block of users for all items (float64[b, I])."""

    def fill(rows: slice, indptr: Integers, excluded: Codes, out: Codes) -> Any:
        return top_k(score(rows), k, users.hashes[rows], items.hashes, SEED, indptr, excluded, out)

    return _lists(fill, max(1, SCORES // max(1, len(items))), items, users, k, seen)


def from_factors(
    rows: Codes, factors: tuple[Floats, Floats], offsets: Floats, items: Ids, users: Ids, k: int, seen: Log | None
) -> Recommendations:
    """Lists by v·w + b in double precision; items whose score cannot reach a list are not looked at.

    Args:
        rows: of each user the row of factors; −1 is a user without factors, for whom the offsets rank.
        factors: one row per user, and one per item.
        offsets: b, of the items; an offset of the user moves no item past another.
    """
    left, right, hashes = np.ascontiguousarray(factors[0]), factors[1], (users.hashes, items.hashes)
    screened = worthwhile(len(users), len(items), k) and finite(left, right, offsets)
    way = Screen(rows, left, right, offsets, hashes, k) if screened else ByLength(rows, left, right, offsets, hashes)
    return _lists(way.fill, way.block, items, users, k, seen)


def from_shared_scores(
    scores: Floats, items: Ids, users: Ids, k: int, seen: Log | None, seed: np.uint64 = SEED
) -> Recommendations:
    """Lists from scores that are the same for every user: no users × items matrix is made."""
    order = np.argsort(-scores, kind="stable")

    def fill(rows: slice, indptr: Integers, excluded: Codes, out: Codes) -> Any:
        return top_k_shared(scores, order, k, users.hashes[rows], items.hashes, seed, indptr, excluded, out)

    return _lists(fill, ROWS, items, users, k, seen)


def _lists(fill: Fill, block: int, items: Ids, users: Ids, k: int, seen: Log | None) -> Recommendations:
    """Run ``fill`` over blocks of users and pack what it found."""
    k = int(PLACES.of(k, "the length k of lists"))
    indptr, excluded = exclusions(seen, users, items)
    found = np.empty((len(users), min(k, max(1, len(items)))), dtype=np.int32)
    rank = np.empty_like(found)

    def work(start: int) -> int:
        rows = slice(start, min(start + block, len(users)))
        rank[rows] = np.arange(1, found.shape[1] + 1, dtype=np.int32)
        return int(np.count_nonzero(fill(rows, indptr[start : rows.stop + 1], excluded, found[rows])))

    with Threads(usual()) as pool:
        tied = sum((map if usual() == 1 else pool.map)(work, range(0, len(users), block)))
    if (found[:, -1] >= 0).all():
        full = np.arange(0, found.size + 1, found.shape[1])
        return Recommendations(users, items, full, found.ravel(), rank.ravel(), tied=tied)
    listed = found >= 0
    lengths = np.count_nonzero(listed, axis=1)
    return Recommendations(users, items, starts_of(lengths), found[listed], rank[listed], tied=tied)
