"""Guesses that have seen a pair's outcome take the correction away; folds of pairs do not. And who fits what."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.conversions.worlds import ITEMS, USERS
from unskew.errors import InputError
from unskew.log import Log
from unskew.outcome import Crossfit, Given, Means
from unskew.propensity.crossfit import pair_folds

WORLDS, PEOPLE = 24, 1_500


def taste(seed: int) -> dict[str, Any]:
    """Two kinds of users, two kinds of items: a matching item converts in 80 %, another in 20 %; lists match.

    Means of users and items cannot see the match, so they guess 50 % for everything.
    """
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, PEOPLE)
    p = np.array([0.3, 0.6, 0.5, 0.4])
    match = kind[:, None] == np.array([0, 0, 1, 1])
    y = rng.random((PEOPLE, 4)) < np.where(match, 0.8, 0.2)
    user, item = np.nonzero(rng.random((PEOPLE, 4)) < p)
    test = pl.DataFrame({"user": user, "item": item, "value": y[user, item].astype(float), "propensity": p[item]})
    lists = pl.DataFrame({"user": np.arange(PEOPLE), "item": 2 * kind + rng.integers(0, 2, PEOPLE), "rank": 1})
    return {"test": test, "models": {"m": lists}, "users": pl.DataFrame({"user": np.arange(PEOPLE)})}


def estimates(estimator: str, *, in_sample: bool) -> tuple[float, float]:
    """Mean over worlds and the standard error of that mean."""
    values = []
    for seed in range(WORLDS):
        found = us.evaluate(
            **taste(seed), metrics=["recall@1"], estimators=[estimator], propensity="known",
            outcome="means(shrink=0)", in_sample=in_sample, feedback="conversions",
        )  # fmt: skip
        values.append(found.estimates[0].value)
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(WORLDS))


def test_folds_of_pairs_leave_dr_unbiased() -> None:
    """The truth is 0.8; the mean over 24 worlds of 1,500 users lies within 3 of its own standard errors (≈ .004)."""
    mean, error = estimates("dr", in_sample=False)
    assert error < 0.01
    assert mean == pytest.approx(0.8, abs=3.0 * error)


def test_in_sample_guesses_bias_dr() -> None:
    """Fitted to the pairs that correct it, dr leans towards the model: far more than 5 standard errors too low."""
    mean, error = estimates("dr", in_sample=True)
    assert mean < 0.8 - 5.0 * error and mean < 0.75
    direct, _ = estimates("direct", in_sample=False)
    assert direct < 0.6


def test_cross_fitted_means_equal_loops() -> None:
    """evaluate() fits the model without the fold of each pair: the same numbers as guesses made by hand."""
    rng = np.random.default_rng(3)
    rows = [(u, i, float(rng.random() < 0.4), float(rng.uniform(0.1, 1.0))) for u in USERS for i in ITEMS]
    rows = [row for row in rows if rng.random() < 0.6]
    log = pl.DataFrame(rows, schema=["user", "item", "value", "propensity"], orient="row")
    lists = pl.DataFrame(
        [(u, i, r) for u in USERS for r, i in enumerate(ITEMS[:4], 1)], schema=["user", "item", "rank"], orient="row"
    )
    every = pl.DataFrame([(u, i) for u in USERS for i in ITEMS], schema=["user", "item"], orient="row")
    where = pair_folds(Log.from_frame(every), 5)
    fold = dict(zip([(u, i) for u in USERS for i in ITEMS], where.tolist(), strict=True))
    q = [(u, i, guess([r for r in rows if fold[r[0], r[1]] != fold[u, i]], u, i)) for u in USERS for i in ITEMS]
    by_hand = Given(pl.DataFrame(q, schema=["user", "item", "prediction"], orient="row"))
    asked: dict[str, Any] = {
        "metrics": ["dcg@3"], "estimators": ["direct", "dr", "sndr"], "propensity": "known", "feedback": "conversions",
        "target": ["per_user_sum", "per_user_sum(normalised=pooled)"], "refused": "skip",
    }  # fmt: skip
    fitted = us.evaluate(log, {"m": lists}, outcome="means(shrink=2)", **asked)
    given = us.evaluate(log, {"m": lists}, outcome=by_hand, **asked)
    assert len(fitted.estimates) == 5 and len(set(fold.values())) == 5
    for one, two in zip(fitted.estimates, given.estimates, strict=True):
        assert (one.value, one.se) == pytest.approx((two.value, two.se), rel=1e-9), one
    assert fitted.inputs["outcome"]["how"] == "cross-fitted over pairs"
    assert given.inputs["outcome"]["how"] == "given"


def guess(rows: list[tuple[str, str, float, float]], user: str, item: str, shrink: float = 2.0) -> float:
    """Shrunk weighted means of the items, then of the users in what items leave."""
    mean = sum(y / p for _, _, y, p in rows) / sum(1 / p for *_, p in rows)

    def effect(rest: list[tuple[float, float]]) -> float:
        if not rest:
            return 0.0
        total, squares = sum(w for _, w in rest), sum(w * w for _, w in rest)
        size = total**2 / squares
        return size / (size + shrink) * sum(w * x for x, w in rest) / total

    items = {i: effect([(y - mean, 1 / p) for _, j, y, p in rows if j == i]) for i in ITEMS}
    users = effect([(y - mean - items[j], 1 / p) for u, j, y, p in rows if u == user])
    return min(max(mean + items[item] + users, 0.0), 1.0)


def asked(**options: Any) -> us.Result:
    given = taste(0)
    return us.evaluate(
        **given, metrics=["recall@1"], estimators=["dr"], propensity="known", feedback="conversions", **options
    )


def test_how_the_model_was_fitted_is_told() -> None:
    """Folds by default; in sample with a warning; what was fitted elsewhere is taken as it is."""
    folded = asked(outcome="means(shrink=10)")
    assert folded.inputs["outcome"]["how"] == "cross-fitted over pairs"
    assert folded.inputs["outcome"]["model"] == "crossfit(means(shrink=10), folds=5, seed=0)"
    assert not any("very pairs" in warning for warning in folded.warnings)
    whole = asked(outcome="means(shrink=10)", in_sample=True)
    assert whole.inputs["outcome"]["how"] == "fitted in sample"
    assert any("very pairs that correct it" in warning for warning in whole.warnings)
    elsewhere = Means(10.0).fit(Log.from_frame(taste(1)["test"], feedback="conversions"))
    assert asked(outcome=elsewhere).inputs["outcome"]["how"] == "fitted elsewhere"


@pytest.mark.parametrize("in_sample", [False, True])
def test_folds_that_were_asked_for_by_name_are_used(in_sample: bool) -> None:
    """crossfit(means, folds=3) is cross-fitted with three folds, whatever the switch says, and no warning is due."""
    found = asked(outcome="crossfit(means(shrink=10), folds=3)", in_sample=in_sample)
    assert found.inputs["outcome"]["how"] == "cross-fitted over pairs"
    assert found.inputs["outcome"]["model"] == "crossfit(means(shrink=10), folds=3, seed=0)"
    assert not any("very pairs" in warning for warning in found.warnings)


def test_asking_in_any_order_gives_the_same_guesses() -> None:
    """A bound cross-fitted model answers about pairs in any order, and about few users as about many."""
    log = Log.from_frame(taste(0)["test"], feedback="conversions")
    ask = Crossfit(Means(1.0), folds=3).fit(log).bind(log.users, log.items)
    user = np.repeat(np.arange(50, dtype=np.int32), 4)
    item = np.tile(np.arange(4, dtype=np.int32), 50)
    q = ask(user, item)
    order = np.random.default_rng(0).permutation(len(user))
    np.testing.assert_array_equal(ask(user[order], item[order]), q[order])
    np.testing.assert_array_equal(ask(user[8:12], item[8:12]), q[8:12])
    folds = pair_folds(log, 3)
    assert len(np.unique(folds)) == 3


def test_a_threshold_makes_outcomes_of_ratings() -> None:
    """With --relevant '>=4' the model is fitted to relevant or not, as the sums are: guesses lie between 0 and 1."""
    stars = taste(0)["test"].with_columns(value=1.0 + 4.0 * pl.col("value"))
    given = taste(0) | {"test": stars}
    rated = us.evaluate(
        **given, metrics=["recall@1"], estimators=["direct", "dr"], propensity="known", outcome="means(shrink=10)",
        feedback="ratings", relevant=">=4", target="per_user_sum",
    )  # fmt: skip
    converted = us.evaluate(
        **taste(0), metrics=["recall@1"], estimators=["direct", "dr"], propensity="known", outcome="means(shrink=10)",
        feedback="conversions",
    )  # fmt: skip
    for one, two in zip(rated.estimates, converted.estimates, strict=True):
        assert (one.value, one.se) == pytest.approx((two.value, two.se), rel=1e-12)


def test_refitted_propensities_reach_the_corrections() -> None:
    """The bootstrap with refitting gives sndr and snips over the list intervals around their own values."""
    rng = np.random.default_rng(1)
    train = pl.DataFrame({"user": rng.integers(0, PEOPLE, 900), "item": rng.choice(4, 900, p=[0.4, 0.3, 0.2, 0.1])})
    train = train.unique(maintain_order=True).with_columns(value=1.0)
    found = us.evaluate(
        **taste(0), metrics=["recall@1"], estimators=["sndr", "snips(over=list)"], propensity="popularity(gamma=1)",
        outcome="means(shrink=10)", feedback="conversions", train=train, candidates="all", interval="bootstrap",
        replicates=60, refit=True,
    )  # fmt: skip
    for e in found.estimates:
        assert e.low < e.value < e.high and 0.0 < e.se < 0.1, e


def test_too_few_rows_for_the_folds_is_an_error() -> None:
    """One seen pair cannot be guessed from others."""
    one = pl.DataFrame({"user": [1], "item": [1], "value": [1.0]})
    with pytest.raises(InputError, match="too few"):
        Crossfit(Means()).fit(Log.from_frame(one, feedback="conversions"))


def test_whoever_asks_for_direct_is_told_what_it_believes() -> None:
    """The sentence comes with direct, and with nothing else."""
    options: dict[str, Any] = {"propensity": "known", "outcome": "means(shrink=10)", "feedback": "conversions"}
    for estimator, told in (("direct", True), ("dr", False), ("switch(tau=2)", False)):
        found = us.evaluate(**taste(0), metrics=["recall@1"], estimators=["ips", estimator], **options)
        said = [text for text in found.warnings if "direct believes the outcome model" in text]
        assert len(said) == told and all("know nothing of the model's errors" in text for text in said)
