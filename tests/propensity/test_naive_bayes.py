"""Naive Bayes propensities: Eq. 18, what it needs, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.propensity.worlds import Floats, log_of
from unskew import propensity
from unskew.errors import InputError, RefusedError
from unskew.log import Log
from unskew.propensity import FitInputs, Level, NaiveBayes, Scope


def ratings(values: list[float], users: list[int] | None = None) -> Log:
    """One row per rating; a user for each by default, every row another item."""
    who = list(range(len(values))) if users is None else users
    frame = pl.DataFrame({"user": who, "item": list(range(len(values))), "value": values})
    return Log.from_frame(frame, feedback="ratings")


def values_of(log: Log) -> Floats:
    """Its column ``value``."""
    assert log.value is not None
    return log.value


STARS = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=30)


@given(STARS, STARS)
def test_unsmoothed_inverse_propensities_sum_to_all_pairs(seen: list[float], everywhere: list[float]) -> None:
    """With a = 0 and no cap, Σ 1/P over the fitting data is exactly U·I."""
    train, mcar = ratings(seen), ratings([*everywhere, *set(seen)])
    mcar = mcar.take(
        np.isin(values_of(mcar), values_of(train))
    )  # values that training never showed would take their share
    fitted = NaiveBayes(0.0).fit(train, inputs=FitInputs(mcar=mcar))
    assert fitted.values is not None and fitted.of_value is not None
    uncapped = fitted.of_value[np.searchsorted(fitted.values, values_of(train))]
    assert (1.0 / uncapped).sum() == pytest.approx(len(train.users) * len(train.items), rel=1e-9)


@given(STARS, STARS, st.floats(0.01, 5.0))
def test_it_is_bayes_rule_with_pseudo_counts(seen: list[float], everywhere: list[float], a: float) -> None:
    """Eq. 18 by loops: P(r|O)·P(O)/P(r), both distributions smoothed over the union of values, capped at 1, counted."""
    train = ratings(seen)
    scored = NaiveBayes(a).fit(train, inputs=FitInputs(mcar=ratings(everywhere))).of(train)
    values = set(seen) | set(everywhere)
    expected = []
    for r in values_of(train).tolist():
        given_seen = (seen.count(r) + a) / (len(seen) + a * len(values))
        all_over = (everywhere.count(r) + a) / (len(everywhere) + a * len(values))
        expected.append(given_seen * len(seen) / (len(train.users) * len(train.items)) / all_over)
    np.testing.assert_allclose(scored.rows, np.minimum(expected, 1.0), rtol=1e-12)
    assert scored.capped == sum(p > 1.0 for p in expected)


def test_weights_equal_repetition_of_users() -> None:
    """A user of weight 3 counts like three users, one of weight 0 not at all."""
    train = ratings([5.0, 4.0, 5.0, 1.0], users=[0, 1, 1, 2])
    side = FitInputs(mcar=ratings([1.0, 2.0, 4.0, 5.0]))
    repeated = ratings([5.0, 5.0, 5.0, 4.0, 5.0], users=[0, 1, 2, 3, 3])
    repeated = replace(repeated, items=train.items, item=np.array([0, 0, 0, 1, 2], dtype=np.int32))
    asked = ratings([1.0, 2.0, 4.0, 5.0])
    by_weight = NaiveBayes().fit(train, inputs=side, weights=np.array([3.0, 1.0, 0.0])).of(asked).rows
    np.testing.assert_allclose(by_weight, NaiveBayes().fit(repeated, inputs=side).of(asked).rows, rtol=1e-12)


def test_it_says_what_it_is() -> None:
    """Absolute, estimated, of the training part; its string reads back."""
    model = propensity.make("naive_bayes")
    assert str(model) == "naive_bayes(smoothing=1)" and propensity.make(str(model)) == model
    assert propensity.make("naive_bayes(smoothing=0.5)") == NaiveBayes(0.5)
    assert model.level is Level.ABSOLUTE and model.estimated and not model.fitted and model.reads == ("value",)
    log = ratings([1.0, 2.0])
    fitted = model.fit(log, inputs=FitInputs(mcar=log))
    assert fitted.fitted and fitted.refers(log) is Scope.TRAIN and fitted.of_items(log.items) is None


def test_what_it_needs_and_lacks_is_said() -> None:
    """No random sample, no values, an unknown value, an empty log, too many values: each a sentence with a way out."""
    log = ratings([1.0, 2.0])
    with pytest.raises(InputError, match="mcar="):
        NaiveBayes().fit(log)
    with pytest.raises(InputError, match="needs logs with values"):
        NaiveBayes().fit(log_of(np.eye(2, dtype=bool), feedback="implicit"), inputs=FitInputs(mcar=log))
    fitted = NaiveBayes().fit(log, inputs=FitInputs(mcar=log))
    with pytest.raises(InputError, match="unseen pairs have none"):
        fitted.predict([0], [1])
    with pytest.raises(InputError, match="value 3 never occurred in either log"):
        fitted.of(ratings([3.0]))
    with pytest.raises(InputError, match="no rows"):
        NaiveBayes().fit(log.take(np.zeros(2, dtype=bool)), inputs=FitInputs(mcar=log))
    with pytest.raises(InputError, match="no rows"):
        NaiveBayes().fit(log, inputs=FitInputs(mcar=log.take(np.zeros(2, dtype=bool))))
    with pytest.raises(InputError, match=r"200 different values .*\n.*bins"):
        NaiveBayes().fit(ratings([float(j) / 7 for j in range(200)]), inputs=FitInputs(mcar=log))
    with pytest.raises(InputError, match="smoothing=1"):
        NaiveBayes(0.0).fit(log, inputs=FitInputs(mcar=ratings([1.0])))
    with pytest.raises(InputError, match="value 2 never occurred in training"):
        NaiveBayes(0.0).fit(ratings([1.0]), inputs=FitInputs(mcar=log)).of(log)
    with pytest.raises(InputError, match="train="):
        NaiveBayes().of(log)
    with pytest.raises(InputError, match="at least 0"):
        NaiveBayes(-1.0)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_equal_values_leave_the_share_of_seen_pairs(smoothing: float) -> None:
    """With one value everywhere nothing can be told apart: P is |O| / (U·I) for every row."""
    train = ratings([3.0] * 6, users=[0, 0, 0, 1, 1, 2])
    scored = NaiveBayes(smoothing).fit(train, inputs=FitInputs(mcar=ratings([3.0] * 2))).of(train)
    np.testing.assert_allclose(scored.rows, 6 / (3 * 6), rtol=1e-12)
    assert scored.capped == 0


def test_laplace_fills_in_values_that_one_of_the_logs_lacks() -> None:
    """By hand, a = 1, values 1, 2, 3: the sample lacks 1, training lacks 3; both get finite propensities."""
    train, mcar = ratings([1.0, 1.0, 2.0]), ratings([2.0, 3.0, 3.0, 3.0])
    fitted = NaiveBayes(1.0).fit(train, inputs=FitInputs(mcar=mcar))
    seen = 3 / (3 * 3)
    expected = [(3 / 6) / (1 / 7) * seen, (2 / 6) / (2 / 7) * seen, (1 / 6) / (4 / 7) * seen]
    scored = fitted.of(ratings([1.0, 2.0, 3.0]))
    assert expected[0] > 1.0 and scored.capped == 1
    np.testing.assert_allclose(scored.rows, np.minimum(expected, 1.0), rtol=1e-12)


def test_a_sample_with_other_values_altogether_is_refused() -> None:
    """A sample on another scale (1–5 against 0–1): refused with a value and a remedy."""
    with pytest.raises(InputError, match=r"value 4 occurs in training but not in the random sample.*smoothing=1"):
        NaiveBayes(0.0).fit(ratings([4.0, 5.0]), inputs=FitInputs(mcar=ratings([0.0, 1.0])))


def test_a_single_user_who_saw_everything() -> None:
    """U = 1 and all items seen: P(O) = 1, so that likelier values are capped at 1 and counted, others are below."""
    train = ratings([5.0, 5.0, 5.0, 1.0], users=[0, 0, 0, 0])
    scored = NaiveBayes(0.0).fit(train, inputs=FitInputs(mcar=ratings([5.0, 1.0]))).of(train)
    np.testing.assert_allclose(sorted(scored.rows), [0.5, 1.0, 1.0, 1.0], rtol=1e-12)
    assert scored.capped == 3


def test_capped_rows_are_counted_in_the_result() -> None:
    """An evaluation says how many propensities came out above 1."""
    train = ratings([5.0, 5.0, 5.0, 1.0], users=[0, 0, 0, 0])
    lists = pl.DataFrame({"user": [0], "item": [1], "rank": [1]})
    result = us.evaluate(
        ratings([5.0, 5.0], users=[0, 0]),
        {"m": lists},
        metrics=["recall@1"],
        estimators=["snips"],
        propensity=NaiveBayes(0.0).fit(train, inputs=FitInputs(mcar=ratings([5.0, 1.0] * 30))),
        relevant=">=4",
    )
    assert any(warning.startswith("2 held-out propensities came out above 1") for warning in result.warnings)


def selected_by_rating(seed: int) -> dict[str, Any]:
    """Ratings decide alone what is seen (schnabel16 §6.2); the lists favour items that get fives."""
    rng = np.random.default_rng(seed)
    users, items = 800, 60
    taste = np.clip(rng.normal(size=(users, items)) + np.linspace(1.2, -1.2, items), -2.0, 2.99)
    stars = np.floor(taste + 3.0)
    p = np.array([0.02, 0.04, 0.08, 0.15, 0.6])[stars.astype(int) - 1]
    seen = rng.random(p.shape) < p
    train, test = us.split.holdout(log_of(seen, stars, "ratings"), 0.4, seed=seed)
    mcar = log_of(rng.random(p.shape) < 0.05, stars, "ratings")
    lists = pl.DataFrame({"user": np.repeat(np.arange(users), 5), "item": np.tile(np.arange(5), users)})
    lists = lists.with_columns(rank=pl.Series(np.tile(np.arange(1, 6), users)))
    good = stars >= 4
    truth = {
        "pooled": good[:, :5].sum() / good.sum(),
        "per_user_sum": (good[:, :5] / np.log2(np.arange(2, 7))).sum(axis=1).mean(),
    }
    return {"test": test, "train": train, "mcar": mcar, "lists": lists, "truth": truth}


def test_it_at_least_halves_the_error_of_naive_where_ratings_decide() -> None:
    """In a world where Eq. 18 holds, snips and ips come closer to the truth than naive by a factor of two or more."""
    errors: dict[str, list[float]] = {"naive": [], "snips": [], "naive sum": [], "ips": []}
    for seed in range(4):
        world = selected_by_rating(seed)
        result = us.evaluate(
            world["test"],
            {"m": world["lists"]},
            metrics=["recall@5", "dcg@5"],
            estimators=["naive", "snips", "ips"],
            propensity="naive_bayes",
            target=["pooled", "per_user_sum"],
            train=world["train"],
            candidates="all",
            refused="skip",
            mcar=world["mcar"],
            relevant=">=4",
        )
        found = {(e.estimator, e.metric, e.target): e.value for e in result.estimates}
        truth = world["truth"]
        errors["naive"].append(found["naive", "recall@5", "pooled"] / truth["pooled"] - 1.0)
        errors["snips"].append(found["snips", "recall@5", "pooled"] / truth["pooled"] - 1.0)
        errors["naive sum"].append(found["naive", "dcg@5", "per_user_sum"] / truth["per_user_sum"] - 1.0)
        errors["ips"].append(found["ips", "dcg@5", "per_user_sum"] / truth["per_user_sum"] - 1.0)
    size = {name: float(np.abs(error).mean()) for name, error in errors.items()}
    assert size["snips"] < 0.5 * size["naive"] and size["ips"] < 0.5 * size["naive sum"]
    assert abs(np.mean(errors["ips"])) < 0.1


def test_ips_needs_the_share_of_the_test_log() -> None:
    """The level speaks of training: the share of the split allows ips, without it ips is refused, --share helps."""
    world = selected_by_rating(1)
    options: dict[str, Any] = {
        "metrics": ["dcg@5"],
        "propensity": "naive_bayes",
        "target": "per_user_sum",
        "train": world["train"],
        "mcar": world["mcar"],
        "relevant": ">=4",
        "candidates": "all",
    }
    lists = {"m": world["lists"]}
    known = us.evaluate(world["test"], lists, estimators=["ips"], **options)
    lost = replace(world["test"], share=None)
    with pytest.raises(RefusedError):
        us.evaluate(lost, lists, estimators=["ips"], **options)
    skipped = us.evaluate(lost, lists, estimators=["naive", "ips"], refused="skip", **options)
    assert any("share=" in warning for warning in skipped.warnings)
    told = us.evaluate(lost, lists, estimators=["ips"], share=0.4, **options)
    assert told.estimates[0].value == pytest.approx(known.estimates[0].value, rel=1e-12)


def test_random_rows_are_weighed_by_their_user() -> None:
    """A bootstrap draws the random rows with their users: weight 3 counts like three rows, 0 like none."""
    train, asked = ratings([1.0, 4.0, 5.0, 5.0]), ratings([1.0, 4.0, 5.0])
    drawn = FitInputs(mcar=ratings([1.0, 4.0, 5.0]), mcar_weights=np.array([3.0, 0.0, 2.0]))
    repeated = FitInputs(mcar=ratings([1.0, 1.0, 1.0, 5.0, 5.0]))
    found = NaiveBayes().fit(train, inputs=drawn).of(asked).rows
    np.testing.assert_allclose(found, NaiveBayes().fit(train, inputs=repeated).of(asked).rows, rtol=1e-12)


def with_random_rows(counts: dict[float, int], propensity: str = "naive_bayes") -> us.Result:
    """An evaluation whose random sample has these rows of each value; fours and fives are relevant."""
    rng = np.random.default_rng(0)
    stars = rng.choice([1.0, 2.0, 4.0, 5.0], (60, 20))
    train, test = us.split.holdout(log_of(rng.random(stars.shape) < 0.5, stars, "ratings"), 0.5)
    lists = pl.DataFrame({"user": np.arange(60), "item": np.zeros(60, dtype=int), "rank": 1})
    return us.evaluate(
        test,
        {"m": lists},
        metrics=["recall@1"],
        estimators=["snips"],
        target="pooled",
        propensity=propensity,
        train=train,
        mcar=ratings([value for value, rows in counts.items() for _ in range(rows)]),
        candidates="all",
        relevant=">=4",
    )


def test_the_error_that_few_random_rows_bring_is_said() -> None:
    """Delta method: √((m − m_r)/(m·m_r)) for the values that count; nothing is said where rows abound."""
    (said,) = [w for w in with_random_rows({1.0: 60, 4.0: 30, 5.0: 10}).warnings if "random rows only" in w]
    four, five = (100.0 * np.sqrt((100 - m) / (100 * m)) for m in (30, 10))
    assert (
        f"100 random rows only: its relative standard error is of value 4 ± {four:.0f} %, of value 5 ± {five:.0f} %"
        in said
    )
    assert "refit=True" in said and "value 1 " not in said
    many = with_random_rows({1.0: 3, 4.0: 5_000, 5.0: 5_000})
    assert not any("random rows only" in w for w in many.warnings)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({1.0: 2, 4.0: 2, 5.0: 1}, "there are 5 "),
        ({4.0: 10, 5.0: 10}, "there are 20:"),
        ({1.0: 60, 4.0: 30, 5.0: 4}, "there are 94 (4 of value 5)"),
        ({1.0: 60, 4.0: 30}, "there are 90 (0 of value 5)"),
    ],
)
def test_too_few_random_rows_are_refused(counts: dict[float, int], words: str) -> None:
    """Fewer than 50, or than 5 of a value that counts; what the refusal names instead is accepted."""
    with pytest.raises(RefusedError) as refused:
        with_random_rows(counts)
    assert words in str(refused.value)
    (instead,) = [text for text in str(refused.value).split("'") if text.startswith("logistic(")]
    assert with_random_rows(counts, instead).estimates[0].value > 0.0


def test_values_that_do_not_count_need_no_random_rows() -> None:
    """Ones and twos are not relevant: whether the sample has any does not matter to recall."""
    assert with_random_rows({4.0: 30, 5.0: 30}).estimates[0].value > 0.0
