"""Ranks of held-out items, against a look into each list."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.kernels.ranks import BITS, find_listed, find_ranks
from unskew.log.order import starts_of

ITEMS = 2 * BITS + 3  # several items share their last bits


@settings(deadline=None)
@given(data=st.data(), users=st.integers(1, 4), closed=st.booleans(), many=st.booleans())
def test_ranks_are_those_in_the_lists(data: st.DataObject, users: int, closed: bool, many: bool) -> None:
    """Lists from rank 1 on and lists with gaps, users with few and with many held-out items, items without a code.

    Hits come user by user, the best first.
    """
    near = st.sampled_from([0, 1, BITS, BITS + 1, 2 * BITS])
    items = st.lists(near | st.integers(0, ITEMS - 1), unique=True, max_size=8)
    held, lists, ranks = [], [], []
    for _ in range(users):
        own = data.draw(items)
        if many:
            own = sorted({*own, *range(7, 2 * BITS, 61)})
        listed = [*data.draw(items), *data.draw(st.permutations(own))[: data.draw(st.integers(0, 5))]]
        listed = list(dict.fromkeys(listed)) + [-1] * data.draw(st.integers(0, 2))
        gaps = [1] * len(listed) if closed else data.draw(st.lists(st.integers(1, 3), min_size=16 + 2, max_size=16 + 2))
        held.append(sorted(own))
        lists.append(listed)
        ranks.append(np.cumsum(gaps[: len(listed)], dtype=np.int32))
    low = data.draw(st.integers(0, users - 1))
    high = data.draw(st.integers(low + 1, users))
    wanted = [
        dict(zip(lists[u], ranks[u].tolist(), strict=True)).get(item, 0) for u in range(low, high) for item in held[u]
    ]
    out = np.full(len(wanted), -7, dtype=np.int32)
    indptr, list_indptr = (starts_of(np.array([len(one) for one in each])) for each in (held, lists))
    item, list_item = (np.array([i for one in each for i in one], dtype=np.int32) for each in (held, lists))
    given = indptr, item, list_indptr, list_item, np.concatenate(ranks), low, high
    find_ranks(*given, out)
    assert out.tolist() == wanted
    found, starts = np.full(len(wanted), -7, dtype=np.int32), np.empty(high - low + 1, dtype=np.int64)
    row, place = np.empty((2, len(wanted)), dtype=np.int64)
    find_listed(*given, found, starts, row, place)
    assert found.tolist() == wanted
    for u in range(low, high):
        rows = range(indptr[u] - indptr[low], indptr[u + 1] - indptr[low])
        hits = slice(starts[u - low], starts[u - low + 1])
        expected = sorted((wanted[r], r) for r in rows if wanted[r])
        assert list(zip(place[hits].tolist(), row[hits].tolist(), strict=True)) == expected
