"""Coat with the propensities its authors ship: the mean rating, as the error of predicting 0 (schnabel16 §6.4)."""

from __future__ import annotations

import numpy as np
import pytest

import unskew as us
from tests.conftest import missing
from unskew.log import datasets


@pytest.fixture(scope="module")
def coat() -> datasets.Dataset:
    if datasets.folder_of("coat") is None:
        missing("no copy of the data set 'coat' (looked in UNSKEW_DATA, ../shared/data and the cache)")
    return us.load("coat")


def test_the_mean_rating_of_self_chosen_coats_is_too_high(coat: datasets.Dataset) -> None:
    """naive 2.611, ips 2.424, snips 2.331; of coats shown at random it is 2.2."""
    result = us.evaluate(
        coat.mnar,
        {"zero": np.zeros((290, 300))},
        metrics=["mae"],
        estimators=["naive", "ips", "snips"],
        propensity="known",
    )
    found = {e.estimator: e for e in result.estimates}
    assert [round(found[name].value, 3) for name in ("naive", "ips", "snips")] == [2.611, 2.424, 2.331]
    assert coat.mcar is not None
    random = us.evaluate(coat.mcar, {"zero": np.zeros((290, 300))}, metrics=["mae"], estimators=["naive"])
    truth = random.estimates[0]
    assert found["naive"].low > truth.high  # the skew is real
    assert abs(found["snips"].value - truth.value) < abs(found["ips"].value - truth.value)
    assert abs(found["ips"].value - truth.value) < abs(found["naive"].value - truth.value)
