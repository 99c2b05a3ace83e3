"""Shops whose log has a column ``propensity``: who was shown what, what it brought, what the logger wrote beside it.

Every pair is relevant with the same probability, whatever was shown and whatever lists hold, so two lists are equally
good; with a ``lift``, pairs that only list b holds are relevant so many times as often. ``honest_columns`` and
``broken_columns`` say what is shown and what is written. Each log is made with zeros (all that was shown) and without
(clicks alone).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us
from tests.worlds import listed

from .verdict_worlds import Case, Floats, Ints, K, Random

Bools = npt.NDArray[np.bool_]
USERS, ITEMS = 3_000, 100
RELEVANT = 0.03  # of the pairs


@dataclass(frozen=True)
class World:
    """One log and the lists of two models, as matrices of users × items.

    Args:
        seen: what was shown, and stands in the log.
        relevant: what it brings if it is shown.
        written: what the column says of a pair that is in the log.
        a, b: lists, one row of items per user.
        place: where on the page an item stood.
        train: rows that are given as training log.
        divided: the seed of a split of ours that holds out three tenths of the log.
        population, catalogue: whether all users, and all items, are named.
    """

    seen: Bools
    relevant: Bools
    written: Floats
    a: Ints
    b: Ints
    place: Ints | None = None
    train: Bools | None = None
    divided: int | None = None
    population: bool = False
    catalogue: bool = False

    def rows(self, kept: Bools, zeros: bool) -> pl.DataFrame:
        """Some of the log's pairs, with those that brought nothing or without."""
        user, item = np.nonzero(kept if zeros else kept & self.relevant)
        frame: dict[str, Any] = {"user": user, "item": item, "propensity": self.written[user, item]}
        if zeros:
            frame["value"] = self.relevant[user, item].astype(np.float64)
        if self.place is not None:
            frame["position"] = self.place[user, item]
        return pl.DataFrame(frame)

    def case(self, zeros: bool) -> Case:
        """The call that a user makes."""
        options: dict[str, Any] = {"feedback": "conversions"} if zeros else {}
        users, items = self.seen.shape
        if self.population:
            options["users"] = pl.DataFrame({"user": np.arange(users)})
        if self.catalogue:
            options["items"] = pl.DataFrame({"item": np.arange(items)})
        train, test = self._parts(zeros)
        return Case(test, {"a": listed(self.a), "b": listed(self.b)}, "b", options | train)

    def _parts(self, zeros: bool) -> tuple[dict[str, Any], Any]:
        """The training log as an option, and the test log."""
        if self.divided is not None:
            log = us.Log.from_frame(self.rows(self.seen, zeros), feedback="conversions" if zeros else "implicit")
            train, test = us.split.holdout(log, 0.3, seed=self.divided)
            return {"train": train}, test
        if self.train is None:
            return {}, self.rows(self.seen, zeros)
        return {"train": self.rows(self.seen & self.train, zeros)}, self.rows(self.seen & ~self.train, zeros)


NAMED = {"better": "a", "ahead": "a", "worse": "b", "behind": "b"}


@dataclass(frozen=True)
class Said:
    """What a default call said of a against b.

    Args:
        word: the verdict of the cell that makes the headline; ``refused`` where there is none, and ``not debiased``
            where the headline's estimator corrects nothing.
        trust: why it should be doubted, or was withheld.
        assumption: what it rests on.
        beside: whether another debiased cell of the result names a winner.
    """

    word: str
    trust: str = ""
    assumption: str = ""
    beside: bool = False

    @property
    def named(self) -> str:
        """Which model, if any."""
        return NAMED.get(self.word, "")


def judge(case: Case) -> Said:
    """Run a case and read its headline."""
    try:
        result = case.run()
    except us.InputError as error:
        return Said("refused", str(error))
    first = result.headline()
    cell = first["metric"], first["estimator"], first["target"]
    named = {v.estimator for v in result.verdicts_ if str(v.verdict) in NAMED and v.estimator != "naive"}
    beside = bool(named - {first["estimator"]})
    if not first["debiased"]:
        return Said("not debiased", beside=beside)
    for v in result.verdicts_:
        if (v.metric, v.estimator, v.target) == cell:
            return Said(str(v.verdict), v.trust, v.assumption, beside)
    return Said("refused", beside=beside)


def draw(rng: Random, p: Floats) -> Bools:
    """Each pair by itself, with its own probability."""
    return rng.random(p.shape) < p


def top(score: Floats, many: int = K) -> Ints:
    """The best items of each user, best first."""
    found = np.argpartition(-score, many - 1, axis=1)[:, :many]
    order = np.argsort(-np.take_along_axis(score, found, axis=1), axis=1)
    return np.take_along_axis(found, order, axis=1)


def mark(items: Ints, many: int) -> Bools:
    """A matrix of users × items that is true where lists hold an item."""
    found = np.zeros((len(items), many), dtype=np.bool_)
    np.put_along_axis(found, items, True, axis=1)
    return found


def like(rng: Random, score: Floats) -> Ints:
    """A list of items with high scores, more or less."""
    return top(score + 0.3 * rng.standard_normal(score.shape))


def at_random(rng: Random, shape: tuple[int, int], known: Bools | None = None) -> Ints:
    """A list of any items, but those that are ``known``."""
    score = rng.random(shape)
    return top(score if known is None else np.where(known, -1.0, score))


def taste(rng: Random, users: int = USERS, items: int = ITEMS) -> Floats:
    """What a logger thinks that users like, half of it personal, with variance 1; relevance knows nothing of it."""
    return np.asarray((rng.standard_normal(items) + rng.standard_normal((users, items))) / np.sqrt(2.0))


def sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def relevance(rng: Random, a: Ints, b: Ints, items: int, lift: float = 1.0, rate: float = RELEVANT) -> Bools:
    """Pairs are relevant alike, but those that b alone lists ``lift`` times as often."""
    if lift == 1.0:
        return rng.random((len(a), items)) < rate
    return rng.random((len(a), items)) < np.where(mark(b, items) & ~mark(a, items), lift * rate, rate)


def shown_in_requests(rng: Random, choice: Ints, visits: Ints, epsilon: float, items: int) -> Bools:
    """What each user was ever shown: the places of every page hold the greedy choice or, with ε, any item."""
    user = np.repeat(np.arange(len(choice)), visits)
    page = choice[user]
    page = np.where(rng.random(page.shape) < epsilon, rng.integers(0, items, page.shape), page)
    seen = np.zeros((len(choice), items), dtype=np.bool_)
    seen[user[:, None], page] = True
    return seen


def ranks_of(score: Floats) -> Ints:
    """The place of every item among the user's scores, from 0."""
    order = np.argsort(-score, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(score.shape[1]), score.shape), axis=1)
    return ranks
