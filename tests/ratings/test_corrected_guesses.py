"""dr of errors of predictions: a model guesses what every candidate costs, and is corrected by what was seen.

(1/UI) Σ [ q + O r (δ − q) ]: over all masks of a few pairs, and by its parts on a log with training rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from tests.ratings.test_enumeration import Full, full
from unskew.estimators.dr import DR
from unskew.estimators.target import Target
from unskew.estimators.validity import Evidence, refusal
from unskew.kernels.arrays import present
from unskew.log import Feedback, Ids, Log
from unskew.metrics import make as make_metric
from unskew.outcome import Given, Outcome, crossfit, make
from unskew.outcome.base import PairPredictor

Floats = npt.NDArray[np.float64]
ERRORS = ["mae", "mse", "accuracy"]


@dataclass(frozen=True, eq=False)
class Fixed(Outcome):
    """The same guesses whatever is seen; to the library it is a model that is fitted by folds of its own."""

    q: Floats
    done: bool = field(default=False)

    name = "fixed"
    crossfits = True

    @property
    def fitted(self) -> bool:
        return self.done

    def fit(self, log: Log, **_: Any) -> Self:
        return self.remember(done=True)

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        return lambda user, item: self.q[user, item]

    def __str__(self) -> str:
        return self.name


def of_masks(world: Full, log: Log, q: Floats, metric: str) -> tuple[Floats, Floats]:
    """The chances of all masks, the empty one first, and dr in each."""
    nothing = float(np.prod(1.0 - world.propensity))
    chances, found = [nothing], [float(q.mean())]
    for chance, mask in world.masks():
        result = us.evaluate(
            log.take(mask),
            {"m": world.predicted},
            metrics=[metric],
            estimators=["dr"],
            propensity="known",
            outcome=Fixed(q),
            threads=1,
        )
        chances.append(chance)
        found.append(result.estimates[0].value)
    return np.array(chances), np.array(found)


@pytest.mark.parametrize("metric", ERRORS)
def test_right_propensities_make_any_guess_unbiased(metric: str) -> None:
    """E over all masks is the mean over all pairs; the variance is Σ (1/P − 1)(δ − q)² / (UI)²."""
    world = full(0)
    delta, q = world.delta(metric), np.random.default_rng(4).uniform(0.0, 2.0, world.shape)
    chance, found = of_masks(world, world.log(), q, metric)
    mean = float(chance @ found)
    assert chance.sum() == pytest.approx(1.0) and mean == pytest.approx(delta.mean(), abs=1e-12)
    spread = float(np.sum((1.0 / world.propensity - 1.0) * (delta - q) ** 2)) / delta.size**2
    assert float(chance @ found**2) - mean**2 == pytest.approx(spread)


@pytest.mark.parametrize("metric", ERRORS)
def test_right_guesses_make_any_propensities_right(metric: str) -> None:
    """q = δ: the mean over all pairs in every mask, however wrong the propensities are."""
    world = full(1)
    delta = world.delta(metric)
    assumed = np.random.default_rng(3).uniform(0.05, 1.0, world.shape)
    _, found = of_masks(world, world.log(assumed), delta, metric)
    np.testing.assert_allclose(found, delta.mean(), atol=1e-12)


def some_log(seed: int = 0) -> tuple[Log, Log, dict[str, Floats]]:
    """Training and held-out rows over the same users and items, and predictions of two models."""
    rng = np.random.default_rng(seed)
    user, item = (index.ravel() for index in np.indices((40, 15)))
    value = rng.integers(1, 6, user.size).astype(float)
    p = 0.1 + 0.15 * value
    part = np.where(rng.random(user.size) < 0.15, 1, np.where(rng.random(user.size) < p, 2, 0))
    everything = pl.DataFrame({"user": user, "item": item, "value": value, "propensity": p})
    whole = Log.from_frame(everything, feedback="ratings")
    predicted = {"a": rng.uniform(1.0, 5.0, (40, 15)), "b": value.reshape(40, 15) + rng.normal(0.0, 1.2, (40, 15))}
    return whole.take(part == 1), whole.take(part == 2), predicted


def parts_of(model: str, metric: str) -> tuple[Floats, Floats, Floats, float]:
    """By hand: r, δ − q of every held-out row, Σ q of every user's candidates, and how many candidates there are."""
    train, test, predicted = some_log()
    assert test.value is not None and test.propensity is not None
    error = np.abs(predicted[model][test.user, test.item] - test.value)
    delta = error if metric == "mae" else error**2
    rows = replace(test, gain=delta, feedback=Feedback.CONVERSIONS)
    fitted = crossfit(make("means(shrink=5)"), rows, propensity=test.propensity)
    every = fitted.predict(np.repeat(np.arange(40), 15), np.tile(np.arange(15), 40)).reshape(40, 15)
    every[train.user, train.item] = 0.0
    return 1.0 / test.propensity, delta - fitted.of(test), every.sum(axis=1), float(40 * 15 - len(train))


def evaluated(**more: Any) -> Any:
    train, test, predicted = some_log()
    options: dict[str, Any] = {"metrics": ["mae", "mse"], "estimators": ["dr"], "outcome": "means(shrink=5)"} | more
    return us.evaluate(test, predicted, train=train, propensity="known(part=test)", threads=1, **options)


def test_guesses_are_cross_fitted_and_added_up_over_unseen_candidates() -> None:
    """A model of its own for each metric and model, fitted to δ of the held-out rows by folds of pairs."""
    found = {(row["model"], row["metric"]): row for row in evaluated().table().to_dicts()}
    assert len(found) == 4
    for (model, metric), row in found.items():
        inverse, residual, totals, candidates = parts_of(model, metric)
        assert row["target"] == "per_pair"
        assert row["value"] == pytest.approx((inverse @ residual + totals.sum()) / candidates, rel=1e-9)


def test_the_tipping_point_reweighs_corrections_alone() -> None:
    """At Γ the lead is gone when odds are wrong in the worst direction, while the guesses stay as they are."""
    (verdict,) = evaluated(metrics=["mse"]).verdicts_
    (inverse, of_a, q_a, _), (_, of_b, q_b, _) = parts_of("a", "mse"), parts_of("b", "mse")
    seen, guessed = of_a - of_b, float((q_a - q_b).sum())
    sign = np.sign(inverse @ seen + guessed)
    gamma = np.where(sign * seen > 0.0, 1.0 / verdict.tipping, verdict.tipping)
    worst = (1.0 + (inverse - 1.0) * gamma) @ seen + guessed
    assert verdict.tipping_kind == "odds" and verdict.tipping > 1.0
    assert worst == pytest.approx(0.0, abs=1e-6 * abs(guessed))


def test_lists_and_ready_made_guesses_are_refused() -> None:
    """A list's gain is per_user_sum's; predictions of values say nothing of errors."""
    table = pl.DataFrame({"user": [0], "item": [0], "prediction": [3.0]})
    for metric, outcome, code in (
        ("dcg@3", "means(shrink=5)", "wrong-target"),
        ("mae", Given(table, default=3.0), "no-outcome-model"),
    ):
        found = evaluated(
            metrics=[metric], estimators=["ips", "dr"], outcome=outcome, target="per_pair", refused="skip"
        )
        assert {(each["estimator"], each["code"]) for each in found.inputs["refused"]} == {("dr", code)}


def test_parts_of_users_are_refused() -> None:
    """What is fitted to errors needs all rows at once."""
    known = Evidence(Feedback.RATINGS, propensity=True, absolute=True, unpredicted="", outcome=True)
    metric, target = make_metric("mae"), Target.PER_PAIR
    assert refusal(metric, DR(), target, known) is None
    assert present(refusal(metric, DR(), target, replace(known, in_parts=True))).code == "in-parts"


def test_clips_and_segments_of_users_keep_the_guesses() -> None:
    """A clip far below all propensities changes nothing; segments of users add up to the whole."""
    values = {row["model"]: row["value"] for row in evaluated(metrics=["mae"]).table().to_dicts()}
    clipped = evaluated(metrics=["mae"], estimators=["clipped(dr, at=0.001)"])
    assert {row["model"]: row["value"] for row in clipped.table().to_dicts()} == pytest.approx(values)
    people = pl.DataFrame({"user": range(40), "half": ["x", "y"] * 20})
    table = evaluated(metrics=["mae"], users=people, by="half").table()
    inverse, residual, totals, _ = parts_of("a", "mae")
    train, test, _ = some_log()
    for half, name in enumerate("xy"):
        of_rows, of_users = test.user % 2 == half, np.arange(40) % 2 == half
        candidates = 15 * of_users.sum() - np.count_nonzero(train.user % 2 == half)
        total = inverse[of_rows] @ residual[of_rows] + totals[of_users].sum()
        (row,) = table.filter((pl.col("segment").str.ends_with(name)) & (pl.col("model") == "a")).to_dicts()
        assert row["value"] == pytest.approx(total / candidates, rel=1e-9)
