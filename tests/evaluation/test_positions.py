"""Where items were shown at several places of the page, every verdict says what it takes for granted of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import unskew as us
from tests.cross_validation import logs
from tests.evaluation.shop import said
from tests.said import only
from tests.worlds import listed, pairs_of
from unskew.core.notice import codes
from unskew.judging.claims import LOOKED_AT_ALIKE
from unskew.result import Result

USERS, ITEMS, K = 1500, 40, 5
CONDITION = f", if {LOOKED_AT_ALIKE}:"


@cache
def shop() -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Pages in the order of an old score, looked at with chance 1/k at place k; all items are liked alike.

    P(on the page) is logged as it was. The lists of both models are worth the same.
    """
    rng = np.random.default_rng(0)
    chance = np.where(np.arange(ITEMS) % 2 == 0, 0.2, 0.35)
    shown = rng.random((USERS, ITEMS)) < chance
    place = np.cumsum(shown, axis=1)
    clicked = rng.random(shown.shape) < 0.4 / place.clip(1)
    models = {name: listed(np.arange(first, first + K), USERS) for name, first in (("old", 0), ("new", ITEMS // 2))}
    return pairs_of(shown, value=clicked, position=place, propensity=chance), models


def asked(test: pl.DataFrame, **options: Any) -> Result:
    usual: dict[str, Any] = {"feedback": "conversions", "metrics": ["dcg@5"], "target": "pooled"}
    return us.evaluate(test, shop()[1], **(usual | options))


def places(result: Result) -> list[str]:
    return said(result, "looked-at-alike")


def test_exact_propensities_of_being_on_the_page_name_the_wrong_winner() -> None:
    """Without places nobody can know; with them no verdict is sure, and the condition stands in its sentence."""
    log, _ = shop()
    (blind,) = [v for v in asked(log.drop("position")).verdicts_ if v.estimator == "snips"]
    assert (blind.verdict, blind.assumption) == ("better", "")  # and neither model is
    result = asked(log)
    (found,) = [v for v in result.verdicts_ if v.estimator == "snips"]
    assert (found.verdict, found.assumption) == ("ahead", LOOKED_AT_ALIKE)
    told = result.to_dict()
    assert CONDITION in told["headline"]["sentences"][0] and "better" not in told["headline"]["title"]
    assert {e.assumption for e in result.estimates if e.estimator == "snips"} == {LOOKED_AT_ALIKE}
    assert (
        len(places(result)) == 1 and "'position'" in places(result)[0] and LOOKED_AT_ALIKE in str(result.to_markdown())
    )


@pytest.mark.parametrize("name", ["rank", "slot", "place"])
def test_no_number_changes(name: str) -> None:
    """Only words do, whatever the column is called."""
    log, _ = shop()
    options: dict[str, Any] = {"estimators": ["naive", "snips", "ips", "dr"], "outcome": "means(shrink=5)"}
    options |= {"target": ["pooled", "per_user_sum"], "refused": "skip"}
    bare = asked(log.drop("position"), **options)
    found = asked(log.rename({"position": name}), **options)
    words = ["verdict", "assumption", "codes"]
    assert_frame_equal(found.verdicts().drop(words), bare.verdicts().drop(words))
    assert_frame_equal(found.table().drop(words[1:]), bare.table().drop(words[1:]))
    assert all(v.assumption.endswith(LOOKED_AT_ALIKE) for v in found.verdicts_)
    assert not {"better", "worse"} & {v.verdict for v in found.verdicts_}
    assert "better" in {v.verdict for v in bare.verdicts_}
    assert f"'{name}'" in places(found)[0] and found.inputs["test"]["columns"] == {"position": name}


@pytest.mark.parametrize(
    "place",
    [pl.lit(3), pl.when(pl.col("item") % 2 == 0).then(1), pl.lit("home"), pl.lit(None, pl.Int64)],
    ids=["one place", "one place where any is known", "no place at all", "empty"],
)
def test_nothing_is_said_of_one_place(place: pl.Expr) -> None:
    log, _ = shop()
    found, bare = asked(log.with_columns(position=place)), asked(log.drop("position"))
    assert found.verdicts_ == bare.verdicts_ and found.estimates == bare.estimates
    assert found.warnings == bare.warnings


def test_a_column_of_which_some_rows_are_no_places_is_named() -> None:
    """It is not used, and no verdict is sure all the same; who says that it is something else has one."""
    log, _ = shop()
    for unknown in ("top", "-1"):
        position = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(unknown)).otherwise(pl.col("position"))
        given = log.with_columns(position=position.cast(pl.String))
        found, bare = asked(given), asked(given, columns={"position": ""})
        only("some-places", found.warnings, column="position")
        (verdict,) = [v for v in found.verdicts_ if v.estimator == "snips"]
        assert (verdict.verdict, verdict.assumption) == ("ahead", LOOKED_AT_ALIKE)
        assert bare.verdicts_ == asked(log.drop("position")).verdicts_


def test_folds_say_so_too() -> None:
    """Averages over folds, of which some may show one place only."""
    log = logs.frame().with_columns(slot=1 + pl.col("item") % 3)
    how: dict[str, Any] = {"split": "k_fold(folds=3)", "metrics": ["recall@5"], "target": "pooled"}
    how |= {"propensity": "popularity(gamma=1)", "estimators": ["naive", "snips"]}
    found, bare = (us.cross_validate(each, logs.MODELS[:2], **how) for each in (log, log.drop("slot")))
    assert {
        v.assumption.endswith(f", and {LOOKED_AT_ALIKE}") for v in (*found.macro.verdicts_, *found.pooled.verdicts_)
    } == {True}
    assert not any(LOOKED_AT_ALIKE in v.assumption for v in bare.macro.verdicts_)
    assert_frame_equal(found.table(), bare.table())
    assert "looked-at-alike" in codes(found.macro.warnings)
