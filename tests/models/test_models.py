"""Models against dense, obvious references."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.said import refuses

from unskew.core import threads
from unskew.kernels.hashing import mix
from unskew.kernels.topk import SEED
from unskew.log import Ids, Log, Recommendations
from unskew.models import base, make

Rows = list[tuple[int, int, float]]
MODELS = [
    "most_popular",
    "random(seed=3)",
    "item_knn(neighbours=2)",
    "user_knn(neighbours=3)",
    "user_knn(neighbours=3, votes=count)",
    "item_knn(neighbours=2, values=ratings)",
    "user_knn(neighbours=3, values=ratings)",
    "svd(dim=3)",
    "wmf(dim=3, rounds=2)",
    "wmf(dim=3, rounds=2, solver=exact)",
    "wmf(dim=3, rounds=2, values=ratings)",
    "plain_mf(dim=3, epochs=2)",
    "biased_mf(dim=3, epochs=2)",
    "pmf(dim=3, epochs=2)",
    "nmf(dim=3, epochs=2)",
    "mmmf(dim=3, epochs=2)",
    "bpr(dim=3, epochs=2)",
]
SHRINK, VALUES = st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from(["no values", "ones", "ratings"])
rows = st.lists(  # numbers whose order as text is another
    st.tuples(st.integers(7, 13), st.integers(5, 13), st.sampled_from([0.0, 1.0, 2.0])),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
)


def log_of(rows: Rows, values: bool = False) -> Log:
    """A log of (user, item, value) rows."""
    frame = pl.DataFrame(rows, schema=["user", "item", "value"], orient="row")
    return Log.from_frame(frame, feedback="conversions") if values else Log.from_frame(frame.drop("value"))


def worth_of(train: Rows, values: str) -> dict[tuple[int, int], float]:
    """What pairs count as: positives of the log (all rows if it has no values) as 1, or ratings as they are."""
    if values == "ratings":
        return {(u, i): value for u, i, value in sorted(train) if value > 0}
    return {(u, i): 1.0 for u, i, value in sorted(train) if value > 0 or values == "no values"}


def cosine(one: dict[int, float], other: dict[int, float], shrink: float) -> float:
    """Of two sparse vectors; 0 where they share nothing."""
    product = sum(value * other.get(key, 0.0) for key, value in one.items())
    sizes = [sum(value**2 for value in each.values()) for each in (one, other)]
    return product / (math.sqrt(sizes[0] * sizes[1]) + shrink) if product else 0.0


def ids(*values: object) -> Ids:
    """A vocabulary."""
    return Ids.of(pl.Series(values))


def lists_of(found: Recommendations) -> dict[object, list[object]]:
    """The lists by user, after checking that the ranks are 1, 2, 3, …"""
    lists: dict[object, list[object]] = {user: [] for user in found.users.values}
    for user, item, rank in found.to_frame().iter_rows():
        lists[user].append(item)
        assert rank == len(lists[user])
    return lists


def expected(
    score: dict[tuple[int, int], float], log: Log, users: Ids, k: int, seen: set[tuple[int, int]]
) -> dict[object, list[object]]:
    """Sort the unseen items of the catalogue by (−score, hash) for each user; a missing score is 0."""
    lists: dict[object, list[object]] = {}
    for user, user_hash in zip(users.values, users.hashes, strict=True):
        keyed = [
            (-score.get((user, item), 0.0), int(mix(mix(user_hash ^ SEED) ^ item_hash)), item)
            for item, item_hash in zip(log.items.values, log.items.hashes, strict=True)
            if (user, item) not in seen
        ]
        lists[user] = [item for _, _, item in sorted(keyed)[:k]]
    return lists


@settings(deadline=None)
@given(train=rows, seen=rows, k=st.integers(1, 12), values=st.booleans())
def test_most_popular_counts_positives(train: Rows, seen: Rows, k: int, values: bool) -> None:
    """Lists are sorted by (training positives, hash), for known and unknown users, without what was seen."""
    log, users = log_of(train, values), ids(*range(10, 17))
    count = Counter(item for _, item, value in train if value > 0 or not values)
    score = {(u, i): float(n) for i, n in count.items() for u in range(17)}
    lists = make("most_popular").fit(log).recommend(users, k, seen=log_of(seen))
    assert lists_of(lists) == expected(score, log, users, k, {(u, i) for u, i, _ in seen})


@settings(deadline=None)
@given(train=rows, seen=rows, k=st.integers(1, 12), neighbours=st.integers(1, 4), shrink=SHRINK, values=VALUES)
def test_item_knn_sums_the_cosines_of_near_neighbours(
    train: Rows, seen: Rows, k: int, neighbours: int, shrink: float, values: str
) -> None:
    """A user's items vote for their nearest neighbours with their cosine, times the rating where ratings count.

    Users without history get random lists.
    """
    log, users = log_of(train, values != "no values"), ids(*range(10, 17))
    worth = worth_of(train, values)
    fans = {i: {u: value for (u, j), value in worth.items() if j == i} for i in log.items.values}
    hashes = dict(zip(log.items.values, log.items.hashes, strict=True))
    score: dict[tuple[int, int], float] = {}
    for (u, j), value in worth.items():
        alike = {i: cosine(fans[i], fans[j], shrink) for i in fans if i != j}
        near = sorted(alike, key=lambda i: (-alike[i], int(mix(mix(hashes[j] ^ SEED) ^ hashes[i]))))[:neighbours]
        for i in near:
            score[u, i] = score.get((u, i), 0.0) + value * alike[i]
    told = ", values=ratings" if values == "ratings" else ""
    model = make(f"item_knn(neighbours={neighbours}, shrink={shrink}{told})").fit(log)
    lists = model.recommend(users, k, seen=log_of(seen))
    assert lists_of(lists) == expected(score, log, users, k, {(u, i) for u, i, _ in seen})


@settings(deadline=None)
@given(
    train=rows,
    seen=rows,
    k=st.integers(1, 12),
    neighbours=st.integers(1, 4),
    shrink=SHRINK,
    values=VALUES,
    votes=st.sampled_from(["cosine", "count"]),
)
def test_user_knn_adds_up_the_votes_of_near_users(
    train: Rows, seen: Rows, k: int, neighbours: int, shrink: float, values: str, votes: str
) -> None:
    """The nearest users vote with their cosine, or with 1, for the items that they have (U-kNN of jeunen18 §3.1).

    Where ratings count, a vote is that times the neighbour's rating. Ties for the last neighbour go to the hash of the
    two users.
    """
    log, users = log_of(train, values != "no values"), ids(*range(10, 17))
    worth = worth_of(train, values)
    has = {u: {i: value for (v, i), value in worth.items() if v == u} for u in log.users.values}
    hashes = dict(zip(log.users.values, log.users.hashes, strict=True))
    score: dict[tuple[int, int], float] = {}
    for u in has:
        alike = {v: cosine(has[u], has[v], shrink) for v in has if v != u and set(has[u]) & set(has[v])}
        near = sorted(alike, key=lambda v: (-alike[v], int(mix(mix(hashes[u] ^ SEED) ^ hashes[v]))))[:neighbours]
        for v in sorted(near):
            for i, value in has[v].items():
                score[u, i] = score.get((u, i), 0.0) + value * (alike[v] if votes == "cosine" else 1.0)
    told = ", values=ratings" if values == "ratings" else ""
    model = make(f"user_knn(neighbours={neighbours}, shrink={shrink}, votes={votes}{told})").fit(log)
    lists = model.recommend(users, k, seen=log_of(seen))
    assert lists_of(lists) == expected(score, log, users, k, {(u, i) for u, i, _ in seen})


@settings(deadline=None)
@given(train=rows, seen=rows, k=st.integers(1, 12), shrink=SHRINK)
def test_average_rating_ranks_by_means(train: Rows, seen: Rows, k: int, shrink: float) -> None:
    """Items are sorted by their mean; those without ratings come last, and with shrinkage at the mean of all."""
    frame = pl.DataFrame(train, schema=["user", "item", "value"], orient="row")
    whole = Log.from_frame(frame, feedback="ratings")
    log, users = whole.take(np.arange(len(whole)) % 3 > 0), ids(*range(10, 17))  # some items lose all their rows
    given = [(i, value) for _, i, value in log.to_frame().select("user", "item", "value").iter_rows()]
    level = sum(value for _, value in given) / max(1, len(given))
    score: dict[tuple[int, int], float] = {}
    for item in log.items.values:
        own = [value for i, value in given if i == item]
        total, count = sum(own) + shrink * level, len(own) + shrink
        score |= {(u, item): total / count if count else -math.inf for u in range(17)}
    lists = make(f"average_rating(shrink={shrink})").fit(log).recommend(users, k, seen=log_of(seen))
    assert lists_of(lists) == expected(score, log, users, k, {(u, i) for u, i, _ in seen})


@settings(deadline=None)
@given(train=rows, k=st.integers(1, 12), relevant=st.sampled_from([">0", ">=1", ">1", "==0"]))
def test_most_popular_counts_what_its_threshold_says(train: Rows, k: int, relevant: str) -> None:
    """A threshold of its own decides which ratings are positives, whatever the log says."""
    frame = pl.DataFrame(train, schema=["user", "item", "value"], orient="row")
    log, users = Log.from_frame(frame, feedback="ratings"), ids(*range(10, 17))
    count = Counter(item for _, item, value in train if eval(f"{value} {relevant}"))
    score = {(u, i): float(n) for i, n in count.items() for u in range(17)}
    model = make(f"most_popular(relevant={relevant})")
    assert model.learns_values and str(make(str(model))) == str(model) == f"most_popular(relevant={relevant})"
    assert lists_of(model.fit(log).recommend(users, k)) == expected(score, log, users, k, set())


@settings(max_examples=30, deadline=None)
@given(train=rows, seen=rows, model=st.sampled_from(MODELS))
def test_nobody_gets_a_seen_item_and_nothing_else_is_missing(train: Rows, seen: Rows, model: str) -> None:
    """With a long enough list a user gets exactly the catalogue without what was seen, even if ids come as text."""
    texts = pl.DataFrame([(str(u), str(i)) for u, i, _ in seen], schema=["user", "item"], orient="row")
    log = log_of(train, "ratings" in model)
    found = lists_of(make(model).fit(log).recommend(log.users, 99, seen=Log.from_frame(texts)))
    for user, listed in found.items():
        assert sorted(listed) == [i for i in log.items.values if (user, i) not in {(u, j) for u, j, _ in seen}]  # type: ignore[type-var]


@pytest.fixture(scope="module")
def log() -> Log:
    """400 users and 60 items, popularity falling with the item's number, so that order and popularity agree."""
    rng = np.random.default_rng(0)
    seen = rng.random((400, 60)) < 0.5 * np.arange(1, 61) ** -0.7
    user, item = np.nonzero(seen)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item}))


@pytest.mark.parametrize("model", MODELS)
def test_lists_do_not_depend_on_blocks_or_on_who_else_is_asked(
    model: str, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny blocks, some of the users, and asking again: always the same lists."""
    log = replace(log, value=np.asarray(1.0 + log.item % 5, dtype=np.float64))
    whole = lists_of(make(model).fit(log).recommend(log.users, 10, seen=log))
    monkeypatch.setattr(base, "ROWS", 7)
    monkeypatch.setattr(base, "CELLS", 180)
    monkeypatch.setattr(threads, "BLOCK", 7)
    some = lists_of(make(model).fit(log).recommend(ids(*range(5, 50)), 10, seen=log))
    assert some == {user: whole[user] for user in some}


@pytest.mark.parametrize(
    "model", ["random", "item_knn", "user_knn", "svd", "wmf(dim=2, rounds=1)", "nmf", "plain_mf", "pmf"]
)
def test_lists_without_information_are_random(model: str, log: Log) -> None:
    """Users whom a model does not know, like all users of random, get every item equally often (χ² within 4 sd)."""
    users = ids(*range(10_000, 14_000))
    lists = make(model).fit(log).recommend(users, 6)
    counts, expect = np.bincount(lists.item, minlength=60), 4000 * 6 / 60
    assert abs(((counts - expect) ** 2 / (expect * 0.9)).sum() - 59) < 4 * np.sqrt(2 * 59)
    assert abs(np.corrcoef(counts, np.arange(60))[0, 1]) < 4 / np.sqrt(60)


def test_mistakes_are_told(log: Log) -> None:
    """Unknown names, wrong options, an unfitted model and an empty list are refused with the remedy."""
    with refuses("unknown-name"):
        make("item_kn")
    with refuses("not-fitted"):
        make("item_knn").recommend(log.users, 5)
    for text in ("average_rating", "item_knn(values=ratings)", "user_knn(values=ratings)", "wmf(values=ratings)"):
        with refuses("missing-column", column="value"):
            make(text).fit(log)
    with refuses("bad-value", column="value"):
        make("item_knn(values=ratings)").fit(replace(log, value=log.item.astype(np.float64) - 1.0))
    with refuses("bad-string"):
        make("most_popular(relevant=many)").fit(log_of([(1, 1, 1.0)], values=True))
    with refuses("out-of-range"):
        make("most_popular").fit(log).recommend(log.users, 0)
