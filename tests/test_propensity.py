"""Propensities: what they say of a row, at which level, and what they count on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said
from tests.said import refuses
from unskew import propensity
from unskew.log import Ids, Log
from unskew.propensity import Known, Level, Popularity, Uniform

LISTS = pl.DataFrame({"user": [1, 2], "item": [10, 20], "rank": [1, 1]})
COLD = pl.DataFrame({"user": [1, 1, 2], "item": [10, 30, 20]})
SEEN = pl.DataFrame({"user": [3, 4, 5], "item": [10, 10, 20]})


def log_of(items: list[int], **columns: list[float]) -> Log:
    """One user per row."""
    frame = pl.DataFrame({"user": list(range(len(items))), "item": items, **columns})
    return Log.from_frame(frame, feedback="conversions" if "value" in columns else None)


@pytest.mark.parametrize(
    ("gamma", "items", "expected"),
    [
        (2.0, [1, 1, 1, 2], [1.0, (1 / 3) ** 1.5, (1 / 3) ** 1.5]),  # an item that training never showed counts once
        (1.0, [1, 1, 2], [1.0, 0.5, 0.5]),
        (-1.0, [1, 1, 1, 2], [1.0, 1.0, 1.0]),
        (-3.0, [1, 1, 2], [0.5, 1.0, 1.0]),  # the rarest item has P = 1: above it strata and clips would see one bin
    ],
)
def test_popularity_is_a_power_of_the_training_count(gamma: float, items: list[int], expected: list[float]) -> None:
    """P_i ∝ n_i^((γ+1)/2), at most 1, whatever type ids have; rows without a gain say nothing of it."""
    value = [1.0] * len(items) + [0.0] * 3
    fitted = Popularity(gamma).fit(log_of([*items, 2, 2, 2], value=value))
    scored = fitted.of(Log.from_frame(pl.DataFrame({"user": ["a", "b", "c"], "item": ["1", "2", "3"]})))
    np.testing.assert_allclose(scored.rows, expected)
    np.testing.assert_allclose(fitted.of_items(Ids(pl.Series([1, 2, 3]))), expected)
    assert scored.floored == 1 and fitted.level is Level.RELATIVE and fitted.estimated


@pytest.mark.parametrize("gamma", [-10.0, 10.0, float("nan"), float("inf"), 3000.0, -11.0])
def test_gamma_is_a_sane_number(gamma: float) -> None:
    """One item with a billion positives, one with one: P stays above 0, or the exponent is refused."""
    if abs(gamma) == 10.0:
        items = Ids(pl.Series(["a", "b"]))
        found = Popularity.from_counts(items, np.array([1e9, 1.0]), gamma).of_items(items)
        assert ((found > 0.0) & (found <= 1.0)).all()
    else:
        with refuses("out-of-range", option="gamma"):
            Popularity(gamma)


def test_unsupported_items_are_dropped_and_counted_on_request() -> None:
    """floor guesses and warns, drop leaves the rows out; both say how many rows it is about."""

    def asked(test: pl.DataFrame, text: Any) -> us.Result:
        return us.evaluate(test, {"m": LISTS}, propensity=text, train=SEEN, share="users")

    floored = asked(COLD, "popularity(gamma=2)")
    assert floored.inputs["test"]["dropped"] == {} and floored.estimates[0].interactions == 3
    (told,) = said(floored, "cold-items")
    rare = 2.0**1.5  # n is 2, 1 and, for the cold item, taken as 1: P is 1, 2^−1.5, 2^−1.5
    assert told.startswith("1 ") and "33.3% " in told and f"{rare / (1.0 + 2.0 * rare):.1%}" in told
    pasted = told.split("propensity='")[1].split("'")[0]
    assert pasted == "popularity(gamma=2, unsupported=drop)"
    dropped, without = asked(COLD, pasted), asked(COLD.filter(pl.col("item") != 30), "popularity(gamma=2)")
    assert [*dropped.inputs["test"]["dropped"].values()] == [1] and dropped.estimates[0].interactions == 2
    assert [e.value for e in dropped.estimates] == pytest.approx([e.value for e in without.estimates], rel=1e-12)
    fitted = asked(COLD, Popularity(2.0).fit(Log.from_frame(SEEN)))
    assert [e.value for e in fitted.estimates] == [e.value for e in floored.estimates]


@pytest.mark.parametrize(
    ("part", "level", "expected"),
    [
        (Known(), Level.ABSOLUTE, [0.5, 0.25, 1.0]),
        (Uniform(0.25), Level.ABSOLUTE, [0.25] * 3),
        (Uniform(), Level.RELATIVE, [1.0] * 3),
    ],
    ids=str,
)
def test_what_needs_no_fit(part: propensity.Propensity, level: Level, expected: list[float]) -> None:
    """Columns are taken as they stand; one number for all is never taken by default."""
    assert part.of(log_of([1, 2, 3], propensity=[0.5, 0.25, 1.0])).rows.tolist() == expected
    assert part.level is level and part.fitted and not part.estimated


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.5, None])
def test_impossible_propensities_are_refused(wrong: float | None) -> None:
    """A probability lies in (0, 1]; zero means that the pair could never have been logged."""
    with refuses("missing-column" if wrong is None else "out-of-range", column="propensity"):
        Known().of(log_of([1, 2]) if wrong is None else log_of([1, 2], propensity=[0.5, wrong]))


@pytest.mark.parametrize(
    ("text", "candidates", "expected"),
    [
        ("known(share=0.3)", "all", [0.15, 0.06]),
        ("known(share=0.3)", "unseen", [0.15 / 0.65, 0.06 / 0.86]),
        ("known(part=test)", "all", [0.5, 0.2]),
    ],
)
def test_known_propensities_are_scaled_by_the_share(text: str, candidates: Any, expected: list[float]) -> None:
    """s = 0.3: P·s where all items are candidates, P·s/(1 − P(1 − s)) where training items are none."""
    test = pl.DataFrame({"user": [1, 2], "item": [10, 20], "propensity": [0.5, 0.2]})
    result = us.evaluate(
        test, {"m": LISTS}, metrics=["recall@1"], estimators=["ips"], target="per_user_sum", propensity=text,
        train=pl.DataFrame({"user": [1, 2], "item": [50, 50]}), candidates=candidates, per_user=True,
    )  # fmt: skip
    np.testing.assert_allclose(result.per_user()["numerator"], [1.0 / p for p in expected], rtol=1e-12)


def test_a_split_tells_its_share() -> None:
    """Before that of the part; absolute propensities are scaled by it, relative ones never."""
    log = log_of(list(range(40)), propensity=[0.5] * 40)
    _, part = us.split.holdout(log, 0.25, seed=1)
    shares = [Known().share_of(log), Known().share_of(part), Known(0.4).share_of(part)]
    assert shares == [None, pytest.approx(0.25), pytest.approx(0.4)]
    frame = pl.DataFrame({"user": np.repeat(np.arange(30), 3), "item": np.tile([10, 20, 30], 30)})
    train, test = us.split.holdout(Log.from_frame(frame), 0.4, seed=0)
    lists = {"m": us.models.MostPopular().fit(train)}
    options: dict[str, Any] = {"train": train, "metrics": ["recall@1"], "target": "pooled", "estimators": ["snips"]}
    snips = [us.evaluate(test, lists, propensity=each, **options).estimates[0] for each in ("uniform", Uniform(0.5))]
    assert snips[0].value == pytest.approx(snips[1].value)


def test_propensities_above_one_in_the_whole_log_are_counted() -> None:
    """P = 0.9 in a training part of share 0.6 would be 1.5 in the whole log: set to 1, and said how often.

    A logistic fit knows the share, and stays below it by itself.
    """
    test = log_of([1, 2, 3], value=[1.0, 0.0, 1.0])
    train = pl.DataFrame({"user": np.arange(10), "item": [1] * 9 + [2], "value": 1.0})
    lists = pl.DataFrame({"user": test.users.values, "item": 1, "rank": 1})
    for text, told in (("popularity(gamma=1, level=absolute)", True), ("logistic(features=none, offsets=item)", False)):
        result = us.evaluate(
            test, {"m": lists}, metrics=["recall@1"], estimators=["ips"], target="per_user_sum", train=train,
            propensity=text, feedback="conversions", share=0.4, candidates="all",
        )  # fmt: skip
        assert [text[:2] for text in said(result, "capped-propensities")] == ["1 "] * told
