"""The order of rows by two codes, against sorted()."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.kernels.radix import order_by
from unskew.log import order
from unskew.log.order import group, group_keys

FIRSTS, SECONDS = (1, 3, 2**16 + 1, 2**20), (1, 5, 2**31)  # one pass of digits, two, three and four


@settings(deadline=None)
@given(data=st.data(), firsts=st.sampled_from(FIRSTS), seconds=st.sampled_from(SECONDS))
def test_the_order_is_by_both_codes_and_row(data: st.DataObject, firsts: int, seconds: int) -> None:
    """The smallest and the largest codes are among those drawn, and many are equal."""
    first, second = (st.sampled_from([0, n // 2, n - 1]) | st.integers(0, n - 1) for n in (firsts, seconds))
    rows = data.draw(st.lists(st.tuples(first, second), max_size=40))
    ones, others = (np.array([row[n] for row in rows], dtype=np.int32) for n in (0, 1))
    wanted = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    ordered = np.empty_like(others)
    assert order_by(ones, others, firsts, seconds, ordered).tolist() == wanted
    assert ordered.tolist() == [rows[row][1] for row in wanted]
    assert order_by(ones, others, firsts, seconds).tolist() == wanted


@pytest.mark.parametrize("room", [True, False])
def test_many_rows_are_grouped_like_few(monkeypatch: pytest.MonkeyPatch, room: bool) -> None:
    """By words where they have room, else by counting, the order of the rows is the same."""
    rng = np.random.default_rng(0)
    user, key = rng.integers(0, 50, 1_000).astype(np.int32), rng.integers(0, 7, 1_000).astype(np.int32)
    few = group(user, key, 50, 7)
    monkeypatch.setattr(order, "MANY", 1)
    monkeypatch.setattr(order, "fits", lambda *_: room)
    assert few[1] is not None
    for many in (group(user, key, 50, 7), group_keys(user, key, 50, 7)):
        for one, other in zip((*few, key[few[1]]), many, strict=False):
            np.testing.assert_array_equal(one, other)
