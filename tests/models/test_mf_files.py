"""MF-IPS in files and strings, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.models.mf_worlds import some
from tests.said import refuses

from unskew.core.errors import InputError
from unskew.models import MF


def test_wrong_logs_and_propensities_are_named() -> None:
    """No values, no rows, a NaN; propensities of 0, above 1, of the wrong number, or none where they are asked for."""
    _, log = some()
    assert log.value is not None and log.propensity is not None
    for wrong, code in (
        (replace(log, value=None), "missing-column"),
        (log.take(np.zeros(len(log), dtype=bool)), "empty-log"),
        (replace(log, value=np.where(np.arange(len(log)) == 3, np.nan, log.value)), "bad-value"),
        (replace(log, value=np.where(np.arange(len(log)) == 0, np.inf, log.value)), "bad-value"),
    ):
        with refuses(code):
            MF(2).fit(wrong)
    zero = np.where(np.arange(len(log)) >= len(log) - 2, 0.0, log.propensity)
    for given, code in (
        (zero, "bad-value"),
        (log.propensity * 9.0, "bad-value"),
        (log.propensity[1:], "wrong-shape"),
        (["x"] * len(log), "not-a-number"),
        ("naive_bayes", "no-random-sample"),
    ):
        with refuses(code):
            MF(2).fit(log, propensity=given)
    with refuses("missing-column", column="propensity"):
        MF(2, propensity="known").fit(replace(log, propensity=None))


def test_wrong_searches_and_questions_are_named() -> None:
    _, log = some()
    with refuses("missing-argument"):
        MF.search(log, penalties=())
    for option, value, named in (
        ("penalties", (1.0, -1.0), "penalty"),
        ("dims", (5, -5), "dim"),
        ("folds", 1, "folds"),
    ):
        with pytest.raises(InputError) as caught:
            MF.search(log, **{option: value})  # type: ignore[arg-type]
        assert caught.value.fields["option"] == named
    with refuses("not-fitted"):
        MF().predict([1], [2])
    model = MF(2).fit(log)
    with refuses("wrong-shape"):
        model.predict([1, 2], [1])
    with refuses("out-of-range"):
        model.predict_codes(np.zeros(1, dtype=np.int32), np.full(1, 12, dtype=np.int32))
