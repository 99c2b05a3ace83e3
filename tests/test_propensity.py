"""Propensities: what they say of a row, at which level, and what they count on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from unskew import propensity
from unskew.alignment.inputs import Rules
from unskew.alignment.rows import in_test_part
from unskew.errors import InputError
from unskew.log import Feedback, Ids, Log
from unskew.propensity import Known, Level, Popularity, Uniform

LISTS = pl.DataFrame({"user": [1, 2], "item": [10, 20], "rank": [1, 1]})


def log_of(items: list[int], **columns: list[float]) -> Log:
    """One user per row."""
    frame = pl.DataFrame({"user": list(range(len(items))), "item": items, **columns})
    return Log.from_frame(frame, feedback="conversions" if "value" in columns else None)


@settings(max_examples=50)
@given(st.dictionaries(st.integers(0, 9), st.integers(1, 6), min_size=1), st.floats(-3.0, 4.0))
def test_popularity_is_a_power_of_the_training_count(counts: dict[int, int], gamma: float) -> None:
    """P_i ∝ n_i^((γ+1)/2), n counted on training; an item that training never showed counts as seen once."""
    train = log_of([item for item, count in counts.items() for _ in range(count)])
    test = log_of(list(range(11)))
    scored = Popularity(gamma).fit(train).of(test)
    power = np.array([max(counts.get(item, 0), 1) for item in range(11)], dtype=np.float64) ** ((gamma + 1.0) / 2.0)
    np.testing.assert_allclose(scored.rows / scored.rows[0], power / power[0], rtol=1e-12)
    assert scored.floored == len([item for item in range(11) if item not in counts])
    by_item = Popularity(gamma).fit(train).of_items(Ids(pl.Series(list(range(11)))))
    np.testing.assert_allclose(by_item, scored.rows, rtol=1e-15)


def test_popularity_is_relative_and_estimated() -> None:
    """Its level means nothing, and it is learnt, which a result must say."""
    model = propensity.make("popularity(gamma=2)")
    assert model.level is Level.RELATIVE and model.estimated and not model.fitted
    assert model.fit(log_of([1, 1, 2])).fitted


def test_popularity_stays_within_one() -> None:
    """The most popular item has P = 1, so that weights are at least 1 (γ ≥ −1)."""
    fitted = Popularity(2.0).fit(log_of([1, 1, 1, 2]))
    rows = fitted.of(log_of([1, 2, 3])).rows
    np.testing.assert_allclose(rows, [1.0, (1 / 3) ** 1.5, (1 / 3) ** 1.5], rtol=1e-15)


@pytest.mark.parametrize("gamma", [-5.0, -3.0, -1.5])
def test_popularity_stays_within_one_for_every_gamma(gamma: float) -> None:
    """γ < −1 favours rare items, and P still lies in (0, 1]: above it strata and clips would see one bin only."""
    rows = Popularity(gamma).fit(log_of([1, 1, 1, 1, 2, 2, 3])).of(log_of([1, 2, 3, 4])).rows
    assert ((rows > 0.0) & (rows <= 1.0)).all()
    seen = pl.DataFrame({"user": list(range(7)), "item": [1, 1, 1, 1, 2, 2, 3]})
    test = pl.DataFrame({"user": [9, 9, 9], "item": [1, 2, 3]})
    lists = {"m": pl.DataFrame({"user": [9], "item": [3], "rank": [1]})}
    options: dict[str, Any] = {"train": seen, "share": "users", "estimators": ["snips", "gs(strata=3)"]}
    result = us.evaluate(test, lists, propensity=f"popularity(gamma={gamma})", **options)
    snips, gs = (e.value for e in result.estimates)
    assert gs == pytest.approx(snips, rel=1e-12)  # three items, three strata


def test_gamma_minus_one_is_uniform() -> None:
    """γ = −1 gives every item the same, and so snips = naive."""
    train = log_of([1, 1, 1, 2, 2, 3])
    assert set(Popularity(-1.0).fit(train).of(log_of([1, 2, 3, 4])).rows) == {1.0}
    test = pl.DataFrame({"user": [1, 1, 2], "item": [10, 20, 20]})
    seen = pl.DataFrame({"user": [3, 4, 5], "item": [10, 10, 20]})
    result = us.evaluate(
        test,
        {"m": LISTS},
        estimators=["naive", "snips", "gs"],
        propensity="popularity(gamma=-1)",
        train=seen,
        share="users",
        target="pooled",
    )
    naive, snips, gs = (e.value for e in result.estimates)
    assert snips == pytest.approx(naive, rel=1e-12)
    assert gs == pytest.approx(naive, rel=1e-12)


def test_only_training_positives_are_counted() -> None:
    """A training row without a gain says nothing about popularity."""
    fitted = Popularity(1.0).fit(log_of([1, 1, 2, 2], value=[1.0, 0.0, 1.0, 1.0]))
    np.testing.assert_allclose(fitted.of(log_of([1, 2])).rows, [0.5, 1.0])


def test_unsupported_items_are_dropped_and_counted_on_request() -> None:
    """floor guesses and warns, drop leaves the rows out; both say how many rows it is about."""
    test = pl.DataFrame({"user": [1, 1, 2], "item": [10, 30, 20]})
    seen = pl.DataFrame({"user": [3, 4, 5], "item": [10, 10, 20]})
    floored = us.evaluate(test, {"m": LISTS}, propensity="popularity(gamma=2)", train=seen, share="users")
    assert any("1 held-out interactions are on items that training never showed" in w for w in floored.warnings)
    assert floored.inputs["test"]["dropped"] == {}
    (told,) = (w for w in floored.warnings if "never showed" in w)
    rare = 2.0**1.5  # n is 2, 1 and, for the cold item, taken as 1: P is 1, 2^−1.5, 2^−1.5
    assert f"33.3% of the rows carry {rare / (1.0 + 2.0 * rare):.1%} of the weight" in told
    pasted = told.split("propensity='")[1].split("'")[0]
    assert pasted == "popularity(gamma=2, unsupported=drop)"
    assert floored.estimates[0].interactions == 3
    dropped = us.evaluate(test, {"m": LISTS}, propensity=pasted, train=seen, share="users")
    assert dropped.inputs["test"]["dropped"] == {"item without training support": 1}
    assert dropped.estimates[0].interactions == 2
    without = us.evaluate(
        test.filter(pl.col("item") != 30), {"m": LISTS}, propensity="popularity(gamma=2)", train=seen, share="users"
    )
    assert [e.value for e in dropped.estimates] == pytest.approx([e.value for e in without.estimates], rel=1e-12)


def test_popularity_is_never_counted_on_the_test_log() -> None:
    """Without a training log there is no popularity, and the message says why."""
    test = pl.DataFrame({"user": [1, 1, 2], "item": [10, 30, 20]})
    with pytest.raises(InputError) as caught:
        us.evaluate(test, {"m": LISTS}, propensity="popularity(gamma=2)")
    message = str(caught.value)
    assert "training log" in message and "never on the test log" in message and "train=…" in message
    with pytest.raises(InputError, match="training positives"):
        Popularity().fit(log_of([1]).take(np.array([False])))


def test_a_fitted_popularity_needs_no_training_log() -> None:
    """Counts taken elsewhere serve as well as those of ``seen``."""
    test = pl.DataFrame({"user": [1, 1, 2], "item": [10, 30, 20]})
    seen = pl.DataFrame({"user": [3, 4, 5], "item": [10, 10, 20]})
    model = Popularity(2.0).fit(Log.from_frame(seen))
    by_model = us.evaluate(test, {"m": LISTS}, propensity=model, estimators=["snips"])
    by_seen = us.evaluate(
        test, {"m": LISTS}, propensity="popularity(gamma=2)", train=seen, share="users", estimators=["snips"]
    )
    assert by_model.estimates[0].value == pytest.approx(by_seen.estimates[0].value, rel=1e-12)


def test_popularity_matches_ids_of_other_types() -> None:
    """The integer 10 in training and the text "10" in the test log are one item."""
    train = log_of([10, 10, 20])
    test = Log.from_frame(pl.DataFrame({"user": ["a", "b"], "item": ["10", "20"]}))
    np.testing.assert_allclose(Popularity(1.0).fit(train).of(test).rows, [1.0, 0.5])


def test_known_is_the_column_and_absolute() -> None:
    """Known propensities are taken as they stand, and their level means something."""
    log = log_of([1, 2, 3], propensity=[0.5, 0.25, 1.0])
    assert Known().of(log).rows.tolist() == [0.5, 0.25, 1.0]
    assert Known().level is Level.ABSOLUTE and not Known().estimated and Known().fitted
    assert Known().of_items(log.items) is None


def test_known_without_a_column_is_an_error() -> None:
    """The message names the column and two ways out."""
    with pytest.raises(InputError) as caught:
        Known().of(log_of([1, 2]))
    message = str(caught.value)
    assert "column 'propensity'" in message and "columns={'propensity':" in message and "popularity" in message


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.5])
def test_impossible_propensities_are_refused(wrong: float) -> None:
    """A probability lies in (0, 1]; zero means that the pair could never have been logged."""
    with pytest.raises(InputError, match=r"\(0, 1\]"):
        log_of([1, 2], propensity=[0.5, wrong])


def test_known_knows_its_share() -> None:
    """The told share comes before that of a split; without either nothing is scaled."""
    log = log_of(list(range(40)), propensity=[0.5] * 40)
    _, part = us.split.holdout(log, 0.25, seed=1)
    assert Known().share_of(log) is None
    assert Known().share_of(part) == pytest.approx(0.25)
    assert Known(0.4).share_of(part) == pytest.approx(0.4)


@pytest.mark.parametrize(("candidates", "expected"), [("all", [0.15, 0.06]), ("unseen", [0.15 / 0.65, 0.06 / 0.86])])
def test_known_propensities_are_scaled_by_the_share(candidates: str, expected: list[float]) -> None:
    """s = 0.3: P·s where all items are candidates, P·s/(1 − P(1 − s)) where training items are none."""
    test = pl.DataFrame({"user": [1, 2], "item": [10, 20], "propensity": [0.5, 0.2]})
    seen = pl.DataFrame({"user": [1, 2], "item": [50, 50]})
    result = us.evaluate(
        test,
        {"m": LISTS},
        metrics=["recall@1"],
        estimators=["ips"],
        target="per_user_sum",
        propensity="known(share=0.3)",
        train=seen,
        candidates=candidates,  # type: ignore[arg-type]
        per_user=True,
    )
    np.testing.assert_allclose(result.per_user()["numerator"], [1.0 / p for p in expected], rtol=1e-12)


def test_relative_propensities_are_never_scaled() -> None:
    """A split's share means nothing to popularity and uniform; absolute ones of the training part are scaled."""
    frame = pl.DataFrame({"user": np.repeat(np.arange(30), 3), "item": np.tile([10, 20, 30], 30)})
    train, test = us.split.holdout(Log.from_frame(frame), 0.4, seed=0)
    rules, rows = Rules(Feedback.IMPLICIT), np.full(len(test), 0.3)
    for model in (Popularity(2.0).fit(train), Uniform(0.5), Uniform()):
        assert in_test_part(rows, model, test, rules) is rows
    valued = replace(train, value=np.resize([0.0, 1.0], len(train)), feedback=Feedback.CONVERSIONS)
    absolute = Popularity(2.0, level=Level.ABSOLUTE).fit(valued)
    np.testing.assert_allclose(in_test_part(rows, absolute, test, rules), 0.3 / 0.6 * 0.4, rtol=1e-12)


@pytest.mark.parametrize("gamma", [float("nan"), float("inf"), -float("inf"), 3000.0, -11.0])
def test_gamma_is_a_sane_number(gamma: float) -> None:
    """Not a number, or a power that would leave nothing but the most popular item, is refused at once."""
    with pytest.raises(InputError, match="between −10 and 10"):
        Popularity(gamma)


def test_the_steepest_gamma_still_gives_probabilities() -> None:
    """One item with a billion positives, one with one: P stays above 0."""
    items, counts = Ids(pl.Series(["a", "b"])), np.array([1e9, 1.0])
    for gamma in (-10.0, 10.0):
        found = Popularity.from_counts(items, counts, gamma).of_items(items)
        assert ((found > 0.0) & (found <= 1.0)).all()


def test_propensities_above_one_in_the_whole_log_are_counted() -> None:
    """P = 0.9 in a training part of share 0.6 would be 1.5 in the whole log: set to 1, and said how often.

    A logistic fit knows the share, and stays below it by itself.
    """
    test = log_of([1, 2, 3], value=[1.0, 0.0, 1.0])
    train = pl.DataFrame({"user": np.arange(10), "item": [1] * 9 + [2], "value": 1.0})
    lists = pl.DataFrame({"user": test.users.values, "item": 1, "rank": 1})
    for text, said in (("popularity(gamma=1, level=absolute)", True), ("logistic(features=none, offsets=item)", False)):
        result = us.evaluate(
            test, {"m": lists}, metrics=["recall@1"], estimators=["ips"], target="per_user_sum", train=train,
            propensity=text, feedback="conversions", share=0.4, candidates="all",
        )  # fmt: skip
        assert said == any(words.startswith("1 held-out propensities came out above 1") for words in result.warnings)


def test_uniform_is_one_number_for_all() -> None:
    """uniform(p) is absolute, uniform alone is relative; neither is ever taken by default."""
    log = log_of([1, 2, 3])
    assert Uniform(0.25).of(log).rows.tolist() == [0.25] * 3
    assert Uniform(0.25).level is Level.ABSOLUTE
    assert Uniform().level is Level.RELATIVE
    assert len(set(Uniform().of(log).rows)) == 1
    assert Uniform(0.25).of_items(log.items).tolist() == [0.25] * 3


def test_the_result_names_the_propensity_of_weighted_estimates_only() -> None:
    """naive does not depend on propensities, and its row does not pretend so."""
    test = pl.DataFrame({"user": [1, 2], "item": [10, 20], "propensity": [0.5, 0.2]})
    result = us.evaluate(test, {"m": LISTS}, propensity="known", estimators=["naive", "snips"])
    assert {e.estimator: e.propensity for e in result.estimates} == {"naive": None, "snips": "known"}
    estimated = us.evaluate(
        test, {"m": LISTS}, propensity="popularity(gamma=2)", train=pl.DataFrame({"user": [2, 8], "item": [10, 20]})
    )
    assert any("estimates" in w and "take them as known" in w for w in estimated.warnings)
    assert not any("take them as known" in w for w in result.warnings)
