"""A stream of files gives what the engine in memory gives, however rows are laid out and divided."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.stream.files import ASKED, Layout, ask, assert_same, inputs, sized
from unskew.engine.stream.cuts import Cuts
from unskew.engine.stream.spill import Spill


@pytest.mark.parametrize("name", ASKED)
def test_a_stream_gives_the_same_result(name: str, tmp_path: Path) -> None:
    """Estimates, intervals, verdicts, tipping points, weights, warnings and account, to 1e-9."""
    found = ask(name, Layout(files=2), tmp_path)
    assert_same(found[1], found[0])


def test_a_stream_sees_that_time_divided_the_files(tmp_path: Path) -> None:
    """By the times of all parts together."""
    for result in ask("afterwards", Layout(parts=4), tmp_path):
        assert not any("if it was made at random" in warning for warning in result.warnings)
        assert not any("unless time split the log" in v.assumption for v in result.verdicts_)
    for result in ask("timed", Layout(parts=4), tmp_path / "overlapping"):
        assert any("unless time split the log" in v.assumption for v in result.verdicts_)


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


@settings(max_examples=8, deadline=None)
@given(name=st.sampled_from(["clicks", "unseen", "strangers", "repeated", "sums"]), layout=layouts)
def test_no_layout_changes_the_result(name: str, layout: Layout) -> None:
    """Any number of files and parts, any order of rows, any kind of ids, any sizes of batches."""
    with tempfile.TemporaryDirectory() as folder:
        found = ask(name, layout, Path(folder))
        assert_same(found[1], found[0])


@settings(max_examples=8, deadline=None)
@given(name=st.sampled_from(["means", "folds", "in_sample", "unasked", "guessed", "defaults"]), layout=layouts)
def test_no_layout_changes_what_outcome_models_say(name: str, layout: Layout) -> None:
    """Fitted to sums of all parts, or a table that is divided like the logs."""
    with tempfile.TemporaryDirectory() as folder:
        found = ask(name, layout, Path(folder))
        assert_same(found[1], found[0])


@pytest.mark.parametrize("ids", ["int", "text"])
def test_lists_of_unknown_users_that_fill_a_part_are_counted(ids: str, tmp_path: Path) -> None:
    """With many parts, some hold nobody but users whom no log knows."""
    found = ask("strangers", Layout(parts=60, ids=ids), tmp_path)
    assert_same(found[1], found[0])


@pytest.mark.parametrize(("ids", "spilled"), [("int", False), ("text", False), ("mixed", True)])
def test_sorted_files_are_read_in_slices(ids: str, spilled: bool, tmp_path: Path) -> None:
    """Texts too, unless some are written in several ways ('05', '5'): such users must come together."""
    with patch.object(Spill, "write", autospec=True, side_effect=Spill.write) as write:
        found = ask("clicks", Layout(ids=ids, order="sorted", files=2, parts=4), tmp_path)
    assert write.called is spilled
    assert_same(found[1], found[0])


@given(
    st.lists(st.integers(-50, 50) | st.integers(-(2**62), 2**62), min_size=1, max_size=9, unique=True),
    st.lists(st.integers(-60, 60) | st.integers(-(2**63), 2**63 - 1), min_size=1),
)
def test_the_part_of_a_number_is_between_its_bounds(bounds: list[int], users: list[int]) -> None:
    """Close bounds are looked up in a table, others searched for."""
    cuts = Cuts(len(bounds) + 1, np.array(sorted(bounds)))
    found = cuts.of(pl.Series(users, dtype=pl.Int64))
    assert found.tolist() == [sum(bound <= user for bound in bounds) for user in users]


def test_values_in_the_names_of_folders_are_columns(tmp_path: Path) -> None:
    """As Spark writes them, for strata and segments; what nobody asks for by name stays unread."""
    tables, asked = inputs(), dict(ASKED["strata"])
    for name in ("conversions", "seen"):
        table = tables[name].with_columns(time=pl.lit("1999-01-01"))  # no time of the log unless it is named
        folders = [column for column in ("shelf", "policy", "time") if column in table.columns]
        for labels, rows in table.group_by(folders, maintain_order=True):
            folder = tmp_path.joinpath(name, *(f"{key}={label}" for key, label in zip(folders, labels, strict=True)))
            folder.mkdir(parents=True)
            rows.drop(folders).write_parquet(folder / "0.parquet")
    for name, table in tables["lists"].items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    files = {name: tmp_path / f"{name}.parquet" for name in tables["lists"]}
    options = {key: value for key, value in asked.items() if key not in ("test", "models", "train")}
    expected = us.evaluate(tables["conversions"], tables["lists"], train=tables["seen"], **options)
    with sized(Layout()):
        found = us.evaluate(tmp_path / "conversions", files, train=tmp_path / "seen", **options)
    assert {e.segment for e in found.estimates} == {None, "policy=new", "policy=old"}
    assert_same(found, expected)


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String])
def test_files_of_which_some_have_places(kind: type[pl.DataType], tmp_path: Path) -> None:
    """A shop that begins to write them down, in whatever type: no file is refused, and memory says the same."""
    tables = inputs()
    clicks, half = tables["clicks"], len(tables["clicks"]) // 2
    (tmp_path / "log").mkdir()
    clicks[:half].write_parquet(tmp_path / "log" / "0.parquet")
    clicks[half:].with_columns(slot=(pl.col("item") % 3).cast(kind)).write_parquet(tmp_path / "log" / "1.parquet")
    for name, table in tables["lists"].items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    files = {name: tmp_path / f"{name}.parquet" for name in tables["lists"]}
    expected = us.evaluate(tmp_path / "log", files, engine="memory")
    with sized(Layout()):
        found = us.evaluate(tmp_path / "log", files, engine="stream")
    assert any("several places of the page" in text for text in expected.warnings)
    assert expected.inputs["test"]["columns"]["position"] == "slot"
    assert_same(found, expected)
