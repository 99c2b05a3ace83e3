"""The census model: what it is fitted to, what it refuses, and how others may use it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.census.reference import World, features, fitted, sigmoid, standardised
from tests.census.worlds import evaluated, inputs, small_world
from tests.said import refuses
from unskew import outcome
from unskew.log import Feedback, Log
from unskew.outcome.census import Census
from unskew.propensity import FitInputs


def logs(world: World) -> tuple[Log, Log]:
    given = inputs(world)
    return tuple(Log.from_frame(given[part], feedback=Feedback.CONVERSIONS) for part in ("test", "train"))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def world() -> World:
    return small_world()


def test_the_fit_is_that_of_explicit_loops(world: World) -> None:
    """Features from training rows, ridge regression on held-out ones, q of any pair; scores add up to ridge·θ."""
    test, train = logs(world)
    model = Census().fit(test, inputs=FitInputs(train=train))
    x = standardised(features(world, 10, 10.0), list(world.test))
    theta, curve, scores = fitted(x, world.test, 1.0)
    found = model.state
    np.testing.assert_allclose(found.theta, theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.hessian, curve, rtol=1e-7, atol=1e-7)
    for user, score in scores.items():
        np.testing.assert_allclose(found.scores[test.users.encode(pl.Series([user]))[0]], score, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.scores.sum(axis=0), np.append(0.0, theta[1:]), atol=1e-7)
    pairs = list(x)[:50]
    q = model.predict([u for u, _ in pairs], [i for _, i in pairs])
    np.testing.assert_allclose(q, [sigmoid(float(np.array(x[pair]) @ theta)) for pair in pairs], rtol=1e-7)


def test_constant_features_are_left_out(world: World) -> None:
    """Training rows that are all positive say nothing about means: their coefficients are 0, and nothing is NaN."""
    test, train = logs(world)
    assert train.value is not None
    model = Census(rank=0).fit(test, inputs=FitInputs(train=replace(train, value=np.ones(len(train)))))
    found = model.state.coefficients
    assert found["affinity"] == 0.0
    assert all(np.isfinite(list(found.values())))


def test_no_training_log_or_a_single_outcome_is_refused(world: World) -> None:
    """Each says what to give."""
    test, train = logs(world)
    with refuses("no-training-log"):
        Census().fit(test)
    assert test.value is not None
    for value, code in ((0.0 * test.value, "all-alike"), (1.0 + 0.0 * test.value, "all-alike"),
                        (3.0 * test.value, "graded-outcomes")):  # fmt: skip
        with refuses(code):
            Census().fit(replace(test, value=value), inputs=FitInputs(train=train))


def test_dr_and_direct_may_use_it(world: World) -> None:
    """It is an outcome model like others, cross-fitted over pairs."""
    assert str(outcome.make("census")) == "census(rank=10)"
    found = evaluated(world, estimators=["direct"], outcome="census(rank=3)", target="per_user_sum")
    assert found.inputs["outcome"]["model"].startswith("crossfit(census(rank=3)")
    assert all(np.isfinite(e.value) for e in found.estimates)
