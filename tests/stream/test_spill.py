"""Rows that are brought together on disk come back as they were, part by part and in their order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from unskew.engine.stream.cuts import Cuts
from unskew.engine.stream.spill import Spill

whole = st.integers(-300, 70_000) | st.integers(-(2**63), 2**63 - 1)
rows = st.lists(
    st.tuples(st.integers(-9, 9) | whole, whole, st.integers(1, 2**31 - 1), st.floats(allow_nan=False), st.text()),
    min_size=1,
    max_size=60,
)
SCHEMA = {"user": pl.Int64, "item": pl.Int64, "rank": pl.Int32, "value": pl.Float64, "label": pl.String}


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 20), st.integers(1, 40), st.lists(whole, max_size=6, unique=True))
def test_the_rows_of_a_part_come_back(
    made: list[tuple[object, ...]], piece: int, chunk: int, bounds: list[int]
) -> None:
    """Numbers of any size, floats and texts, in any pieces and chunks."""
    frame = pl.DataFrame(made, schema=SCHEMA, orient="row")
    cuts = Cuts(len(bounds) + 1, np.array(sorted(bounds), dtype=np.int64) if bounds else None)
    with tempfile.TemporaryDirectory() as folder:
        spill = Spill(Path(folder), "rows", cuts, chunk)
        for start in range(0, len(frame), piece):
            spill.add(frame[start : start + piece])
        spill.write()
        of_row = cuts.of(frame["user"])
        for number in range(cuts.count):
            assert_frame_equal(spill.part(number), frame.filter(pl.Series(of_row == number)))
        spill.remove()
        assert list(Path(folder).iterdir()) == []
