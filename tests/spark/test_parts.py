"""What workers of Spark do, without Spark: many worlds, any number of parts, the results of the engine in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import unskew as us
from tests.spark.parts import evaluate
from tests.spark.same import assert_same
from tests.spark.worlds import GUESSED, World, draw, guessed, rated
from unskew.engine.spark.dealing import Dealing, part_places, parts_in
from unskew.log.batches import Kind, Reading

ASKED: tuple[dict[str, Any], ...] = (
    {"metrics": ["recall@5", "ndcg@5"], "by": "group", "people": True},
    {"propensity": "popularity(gamma=1)", "estimators": ["naive", "snips", "gs(strata=3)"]},
    {"by": "popularity(strata=2)", "places": True},
    {"kind": "ratings", "relevant": ">=4", "metrics": ["map@5"], "target": ["pooled", "per_user"]},
    {"interval": "bootstrap", "replicates": 50},
    {**GUESSED, "outcome": "means(shrink=5)", "by": "group", "people": True},
    {**GUESSED, "outcome": "means(shrink=5)", "in_sample": True, "propensity": "popularity(gamma=1)"},
)


def with_strangers(world: World) -> World:
    """The same with lists of users whom no log knows."""
    models = {}
    for name, frame in world.models.items():
        user = pl.col("user") + ("x" if frame["user"].dtype == pl.String else 10_000)
        models[name] = pl.concat([frame, frame[:30].with_columns(user=user)])
    return replace(world, models=models)


@settings(max_examples=15)
@given(asked=st.sampled_from(ASKED), seed=st.integers(20, 60), text=st.booleans(), parts=st.sampled_from([1, 2, 7, 60]))
def test_parts_give_the_results_of_memory(asked: dict[str, Any], seed: int, text: bool, parts: int) -> None:
    """Estimates, intervals, verdicts, tipping points, warnings and accounts."""
    world = with_strangers(draw(seed, text=text, **asked))
    assert_same(evaluate(world, parts).to_dict(), us.evaluate(**world.given(), refused="skip").to_dict())


@pytest.mark.parametrize("parts", [1, 5])
def test_parts_of_predictions(parts: int) -> None:
    """Errors of predictions."""
    world = rated(5, metrics=["mae", "rmse"], estimators=["naive", "ips", "snips"])
    assert_same(evaluate(world, parts).to_dict(), us.evaluate(**world.given(), refused="skip").to_dict())


@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("text", [False, True])
def test_parts_of_a_table_of_guesses(parts: int, text: bool, tmp_path: Path) -> None:
    """Every part has the guesses of its users; pairs that the table lacks get the default, and are counted."""
    world = guessed(6, tmp_path / "guesses.parquet", text=text)
    expected = us.evaluate(**world.given(), refused="skip")
    assert expected.inputs["outcome"]["unknown"]
    assert {"direct", "sndr"} <= {each.estimator for each in expected.estimates}
    assert_same(evaluate(world, parts).to_dict(), expected.to_dict())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(1, 50))
def test_a_user_is_in_one_part(users: list[int], parts: int) -> None:
    """Wherever it stands; texts that are only written otherwise go to the same part."""
    column = pl.Series(users, dtype=pl.Int64)
    places = part_places(column, parts)
    assert ((places >= 0) & (places < parts)).all()
    assert (places[::-1] == part_places(column.reverse(), parts)).all()
    texts = pl.Series(["a7", "A7", "007", "7", "7.0"])
    found = part_places(texts, parts)
    assert found[0] == found[1] and len(np.unique(found[2:])) == 1


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(-9, 9), min_size=1), st.booleans(), st.integers(1, 5))
def test_packed_rows_come_back_as_they_were(ids: list[int], text: bool, parts: int) -> None:
    """Whatever the size of ids: those that fit are packed in fewer bits."""
    frame = pl.DataFrame({"user": ids, "item": range(len(ids)), "rank": pl.Series(range(len(ids)), dtype=pl.Int32)})
    frame = frame.with_columns(item=pl.col("item").cast(pl.String)) if text else frame
    cells = Dealing(0, Reading(Kind.LISTS, "lists"), {}, np.arange(parts))._packed(frame, 0, 0, b"")
    names = ("part", "source", "task", "piece", "rows", "facts")
    rows = [dict(zip(names, cell, strict=True)) for cell in cells if cell[4] is not None]
    found = pl.concat(part.frames[0] for part in parts_in([SimpleNamespace(to_pylist=lambda: rows)]))
    assert_frame_equal(found.sort("item"), frame.sort("item"))
