"""Rows grouped by user and sorted by a key, however they lie."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.said import refuses
from unskew.kernels.coding import SHORT
from unskew.log.order import counts_of, group, group_entries

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=12)


@settings(deadline=None)
@given(rows=rows, users=st.permutations(range(5)), how=st.sampled_from(["as drawn", "grouped", "sorted"]))
def test_the_order_is_by_user_key_and_row(rows: list[tuple[int, int]], users: list[int], how: str) -> None:
    """What ``sorted`` gives, in whichever order the rows come."""
    if how != "as drawn":
        rows = sorted(rows, key=lambda row: (users.index(row[0]) if how == "grouped" else row[0], row[1]))
    user, key = (np.array([row[n] for row in rows], dtype=np.int32) for n in (0, 1))
    indptr, order = group(user, key, 5, 4)
    wanted = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert (list(range(len(rows))) if order is None else order.tolist()) == wanted
    assert np.diff(indptr).tolist() == [sum(row[0] == u for row in rows) for u in range(5)]


@settings(deadline=None)
@given(rows=rows, shuffled=st.randoms(use_true_random=False), how=st.sampled_from(["as drawn", "1, 2, 3", "long"]))
def test_entries_are_by_user_rank_and_row(rows: list[tuple[int, int]], shuffled: Random, how: str) -> None:
    """Ranks with gaps and repeats, ranks that say where an entry belongs, and lists that are too long to be moved."""
    drawn = [(user, rank + 1) for user, rank in rows]
    if how == "1, 2, 3":
        drawn = [(user, 1 + sum(other == user for other, _ in rows[:n])) for n, (user, _) in enumerate(rows)]
        shuffled.shuffle(drawn)
    if how == "long":
        drawn += [(1, shuffled.randint(1, 90)) for _ in range(SHORT + 9)]
    user, rank = (np.array([row[n] for row in drawn], dtype=np.int32) for n in (0, 1))
    item = np.arange(len(drawn), dtype=np.int32)
    indptr, items, ranks = group_entries(user, item, rank, 5)
    wanted = sorted(range(len(drawn)), key=lambda row: (*drawn[row], row))
    assert items.tolist() == wanted
    assert ranks.tolist() == [drawn[row][1] for row in wanted]
    assert np.diff(indptr).tolist() == [sum(row[0] == u for row in drawn) for u in range(5)]


@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1])
def test_codes_are_counted_and_others_refused(wrong: int) -> None:
    """Compiled code would write beside the counts."""
    codes = np.array([0, 2, 2, 1, 2], dtype=np.int32)
    assert counts_of(codes, 3).tolist() == [1, 1, 3]
    codes[3] = wrong
    with refuses("changed-rows"):
        counts_of(codes, 3)
