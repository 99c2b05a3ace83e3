"""Guesses that have seen a pair's outcome take the correction away; folds of pairs do not. And who fits what."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.conversions.worlds import ITEMS, USERS
from unskew.log import Log
from unskew.notice import codes
from unskew.outcome import Given, Means
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


@pytest.mark.parametrize(
    ("outcome", "in_sample", "how", "model"),
    [
        ("means(shrink=10)", False, "cross-fitted over pairs", "crossfit(means(shrink=10), folds=5, seed=0)"),
        ("means(shrink=10)", True, "fitted in sample", "means(shrink=10)"),
        ("crossfit(means(shrink=10), folds=3)", True, "cross-fitted over pairs", None),  # asked for by name
        (None, False, "fitted elsewhere", "means(shrink=10)"),
    ],
)
def test_how_the_model_was_fitted_is_told(outcome: str | None, in_sample: bool, how: str, model: str | None) -> None:
    """Folds by default; in sample with a warning; what was fitted elsewhere is taken as it is."""
    elsewhere = Means(10.0).fit(Log.from_frame(taste(1)["test"], feedback="conversions"))
    found = us.evaluate(
        **taste(0), metrics=["recall@1"], estimators=["dr"], propensity="known", feedback="conversions",
        outcome=outcome or elsewhere, in_sample=in_sample,
    )  # fmt: skip
    said = found.inputs["outcome"]
    assert (said["how"], said["model"]) == (how, model or "crossfit(means(shrink=10), folds=3, seed=0)")
    assert ("fitted-in-sample" in codes(found.warnings)) == (how == "fitted in sample")
