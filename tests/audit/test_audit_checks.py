"""Propensities checked inside an audit: the numbers of ``propensity.check``, in every form, and refusals in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.report.reading import printed
from tests.said import refuses
from unskew.log import Log, read_features
from unskew.propensity import FitInputs, check
from unskew.propensity.checks import CLICKS_ONLY
from unskew.report import notebook, page

from . import logs

NAMES = ["known", "popularity(gamma=1)", "logistic(features=none, offsets=user+item)"]


def covariates(key: str, size: int) -> pl.DataFrame:
    return pl.DataFrame({key: np.arange(size), "x": np.random.default_rng(1).uniform(size=size)})


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Conversions with known propensities."""
    frame = logs.skewed(propensity=True)
    return frame.with_columns(value=pl.Series(np.random.default_rng(2).integers(0, 2, len(frame)).astype(np.float64)))


@pytest.fixture(scope="module")
def audit(frame: pl.DataFrame) -> us.Audit:
    return us.audit(frame, feedback="conversions", propensities=NAMES)


def test_the_checks_are_those_of_the_propensity_room(frame: pl.DataFrame, audit: us.Audit) -> None:
    """The audit's checks equal ``us.propensity.check`` on the same log, with the same covariates and MCAR log."""
    log = Log.from_frame(frame, feedback="conversions")
    assert audit.checks == check(NAMES, log)
    mcar = frame.drop("propensity").sample(500, seed=1)
    user, item = covariates("user", 300), covariates("item", 120)
    more = ["naive_bayes", "logistic(features=outer)"]
    found = us.audit(
        frame, feedback="conversions", propensities=more, mcar=mcar, user_features=user, item_features=item
    )
    side = FitInputs(
        Log.from_frame(mcar, feedback="conversions"), read_features(user, "user"), read_features(item, "item")
    )
    assert found.checks == check(more, log, inputs=side)
    assert found.mcar is not None


def test_a_threshold_says_what_popularity_counts(frame: pl.DataFrame) -> None:
    """Ratings with a threshold: popularity is that of the rows behind it; without one it is refused in words."""
    rated = frame.with_columns(value=pl.col("item") % 5 + 1)
    found = us.audit(rated, relevant=">=4", propensities="popularity(gamma=1)").checks
    log = Log.from_frame(rated, feedback="ratings")
    assert found == check("popularity(gamma=1)", replace(log, gain=(np.asarray(log.value) >= 4).astype(np.float64)))
    asked = ["popularity(gamma=1)", "known"]
    refused = us.audit(rated, feedback="ratings", propensities=asked)
    assert [c.propensity for c in refused.checks] == ["known"]
    assert "propensity-refused" in logs.said(refused, "warning")


def test_one_failure_is_a_finding_and_only_failures_are_an_error(frame: pl.DataFrame) -> None:
    """What cannot be fitted is a warning beside others; alone, or misspelt, it is an error; so are idle covariates."""
    found = us.audit(frame, feedback="conversions", propensities=["naive_bayes", "known"])
    refused = logs.text_of(found, "propensity-refused")
    assert refused.startswith("naive_bayes") and refused[:40] in " ".join(printed(found, 200).split())
    with refuses("no-random-sample"):
        us.audit(frame, feedback="conversions", propensities="naive_bayes")
    with refuses("unknown-name", near=["known"]):
        us.audit(frame, feedback="conversions", propensities=["knwn", "uniform"])
    with refuses("conflicting-arguments"):
        us.audit(frame, feedback="conversions", user_features=covariates("user", 300))


def test_a_log_without_values_is_asked_what_it_can_be_asked() -> None:
    """An implicit log with an MCAR log of clicks: propensities use it, values are not compared, and both are said."""
    log, mcar = logs.skewed(), logs.skewed(seed=3).sample(400, seed=1)
    found = us.audit(log, mcar=mcar, propensities=["popularity(gamma=1)", "known"])
    assert found.mcar is None and found.checks.refused[0].reason.code
    assert "mcar-for-propensities" in logs.said(found)
    with refuses("missing-column", column="value"):
        us.audit(log, mcar=mcar)


def test_checks_on_clicks_neither_withdraw_nor_confirm_the_advice() -> None:
    """They see clicks, not exposure, which every form warns of; nothing is called good, the advice stays the same."""
    clicks = us.audit(logs.skewed(), propensities=["popularity(gamma=1)", "uniform"])
    assert "clicks-only" in logs.said(clicks, "warning") and "propensity-agrees" not in logs.said(clicks)
    told, alone = CLICKS_ONLY[1:50], clicks.checks
    for text in (printed(clicks, 300), page(clicks), notebook(clicks), printed(alone, 300), page(alone)):
        assert told in " ".join(text.split())
    assert clicks.to_dict()["checks"]["positives"] is True
    assert clicks.advice == us.audit(logs.skewed()).advice
