"""Top-k selection against sorted()."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.mixing import mix
from unskew.kernels.topk import SEED, top_k, top_k_shared

MASK = (1 << 64) - 1


def reference(scores: list[float], k: int, user: int, items: list[int], out: set[int]) -> tuple[list[int], bool]:
    """The list of one user and whether its cut-off is tied, by sorting all candidates."""
    candidates = [i for i in range(len(scores)) if i not in out]
    candidates.sort(key=lambda i: (-scores[i], mix(mix(user ^ mix(0)) ^ items[i])))
    tied = len(candidates) > k and scores[candidates[k - 1]] == scores[candidates[k]]
    return candidates[:k] + [-1] * (k - len(candidates)), tied


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    """Some users and items with few distinct scores (many ties), and exclusions."""
    users, items = draw(st.integers(1, 4)), draw(st.integers(0, 14))
    score = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 1.0, np.inf])
    hashes = st.integers(0, MASK)
    return {
        "scores": [draw(st.lists(score, min_size=items, max_size=items)) for _ in range(users)],
        "k": draw(st.integers(1, 16)),
        "users": draw(st.lists(hashes, min_size=users, max_size=users)),
        "items": draw(st.lists(hashes, min_size=items, max_size=items, unique=True)),
        "out": [draw(st.sets(st.integers(0, items - 1))) if items else set() for _ in range(users)],
    }


def arrays(p: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of the kernels after the scores."""
    indptr = np.concatenate([[0], np.cumsum([len(o) for o in p["out"]])]).astype(np.int64)
    excluded = np.array([i for o in p["out"] for i in sorted(o)], dtype=np.int32)
    users, items = np.array(p["users"], dtype=np.uint64), np.array(p["items"], dtype=np.uint64)
    return p["k"], users, items, SEED, indptr, excluded, np.empty((len(users), p["k"]), dtype=np.int32)


@settings(deadline=None)
@given(p=problems())
def test_top_k_is_sorting_by_score_and_hash(p: dict[str, Any]) -> None:
    """The list and the tie at its end are those of sorted() by (−score, hash) over the items not excluded."""
    *rest, out = arrays(p)
    scores = np.array(p["scores"], dtype=np.float64).reshape(len(p["users"]), len(p["items"]))
    tied = top_k(scores, *rest, out)
    for u, row in enumerate(p["scores"]):
        assert (out[u].tolist(), bool(tied[u])) == reference(row, p["k"], p["users"][u], p["items"], p["out"][u])


@settings(deadline=None)
@given(p=problems())
def test_shared_scores_give_the_lists_of_equal_rows(p: dict[str, Any]) -> None:
    """One row of scores for everybody gives what the same row repeated for each user gives."""
    *rest, out = arrays(p)
    shared = np.array(p["scores"][0], dtype=np.float64)
    tied = top_k_shared(shared, np.argsort(-shared, kind="stable"), *rest, out)
    for u in range(len(p["users"])):
        assert (out[u].tolist(), bool(tied[u])) == reference(
            p["scores"][0], p["k"], p["users"][u], p["items"], p["out"][u]
        )


def test_many_items_with_few_scores_and_exclusions() -> None:
    """Stretches of items that do not reach the list are passed over together: nothing in them is missed."""
    rng = np.random.default_rng(2)
    for items, k in ((31, 3), (32, 3), (200, 5), (333, 40)):
        scores = rng.integers(0, 4, (6, items)) * (rng.random((6, items)) < 0.3) + 0.0
        p = {
            "k": k,
            "users": rng.integers(0, MASK, 6, dtype=np.uint64).tolist(),
            "items": rng.integers(0, MASK, items, dtype=np.uint64).tolist(),
            "out": [set(np.flatnonzero(rng.random(items) < share).tolist()) for share in (0, 0.01, 0.1, 0.5, 0.9, 1)],
        }
        *rest, out = arrays(p)
        tied = top_k(scores, *rest, out)
        for u, row in enumerate(scores.tolist()):
            assert (out[u].tolist(), bool(tied[u])) == reference(row, k, p["users"][u], p["items"], p["out"][u])


def test_large_heaps_are_sorted_too() -> None:
    """With many items, continuous scores and a long list the order is that of argsort."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((3, 5000))
    out = np.empty((3, 700), dtype=np.int32)
    hashes = rng.integers(0, MASK, 5000, dtype=np.uint64)
    tied = top_k(scores, 700, hashes[:3], hashes, SEED, np.zeros(4, np.int64), np.empty(0, np.int32), out)
    np.testing.assert_array_equal(out, np.argsort(-scores, axis=1)[:, :700])
    assert not tied.any()
