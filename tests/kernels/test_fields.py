"""Records of a text file and their fields, against the csv module of Python."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.kernels import fields

CELLS = st.text(st.sampled_from('ab ,\t"\r\n;é'), max_size=12)


def scan(data: bytes, count: int, sizes: list[int]) -> tuple[int, dict[str, int]]:
    """Blocks of the given sizes, then the rest."""
    state = np.zeros(fields.STATE, dtype=np.int64)
    found, start = fields.FINE, 0
    for size in [*sizes, len(data)]:
        block = np.frombuffer(data[start : start + size], dtype=np.uint8)
        start += size
        found = fields.scan(block, block[: len(block) // 8 * 8].view(np.uint64), ord(","), count, state)
        if found != fields.FINE:
            break
    return found, {"records": int(state[fields.RECORDS]), "line": int(state[fields.FIRST_LINE]) + 1}


@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=12),
    count=st.integers(2, 4),
    end=st.sampled_from(["\n", "\r\n"]),
    sizes=st.lists(st.integers(1, 40), max_size=8),
)
def test_the_first_wrong_record_is_found_in_blocks_of_any_size(
    rows: list[list[str]], count: int, end: str, sizes: list[int]
) -> None:
    """Whatever is written as CSV has its fields again, and the first row of another length is told by its line."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end)
    starts = []
    for row in rows:
        starts.append(text.getvalue().count("\n") + 1)
        writer.writerow(row)
    found, at = scan(text.getvalue().encode(), count, sizes)
    wrong = [place for place, row in enumerate(rows) if len(row) != count]
    if wrong:
        assert (found, at["records"], at["line"]) == (fields.COUNT, wrong[0], starts[wrong[0]])
    else:
        assert (found, at["records"]) == (fields.FINE, len(rows))


@pytest.mark.parametrize("before", range(10))
def test_what_follows_a_closing_quote(before: int) -> None:
    """At every place of a word: only a separator, a line end or another quote may follow."""
    start = "x" * before + ","
    assert scan(f'{start}"a"b\n'.encode(), 2, [])[0] == fields.AFTER_QUOTE
    assert scan(f'{start}"a""b"\r\n{start}"a"\n\r\n\n'.encode(), 2, [])[0] == fields.FINE
