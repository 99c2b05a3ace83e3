"""Segments of users and of interactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import TEST, evaluate, value
from tests.said import only


def test_segments_by_a_column_of_the_log_equal_the_filtered_log() -> None:
    """by=place: each segment is what evaluate gives for its rows alone, over the same population."""
    users = pl.DataFrame({"user": [1, 2, 3, 4, 5]})
    targets = ["per_user", "pooled", "per_user_sum"]
    options: dict[str, Any] = {"users": users, "target": targets, "metrics": ["recall@2", "dcg@2"], "refused": "skip"}
    whole = evaluate(by="place", **options)
    for place in ("home", "search"):
        alone = evaluate(TEST.filter(pl.col("place") == place), **options)
        part = [e for e in whole.estimates if e.segment == f"place={place}"]
        assert len(part) == len(alone.estimates) > 0
        for e, f in zip(part, alone.estimates, strict=True):
            assert (e.model, e.metric, e.estimator, e.target, e.users) == (
                f.model,
                f.metric,
                f.estimator,
                f.target,
                f.users,
            )
            assert (e.value, e.se, e.ess) == pytest.approx((f.value, f.se, f.ess), rel=1e-12)
        verdicts = [v for v in whole.verdicts_ if v.segment == f"place={place}"]
        for v, w in zip(verdicts, alone.verdicts_, strict=True):
            assert (v.difference, v.p) == pytest.approx((w.difference, w.p), rel=1e-9)
            assert v.verdict == w.verdict
    assert [e for e in whole.estimates if e.segment is None] == list(evaluate(**options).estimates)


def test_segments_of_interactions_add_up_to_the_whole() -> None:
    """Sums over parts of the interactions add up; what has no |C_u| or n_u of its own is left out there."""
    test = TEST.with_columns(value=pl.Series([1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 1.0]))
    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, 9.0]})
    result = evaluate(
        test,
        by="place",
        feedback="conversions",
        estimators=["naive", "ips", "snips"],
        target=["per_user_sum", "per_user"],
        users=users,
    )
    for estimator in ("naive", "ips"):
        whole, home, search = (
            value(result, estimator=estimator, target="per_user_sum", segment=s)
            for s in (None, "place=home", "place=search")
        )
        assert whole == pytest.approx(home + search)
    parts = {(e.estimator, str(e.target)) for e in result.estimates if e.segment is not None}
    assert parts == {("naive", "per_user_sum"), ("ips", "per_user_sum"), ("naive", "per_user"), ("snips", "per_user")}
    only("no-totals-in-segments", result.warnings)


def test_segments_by_a_column_of_the_users_equal_the_filtered_users() -> None:
    """by=country: whole users with their n_u and candidates, as if the others did not exist."""
    users = pl.DataFrame(
        {"user": [1, 2, 3, 4, 5], "relevant": [4.0, 5.0, 2.0, 1.0, 2.0], "country": ["x", "y", "x", "y", "x"]}
    )
    options: dict[str, Any] = {"target": ["per_user", "pooled", "per_user_sum"], "refused": "skip"}
    names = ["naive", "ips", "snips", "gs(strata=column(place))"]
    whole = evaluate(by="country", users=users, estimators=names, **options)
    for country in ("x", "y"):
        inside = users.filter(pl.col("country") == country)
        alone = evaluate(TEST.join(inside.select("user"), on="user"), users=inside, estimators=names, **options)
        part = [e for e in whole.estimates if e.segment == f"country={country}"]
        assert len(part) == len(alone.estimates) > 0
        for e, f in zip(part, alone.estimates, strict=True):
            assert (e.model, e.estimator, e.target, e.users) == (f.model, f.estimator, f.target, f.users)
            assert (e.value, e.se) == pytest.approx((f.value, f.se), rel=1e-12, nan_ok=True)


def test_segments_by_popularity_divide_the_interactions() -> None:
    """popularity(strata=2): rare and frequent items by training count; their sums add up."""
    rng = np.random.default_rng(0)
    items = [i for i in range(6) for _ in range(2**i)]
    seen = pl.DataFrame({"user": [1000 + n for n in range(len(items))], "item": items})
    test = pl.DataFrame({"user": np.repeat(np.arange(20), 2), "item": rng.integers(0, 3, 40) + np.tile([0, 3], 20)})
    lists = {"m": pl.DataFrame({"user": np.arange(20), "item": rng.integers(0, 6, 20), "rank": np.ones(20, dtype=int)})}
    result = us.evaluate(
        test, lists, train=seen, share="users", target="per_user_sum", by="popularity(strata=2)", metrics=["recall@1"]
    )
    whole, *parts = result.estimates
    assert whole.segment is None and len(parts) == 2 and all(p.segment and "popularity" in p.segment for p in parts)
    assert whole.value == pytest.approx(sum(p.value for p in parts))
    rare = test.filter(pl.col("item") < 3)
    assert parts[0].interactions == len(rare) and parts[1].interactions == 40 - len(rare)


def test_a_column_may_be_called_like_popularity() -> None:
    """A column named popularity_bin is a column."""
    result = evaluate(TEST.rename({"place": "popularity_bin"}), by="popularity_bin")
    assert {e.segment for e in result.estimates} == {None, "popularity_bin=home", "popularity_bin=search"}
