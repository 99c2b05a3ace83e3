"""Every engine gives what the engine in memory gives, however rows are laid out and divided."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.golden.worlds import table
from tests.spark import parts
from tests.stream.files import CALLS, Layout, ask, assert_same, laid_out, made, sized
from unskew.core.errors import RefusedError
from unskew.engine.stream.spill import Spill

WHOLE_LOG = {
    "implicit: interval, refit", "implicit: rows, per user", "implicit: rows, per user of a ratio",
    "conversions: outcome, logistic_mf", "conversions: outcome, adam_mf", "conversions: outcome, census",
    "conversions: propensity, logistic_mf",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("engine", ["stream", "parts"])
def test_every_engine_gives_the_same_result(engine: str, name: str, tmp_path: Path) -> None:
    """Estimates, intervals, verdicts, tipping points, weights, scenarios, warnings and accounts, to 1e-9.

    ``parts`` is what workers of Spark do, in this process.
    """
    frames, files = laid_out(CALLS[name], Layout(files=2), tmp_path)
    try:
        with sized(Layout(files=2)):
            found = us.evaluate(**files, engine="stream") if engine == "stream" else parts.evaluate(5, **frames)
    except RefusedError as refused:
        assert refused.code == "needs-whole-log" and name in WHOLE_LOG
        return
    assert name not in WHOLE_LOG
    assert_same(found, us.evaluate(**frames))


layouts = st.builds(
    Layout,
    files=st.integers(1, 3),
    order=st.sampled_from(["shuffled", "sorted", "as made"]),
    ids=st.sampled_from(["int", "text", "mixed"]),
    parts=st.integers(1, 9),
    chunk=st.integers(1, 2000),
    piece=st.integers(50, 3000),
    seed=st.integers(0, 9),
)
LAID_OUT = ("likes", "strangers", "repeated", "folds of guesses", "unasked guesses", "guesses for all",
            "guesses by default", "conversions: outcome, means", "conversions: outcome, in sample")  # fmt: skip


@settings(max_examples=12)
@given(name=st.sampled_from(LAID_OUT), layout=layouts)
def test_no_layout_changes_the_result(name: str, layout: Layout) -> None:
    """Any number of files and parts, any order of rows, any kind of ids, any sizes of batches."""
    with tempfile.TemporaryDirectory() as folder:
        frames, files = laid_out(CALLS[name], layout, Path(folder))
        expected = us.evaluate(**frames)
        with sized(layout):
            assert_same(us.evaluate(**files, engine="stream"), expected)
        assert_same(parts.evaluate(layout.parts, **frames), expected)


@pytest.mark.parametrize("ids", ["int", "text"])
def test_lists_of_unknown_users_that_fill_a_part_are_counted(ids: str, tmp_path: Path) -> None:
    """With many parts, some hold nobody but users whom no log knows."""
    assert_same(*ask("strangers", Layout(parts=60, ids=ids), tmp_path)[::-1])


@pytest.mark.parametrize(("ids", "spilled"), [("int", False), ("text", False), ("mixed", True)])
def test_sorted_files_are_read_in_slices(ids: str, spilled: bool, tmp_path: Path) -> None:
    """Texts too, unless some are written in several ways ('05', '5'): such users must come together."""
    with patch.object(Spill, "write", autospec=True, side_effect=Spill.write) as write:
        assert_same(*ask("likes", Layout(ids=ids, order="sorted", files=2, parts=4), tmp_path)[::-1])
    assert write.called is spilled


def written(tmp_path: Path, tables: dict[str, pl.DataFrame]) -> dict[str, Path]:
    """Tables as files of their names."""
    for name, rows in tables.items():
        rows.write_parquet(tmp_path / f"{name}.parquet")
    return {name: tmp_path / f"{name}.parquet" for name in tables}


def test_values_in_the_names_of_folders_are_columns(tmp_path: Path) -> None:
    """As Spark writes them, for strata and segments; what nobody asks for by name stays unread."""
    frames, _ = laid_out(CALLS["strata"], Layout(), tmp_path / "laid out")
    for name in ("test", "train"):
        rows = made("shelves" if name == "test" else "shelves_train").with_columns(time=pl.lit("1999-01-01"))
        for labels, some in rows.group_by(folders := ["shelf", "policy", "time"], maintain_order=True):
            folder = tmp_path.joinpath(name, *(f"{key}={label}" for key, label in zip(folders, labels, strict=True)))
            folder.mkdir(parents=True)
            some.drop(folders).write_parquet(folder / "0.parquet")
    files = {
        "models": written(tmp_path, frames["models"]),
        "users": written(tmp_path, {"users": frames["users"]})["users"],
    }
    with sized(Layout()):
        found = us.evaluate(**frames | files | {name: tmp_path / name for name in ("test", "train")}, engine="stream")
    assert {e.segment for e in found.estimates} == {None, "policy=0", "policy=1"}
    assert_same(found, us.evaluate(**frames))


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String])
def test_files_of_which_some_have_places(kind: type[pl.DataType], tmp_path: Path) -> None:
    """A shop that begins to write them down, in whatever type: no file is refused, and memory says the same."""
    likes = table("shop.bare")
    (tmp_path / "log").mkdir()
    half = len(likes) // 2
    slot = (pl.col("user") % 3).cast(kind)
    written(tmp_path / "log", {"0": likes[:half], "1": likes[half:].with_columns(slot=slot)})
    call: dict[str, Any] = {"test": tmp_path / "log", "models": written(tmp_path, {"a": table("shop.tastes")})}
    expected = us.evaluate(**call, engine="memory")
    with sized(Layout()):
        found = us.evaluate(**call, engine="stream")
    assert expected.inputs["test"]["columns"]["position"] == "slot"
    assert_same(found, expected)
