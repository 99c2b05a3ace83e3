"""Every propensity × split × share × candidates: over all ways in which pairs may be seen and split, ips is unbiased.

Of one user's three relevant pairs each is unseen, in training, in the test part, or (nested splits) in neither: all
3³ or 4³ states, each with its probability and a user of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.log import Log
from unskew.propensity import Known, Level, Propensity, Scope, Scored

pytestmark = pytest.mark.usefixtures("made_up_logs")
P = {"x": 0.9, "y": 0.6, "w": 0.2}
RANK = {"x": 1, "w": 2}  # y is not listed


@dataclass(frozen=True)
class Table(Propensity):
    """P of every pair as given, of one part of the log: what a perfect fit on the training part would say."""

    part: Scope
    factor: float

    name = "table"

    @property
    def level(self) -> Level:
        return Level.ABSOLUTE

    def refers(self, log: Log) -> Scope:
        return self.part

    def of(self, log: Log) -> Scored:
        return Scored(np.array([P.get(item, 1.0) * self.factor for item in log.items.values.to_list()])[log.item])


@dataclass(frozen=True)
class Split:
    """How a log was divided: the shares of the test and training parts, the rest being lost."""

    test: float
    train: float


PLACES = ("unseen", "train", "test", "lost")


def states(split: Split) -> Iterator[tuple[dict[str, str], float]]:
    """Every place of every pair, with its probability."""
    lost = max(1.0 - split.test - split.train, 0.0)
    places = PLACES if lost > 1e-9 else PLACES[:3]
    for state in product(places, repeat=len(P)):
        chance = 1.0
        for place, p in zip(state, P.values(), strict=True):
            chance *= {"unseen": 1.0 - p, "train": p * split.train, "test": p * split.test, "lost": p * lost}[place]
        yield dict(zip(P, state, strict=True)), chance


State = tuple[dict[str, str], float]


def rows(every: list[State], place: str) -> pl.DataFrame:
    """The pairs in one place, every state a user of its own."""
    pairs = [(n, item) for n, (state, _) in enumerate(every) for item, where in state.items() if where == place]
    found = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
    return found.with_columns(propensity=pl.col("item").replace_strict(P, return_dtype=pl.Float64))


def ips(every: list[State], test: Any, train: Any, **options: Any) -> list[float]:
    """The sum of dcg@3 over the list, of every state."""
    users = pl.DataFrame({"user": range(len(every))})
    lists = users.join(pl.DataFrame({"item": [*RANK], "rank": [*RANK.values()]}), how="cross")
    asked: dict[str, Any] = {"metrics": ["dcg@3"], "estimators": ["ips"], "target": "per_user_sum", "per_user": True}
    found: Any = us.evaluate(test, {"m": lists}, train=train, users=users, **asked, **options).per_user()
    return list(found.sort("user")["numerator"])


def worth(items: list[str]) -> float:
    return float(sum(1.0 / np.log2(RANK[item] + 1.0) for item in items if item in RANK))


HALVED, NESTED = Split(0.3, 0.7), Split(0.3, 0.35)
WAYS: dict[str, tuple[Split, bool, Any, dict[str, Any]]] = {
    # split, do logs remember it, propensity, what is said
    "known, split of ours": (HALVED, True, "known", {}),
    "known, --share": (HALVED, False, "known", {"share": 0.3}),
    "known(share)": (HALVED, False, "known(share=0.3)", {}),
    "known, nested splits": (NESTED, True, "known", {}),
    "log, --share": (HALVED, False, Table(Scope.LOG, 1.0), {"share": 0.3}),
    "train, split of ours": (HALVED, True, Table(Scope.TRAIN, 0.7), {}),
    "train, --share": (HALVED, False, Table(Scope.TRAIN, 0.7), {"share": 0.3}),
    "train, nested splits": (NESTED, True, Table(Scope.TRAIN, 0.35), {}),
}


@pytest.mark.parametrize("candidates", ["all", "unseen"])
@pytest.mark.parametrize("way", WAYS)
def test_ips_is_unbiased(way: str, candidates: str) -> None:
    """E[ips] is the sum over all pairs, or, given the training part, over those outside it."""
    split, remembered, propensity, said = WAYS[way]
    every = list(states(split))
    test, train = (Log.from_frame(rows(every, place)) for place in ("test", "train"))
    if remembered:
        test, train = replace(test, share=split.test), replace(train, share=split.train)
    found = ips(every, test, train, propensity=propensity, candidates=candidates, **said)
    means: dict[tuple[str, ...], list[float]] = {}
    for (state, chance), value in zip(every, found, strict=True):
        given = tuple(item for item, where in state.items() if where == "train") if candidates == "unseen" else ()
        sums = means.setdefault(given, [0.0, 0.0])
        sums[0] += chance * value
        sums[1] += chance
    assert sum(chance for _, chance in means.values()) == pytest.approx(1.0)
    for given, (total, chance) in means.items():
        assert total / chance == pytest.approx(worth([item for item in P if item not in given]), rel=1e-9), given


@pytest.mark.parametrize("candidates", ["all", "unseen"])
@pytest.mark.parametrize("propensity", ["known", Table(Scope.LOG, 1.0), Table(Scope.TRAIN, 1.0)], ids=str)
def test_other_users_keep_their_propensities(propensity: Any, candidates: str) -> None:
    """--share users: P as it is, whichever part it describes, over all 2³ ways of seeing the test user's pairs."""
    every = [state for state in states(Split(1.0, 0.0)) if "train" not in state[0].values()]
    train = pl.DataFrame({"user": [900, 900], "item": ["x", "w"]})
    found = ips(every, rows(every, "test"), train, propensity=propensity, candidates=candidates, share="users")
    assert sum(chance * value for (_, chance), value in zip(every, found, strict=True)) == pytest.approx(worth([*P]))


@pytest.mark.parametrize("share", [None, 0.3])
def test_a_column_of_the_test_rows_is_never_scaled(share: float | None) -> None:
    """known(part=test) of a split of ours: the logger wrote P of the test part itself, here P·s."""
    every = list(states(HALVED))
    test = rows(every, "test").with_columns(propensity=pl.col("propensity") * HALVED.test)
    log = replace(Log.from_frame(test), share=share)
    found = ips(every, log, rows(every, "train").drop("propensity"), propensity=Known(part="test"), candidates="all")
    assert sum(chance * value for (_, chance), value in zip(every, found, strict=True)) == pytest.approx(worth([*P]))
