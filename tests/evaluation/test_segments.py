"""Segments of users and of interactions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

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
                f.model, f.metric, f.estimator, f.target, f.users,
            )  # fmt: skip
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
        test, by="place", feedback="conversions", estimators=["naive", "ips", "snips"],
        target=["per_user_sum", "per_user"], users=users,
    )  # fmt: skip
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
