"""Folds of pairs against the hash written down with Python integers, and pairs put together fold by fold."""

from __future__ import annotations

import numpy as np

from tests.kernels.mixing import WORD, mix
from unskew.kernels.folds import by_fold, fold_pairs


def test_the_fold_is_a_hash_of_user_and_item() -> None:
    """In any order of the pairs; what counts are the ids' hashes, not the codes."""
    rng = np.random.default_rng(0)
    users, items = (rng.integers(0, WORD, many, dtype=np.uint64) for many in (30, 20))
    seed = 0xABCDEF0123456789
    for ascending in (True, False):
        user, item = (rng.integers(0, many, 500).astype(np.int32) for many in (30, 20))
        user = np.sort(user) if ascending else user
        fold, count = np.empty(500, dtype=np.int64), np.ones(7, dtype=np.int64)
        fold_pairs(np.uint64(seed), users, items, user, item, fold, count)
        expected = [
            int((mix(mix(int(users[u]) ^ seed) ^ int(items[i])) >> 11) / 2**53 * 7)
            for u, i in zip(user, item, strict=True)
        ]
        assert fold.tolist() == expected
        assert count.tolist() == [1 + expected.count(k) for k in range(7)]


def test_pairs_stand_fold_by_fold_in_their_order() -> None:
    """A stable sort by fold; a fold may be empty."""
    rng = np.random.default_rng(1)
    fold = rng.choice([0, 1, 3], 200).astype(np.int64)
    user, item = (rng.integers(0, 50, 200).astype(np.int32) for _ in range(2))
    count = np.bincount(fold, minlength=4)
    order, users, items = np.empty(200, dtype=np.int64), np.empty_like(user), np.empty_like(item)
    by_fold(fold, user, item, np.cumsum(count) - count, order, users, items)
    expected = np.argsort(fold, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(users, user[expected])
    np.testing.assert_array_equal(items, item[expected])
