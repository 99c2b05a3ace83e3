"""How Spark deals rows out, without Spark: users stay together, and packed rows come back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from unskew.engine.spark.dealing import Dealing, part_places, parts_in
from unskew.log.batches import Kind, Reading


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(1, 50))
def test_a_user_is_in_one_part(users: list[int], parts: int) -> None:
    """Wherever it stands; texts that are only written otherwise go to the same part."""
    column = pl.Series(users, dtype=pl.Int64)
    places = part_places(column, parts)
    assert ((places >= 0) & (places < parts)).all()
    assert (places[::-1] == part_places(column.reverse(), parts)).all()
    found = part_places(pl.Series(["a7", "A7", "007", "7", "7.0"]), parts)
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
