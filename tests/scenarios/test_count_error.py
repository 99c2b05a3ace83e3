"""Weights that are powers of training counts carry the chance of these counts (``judging/count_error.py``)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.scenarios.path_world import world
from tests.worlds import listed, pairs_of
from unskew.result import Verdict

USERS, ITEMS, K = 800, 100, 10


def test_the_spread_is_what_loops_give() -> None:
    """SE² of a value is the users' part, and Σ over items of a²/(n + ½) · (w (Σλ − R m))² / D²."""
    made, a = world(), 1.0
    counts, lists = Counter(made["train"]["item"]), made["lists"]["rare"]
    listed = set(zip(lists["user"], lists["item"], strict=True))
    above: dict[int, float] = {}
    below: dict[int, float] = {}
    users: dict[int, list[float]] = {}
    for user, item in zip(made["test"]["user"], made["test"]["item"], strict=True):
        weight = 1.0 / (counts[item] + 1.0)
        hit = weight * ((user, item) in listed)
        above[item], below[item] = above.get(item, 0.0) + hit, below.get(item, 0.0) + weight
        own = users.setdefault(user, [0.0, 0.0])
        own[0] += hit
        own[1] += weight
    total = sum(below.values())
    value = sum(above.values()) / total
    many = len(users)
    by_users = sum((up - value * down) ** 2 for up, down in users.values()) * many / (many - 1)
    by_items = sum(a**2 / (counts[item] + 0.5) * (above[item] - value * below[item]) ** 2 for item in below)
    options = {"train": made["train"], "metrics": ["recall@5"], "estimators": ["exposure_path(at=1)"]}
    result = us.evaluate(made["test"], made["lists"], **options)
    (found,) = [e for e in result.estimates if e.model == "rare"]
    assert found.value == pytest.approx(value) and by_items > 0.1 * by_users
    assert found.se == pytest.approx(np.sqrt(by_users + by_items * many / (many - 1)) / total, rel=1e-9)


def test_nothing_is_added_where_counts_do_not_matter() -> None:
    """At a = 0 all weights are one."""
    made = world()
    options = {"train": made["train"], "metrics": ["recall@5"]}
    result = us.evaluate(made["test"], made["lists"], **options, estimators=["naive", "exposure_path(at=0)"])
    naive, path = ([e for e in result.estimates if e.estimator == name] for name in ("naive", "exposure_path(at=0)"))
    assert [e.se for e in path] == pytest.approx([e.se for e in naive], rel=1e-12)


def equal_models(seed: int, rows: int) -> Verdict:
    """Popular and less popular items, equally liked and shown by popularity; so many training rows of other users."""
    rng = np.random.default_rng(seed)
    shown = 1.0 / np.arange(1, ITEMS + 1)
    seen = (rng.random((USERS, ITEMS)) < 0.3) & (rng.random((USERS, ITEMS)) < 0.5 * shown)
    train = pl.DataFrame(
        {"user": USERS + rng.integers(0, 10**6, rows), "item": rng.choice(ITEMS, rows, p=shown / shown.sum())}
    )
    lists = {name: listed(np.arange(first, first + K), USERS) for name, first in (("popular", 0), ("middle", 40))}
    test = pairs_of(seen)
    result = us.evaluate(test, lists, train=train.unique(), share="users", estimators=["exposure_path"], threads=1)
    (verdict,) = result.verdicts_
    return verdict


@pytest.mark.parametrize("rows", [50, 300])
def test_thin_training_counts_decide_nothing(rows: int) -> None:
    """Without the counts' own chance 12 and 5 of 12 such worlds put the popular items ahead on the whole path."""
    said = [equal_models(seed, rows) for seed in range(12)]
    assert sum(v.verdict in ("ahead", "behind") for v in said) <= 1
    if rows == 50:
        assert {(v.turns.code, v.turns_at is not None) for v in said} == {("ahead-in-part", True)}  # type: ignore[attr-defined]
