"""Blocks of users: all of them once and in order, of a size that users alone decide."""

from __future__ import annotations

import pytest

from unskew.engine.walk import BLOCK, BLOCKS, LEAST, walk


@pytest.mark.parametrize("users", [1, LEAST, LEAST + 1, BLOCKS * LEAST + 3, BLOCKS * BLOCK - 1, BLOCKS * BLOCK + 1])
def test_blocks_cover_the_users_and_leave_work_for_every_thread(users: int) -> None:
    """As many blocks as there should be where users suffice, and none too large."""
    found = {threads: list(walk(users, lambda low, high: (low, high), threads)) for threads in (1, 3)}
    assert found[1] == found[3]
    lows, highs = ([bound[end] for bound in found[1]] for end in (0, 1))
    assert lows == [0, *highs[:-1]] and highs[-1] == users
    sizes = [high - low for low, high in found[1]]
    assert max(sizes) <= BLOCK and len(set(sizes[:-1])) <= 1
    assert len(sizes) >= min(BLOCKS, users // LEAST)
