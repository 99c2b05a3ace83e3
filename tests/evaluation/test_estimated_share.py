"""The share of popularity that comes from exposure, estimated where a random sample tells it, and deciding nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.worlds import listed, pairs_of
from unskew import evaluate, propensity
from unskew.core.notice import codes
from unskew.log import Log
from unskew.propensity import FitInputs
from unskew.propensity.popularity import Popularity
from unskew.result import Result

USERS, ITEMS = 600, 80


def world(seed: int = 0) -> dict[str, pl.DataFrame]:
    """Clicks on items that are shown unevenly and liked unevenly, and a few answers on pairs drawn at random."""
    rng = np.random.default_rng(seed)
    shown = np.clip(rng.lognormal(-2.2, 0.9, ITEMS), 0.01, 0.9)
    liked = np.clip(0.3 * np.exp(0.4 * rng.standard_normal(ITEMS)), 0.02, 0.9)
    clicks = (rng.random((2, USERS, ITEMS)) < shown) & (rng.random((USERS, ITEMS)) < liked)[None]
    asked = rng.random((USERS, ITEMS)) < 0.2
    answered = asked & (rng.random((USERS, ITEMS)) < liked)
    order = np.argsort(-clicks[0].sum(axis=0))
    return {
        "train": pairs_of(clicks[0]),
        "test": pairs_of(clicks[1] & ~clicks[0]),
        "mcar": pairs_of(asked).with_columns(value=pl.Series(answered[asked].astype(float))),
        "popular": listed(order[:10], USERS),
        "liked": listed(np.argsort(-liked)[:10], USERS),
    }


def asked(frames: dict[str, pl.DataFrame], **options: Any) -> Result:
    models = {name: frames[name] for name in ("popular", "liked")}
    return evaluate(frames["test"], models, train=frames["train"], **options)


@pytest.fixture(scope="module")
def frames() -> dict[str, pl.DataFrame]:
    return world()


def test_a_random_sample_marks_a_point_of_the_path(frames: dict[str, pl.DataFrame]) -> None:
    """The exponent of popularity(gamma=estimate) on the same logs, and not one verdict moves."""
    bare, marked = asked(frames), asked(frames, mcar=frames["mcar"].filter(pl.col("value") == 1.0).drop("value"))
    assert [table.estimated for table in bare.scenarios] == [None]
    (table,) = marked.scenarios
    model = propensity.make("popularity(gamma=estimate)")
    train = Log.from_frame(frames["train"])
    random = Log.from_frame(frames["mcar"].filter(pl.col("value") == 1.0).drop("value"))
    fitted = model.fit(train, inputs=FitInputs(mcar=random))
    assert isinstance(fitted, Popularity) and fitted.slope is not None
    assert table.estimated == pytest.approx(fitted.slope.value, abs=1e-12)
    assert marked.verdicts_ == bare.verdicts_ and replace(table, estimated=None) == bare.scenarios[0]
    assert "scenario-of-sample" in codes(marked.headline()["trust"])


def test_too_small_a_sample_marks_nothing(frames: dict[str, pl.DataFrame]) -> None:
    few = frames["mcar"].filter(pl.col("value") == 1.0).drop("value").head(3)
    assert asked(frames, mcar=few).scenarios[0].estimated is None
