"""What every outcome model keeps to: strings, options, and what it refuses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.outcome.worlds import log_of
from tests.said import refuses
from unskew import outcome
from unskew.log import Log

PRINTED = {
    "means": "means(shrink=10)",
    "logistic_mf": "logistic_mf(dim=10, penalty=0.85, ridge=4, epochs=30, held_out=0.1, seed=0)",
    "adam_mf": "adam_mf(dim=10, rate=0.001, l2=1e-05, steps=5000, batch=256, seed=0)",
    "crossfit(means)": "crossfit(means(shrink=10), folds=5, seed=0)",
    "crossfit(adam_mf(dim=3, steps=9), folds=2)":
        "crossfit(adam_mf(dim=3, rate=0.001, l2=1e-05, steps=9, batch=256, seed=0), folds=2, seed=0)",
}  # fmt: skip
Y, SEEN = np.ones((3, 4)), np.eye(3, 4, dtype=np.bool_)


@pytest.mark.parametrize("text", PRINTED)
def test_strings_read_back_and_nothing_is_asked_before_the_fit(text: str) -> None:
    """Printed in full, parsed back."""
    assert str(outcome.make(text)) == PRINTED[text] == str(outcome.make(PRINTED[text]))
    with refuses("not-fitted"):
        outcome.make(text).of(log_of(SEEN, Y))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("crossfit", "missing-argument"),
        ("crossfit(crossfit(means))", "conflicting-arguments"),
        ("crossfit(mean)", "unknown-name"),
    ],
)
def test_impossible_wrappings_are_refused(text: str, code: str) -> None:
    """Nothing inside, twice the same, a name that is none."""
    with refuses(code):
        outcome.make(text)


@pytest.mark.parametrize("text", ["means", "logistic_mf(dim=1)", "adam_mf(dim=1, steps=2)"])
def test_what_cannot_be_fitted_is_refused(text: str) -> None:
    """Positives only, propensities that do not fit, no rows, graded outcomes for models of 0 and 1."""
    log = log_of(SEEN, Y)
    clicks = Log.from_frame(pl.DataFrame({"user": [1, 2], "item": [1, 1]}), feedback="implicit")
    with refuses("positives-only"):
        outcome.make(text).fit(clicks)
    with refuses("wrong-shape"):
        outcome.make(text).fit(log, propensity=np.ones(2))
    with refuses("out-of-range", row=1):
        outcome.make(text).fit(log, propensity=np.array([0.5, 0.0, 1.0]))
    with refuses("empty-log"):
        outcome.make(text).fit(log_of(np.zeros((3, 4), dtype=np.bool_), Y))
    graded = log_of(np.ones((2, 2), dtype=np.bool_), np.array([[0.0, 1.0], [4.0, 1.0]]))
    if text == "means":
        assert outcome.make(text).fit(graded).fitted
    else:
        with refuses("graded-outcomes", row=2):
            outcome.make(text).fit(graded)
