"""Naive Bayes propensities: Eq. 18, what it needs, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.propensity.worlds import Floats, log_of
from tests.said import only, refuses
from unskew.core.errors import RefusedError
from unskew.core.notice import codes
from unskew.log import Log
from unskew.propensity import FitInputs, NaiveBayes


def ratings(values: list[float], users: list[int] | None = None) -> Log:
    """One row per rating; a user for each by default, every row another item."""
    who = list(range(len(values))) if users is None else users
    frame = pl.DataFrame({"user": who, "item": list(range(len(values))), "value": values})
    return Log.from_frame(frame, feedback="ratings")


STARS = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=30)


def fitted_to(smoothing: float, train: Log, mcar: Log, weights: Floats | None = None) -> NaiveBayes:
    return NaiveBayes(smoothing).fit(train, inputs=FitInputs(mcar=mcar, mcar_weights=weights))


@given(STARS, STARS, st.sampled_from([0.0, 0.01, 1.0, 5.0]), st.booleans())
def test_it_is_bayes_rule_with_pseudo_counts(seen: list[float], everywhere: list[float], a: float, one: bool) -> None:
    """Eq. 18 by loops: P(r|O)·P(O)/P(r), both distributions smoothed over the union of values, capped at 1, counted.

    Without smoothing and cap, Σ 1/P over the fitting data is exactly U·I. One user may have all rows.
    """
    everywhere = everywhere if a > 0.0 else [r for r in everywhere if r in seen] + sorted(set(seen))
    train = ratings(seen, [0] * len(seen) if one else None)
    values = sorted(set(seen) | set(everywhere))
    pairs, expected = len(train.users) * len(train.items), []
    for r in values:
        given_seen = (seen.count(r) + a) / (len(seen) + a * len(values))
        all_over = (everywhere.count(r) + a) / (len(everywhere) + a * len(values))
        expected.append(given_seen * len(seen) / pairs / all_over)
    scored = fitted_to(a, train, ratings(everywhere)).of(ratings(values))
    np.testing.assert_allclose(scored.rows, np.minimum(expected, 1.0), rtol=1e-12)
    assert scored.capped == sum(p > 1.0 for p in expected)
    if a == 0.0:
        assert sum(seen.count(r) / p for r, p in zip(values, expected, strict=True)) == pytest.approx(pairs, rel=1e-9)


def test_what_it_needs_and_lacks_is_said() -> None:
    """No random sample, no values, an unknown value, an empty log, too many values, other values altogether."""
    log = ratings([1.0, 2.0])
    nobody = log.take(np.zeros(2, dtype=bool))
    clicks = log_of(np.eye(2, dtype=bool), feedback="implicit")
    many = ratings([float(j) / 7 for j in range(200)])
    fits: list[tuple[str, float, Log, Log | None, dict[str, Any]]] = [
        ("no-random-sample", 1.0, log, None, {}),
        ("missing-column", 1.0, clicks, log, {"column": "value"}),
        ("empty-log", 1.0, nobody, log, {}),
        ("empty-log", 1.0, log, nobody, {}),
        ("too-many-values", 1.0, many, log, {"values": "200"}),
        ("unseen-value", 0.0, log, ratings([1.0]), {"value": 2.0}),
        ("unseen-value", 0.0, ratings([4.0, 5.0]), ratings([0.0, 1.0]), {"value": 4.0}),
    ]
    for code, smoothing, train, mcar, fields in fits:
        with refuses(code, **fields):
            NaiveBayes(smoothing).fit(train, inputs=FitInputs(mcar=mcar))
    with refuses("missing-column"):
        fitted_to(1.0, log, log).predict([0], [1])
    for smoothing, train, asked, value in ((1.0, log, ratings([3.0]), 3.0), (0.0, ratings([1.0]), log, 2.0)):
        with refuses("unseen-value", value=value):
            fitted_to(smoothing, train, log).of(asked)


def test_random_rows_are_weighed_by_their_user() -> None:
    """A bootstrap draws the random rows with their users: weight 3 counts like three rows, 0 like none."""
    train, asked = ratings([1.0, 4.0, 5.0, 5.0]), ratings([1.0, 4.0, 5.0])
    found = fitted_to(1.0, train, ratings([1.0, 4.0, 5.0]), np.array([3.0, 0.0, 2.0])).of(asked).rows
    repeated = fitted_to(1.0, train, ratings([1.0, 1.0, 1.0, 5.0, 5.0])).of(asked).rows
    np.testing.assert_allclose(found, repeated, rtol=1e-12)


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
    """Delta method: √((m − m_r)/(m·m_r)) for the values that count; nothing is said where rows abound, nor of values
    that do not count."""
    said = only("few-random-rows", with_random_rows({1.0: 60, 4.0: 30, 5.0: 10}).warnings, rows=100)
    four, five = (100.0 * np.sqrt((100 - m) / (100 * m)) for m in (30, 10))
    assert f" 4 ± {four:.0f} %" in said and f" 5 ± {five:.0f} %" in said and " 1 ±" not in said
    for many in ({1.0: 3, 4.0: 5_000, 5.0: 5_000}, {4.0: 5_000, 5.0: 5_000}):
        assert "few-random-rows" not in codes(with_random_rows(many).warnings)


@pytest.mark.parametrize(
    "counts", [{1.0: 2, 4.0: 2, 5.0: 1}, {4.0: 10, 5.0: 10}, {1.0: 60, 4.0: 30, 5.0: 4}, {1.0: 60, 4.0: 30}]
)
def test_too_few_random_rows_are_refused(counts: dict[float, int]) -> None:
    """Fewer than 50, or than 5 of a value that counts; what the refusal names instead is accepted."""
    with refuses("too-few-rows", RefusedError, rows=sum(counts.values())) as refused:
        with_random_rows(counts)
    (instead,) = [text for text in str(refused.value).split("'") if text.startswith("logistic(")]
    assert with_random_rows(counts, instead).estimates[0].value > 0.0
