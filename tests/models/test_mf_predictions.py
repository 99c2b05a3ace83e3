"""MF-IPS predicts and recommends."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.models.mf_worlds import low_rank, predictions, ratings_log, some

from unskew.log import Ids, Log
from unskew.models import MF
from unskew.models.mf import model as model_module


def test_predictions_by_id_by_code_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three are v·w + a + b + c; unknown users and items have the other side's offset; blocks hold all users."""
    matrix, log = some()
    model = MF(2).fit(log)
    full = predictions(model.factors_)
    user, item = np.nonzero(np.ones_like(matrix))
    np.testing.assert_allclose(model.predict(user, item), full.ravel())
    found = model.factors_
    for u, i, expected in (
        (99, 3, found.item[3, -1] + found.level),
        (3, 99, found.user[3, -1] + found.level),
        (99, 99, found.level),
    ):
        assert model.predict([u], [i])[0] == pytest.approx(expected)
    codes = np.array([0, -1], dtype=np.int32), np.array([-1, -1], dtype=np.int32)
    np.testing.assert_allclose(model.predict_codes(*codes), [found.user[0, -1] + found.level, found.level])
    monkeypatch.setattr(model_module, "CELLS", 36)
    blocks = list(model.predict_all())
    assert [rows.stop - rows.start for rows, _ in blocks] == [3] * 6 + [2]
    np.testing.assert_allclose(np.vstack([scores for _, scores in blocks]), full)
    ((_, other),) = model.predict_all(Ids.of(pl.Series([3, 99])))
    np.testing.assert_allclose(other, [full[3], found.item[:, -1] + found.level])


def test_clipped_predictions_stay_in_the_range_of_the_ratings() -> None:
    _, matrix = low_rank(20, 12, 2, 0.4, 1.0)
    model = MF(1, 0.001).fit(ratings_log(matrix))
    low, high = model.training_.low, model.training_.high
    raw, clipped = (next(model.predict_all(clip=clip))[1] for clip in (False, True))
    assert raw.max() > high and raw.min() < low
    np.testing.assert_array_equal(clipped, np.clip(raw, low, high))
    user, item = np.nonzero(np.ones_like(matrix))
    np.testing.assert_allclose(model.predict(user, item, clip=True), clipped.ravel())


def test_rows_that_training_says_nothing_of_are_counted() -> None:
    """User 4 and item 7 have no ratings; 99 is in no vocabulary."""
    _, log = some()
    asked = Log.from_frame(
        pl.DataFrame({"user": [0, 4, 99, 0], "item": [7, 0, 7, 1], "value": [1.0, 2.0, 3.0, 4.0]}), feedback="ratings"
    )
    found = MF(2).fit(log).of(asked)
    assert (found.unknown_users, found.unknown_items) == (2, 2)
    assert len(found.rows) == 4 and np.isfinite(found.rows).all()
