"""What a rank is worth: tables over the ranks 1 … depth, nothing at rank 0 and behind the cut-off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import metrics
from unskew.kernels import hits, sums

ROWS = st.lists(
    st.tuples(st.floats(0.0, 9.0), st.sampled_from([0.0, 1.0, 2.0]), st.integers(0, 12)),
    max_size=9,
    unique_by=lambda row: row[2] or object(),
)


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_kernels_agree_with_loops(users: list[list[tuple[float, float, int]]]) -> None:
    """listed (additive and precision), ideal, largest, best and cut against their definitions, user by user."""
    rows = [row for user in users for row in user]
    indptr = np.concatenate([[0], np.cumsum([len(user) for user in users])]).astype(np.int64)
    value = np.array([row[1] for row in rows])
    weight = np.array([row[0] * row[1] for row in rows])
    rank = np.array([row[2] for row in rows], dtype=np.int32)
    table = np.stack([metrics.ranking(m).table(8) for m in ("recall@3", "dcg")], axis=1)
    cuts = np.array([2, 5], dtype=np.int64)
    out = {name: np.empty((len(users), 2)) for name in ("largest", "best")}
    cut = np.empty((len(users), 1))
    inside = np.arange(9)[:, None] <= cuts
    listed, best = np.empty((4, len(users))), np.empty((2, len(users)))
    none, plain = np.zeros((9, 2)), np.empty((0, 0))
    both = np.hstack([table, none, inside.astype(np.float64), none])
    columns = np.array([0, 1, -1, -1, 2, 3, -1, -1])
    starts, precision = np.empty(len(users) + 1, dtype=np.int64), np.empty(len(rows))
    row, place = np.empty((2, len(rows) + 1), dtype=np.int64)
    hits.sort_hits(indptr, rank, starts, row, place)
    hits.rate_hits(starts, row, place, value, 9, precision)
    hits.over_hits(starts, row, place, precision, weight, both, 4, plain, 0 * columns, columns, listed)
    out["additive"], out["precision"] = listed[:2].T, listed[2:].T
    sums.ideal(indptr, weight, table, best)
    out["ideal"] = best.T
    sums.largest(indptr, weight, cuts, out["largest"])
    sums.best(indptr, value, rank, table, out["best"])
    sums.cut(indptr, value, rank, cut)
    for u, user in enumerate(users):
        found = sorted(r for _, y, r in user if y > 0.0 and r > 0)
        ordered = sorted((w * y for w, y, _ in user), reverse=True)
        relevant = len([y for _, y, _ in user if y > 0.0])
        assert cut[u, 0] == pytest.approx(len([r for r in found if r <= relevant]) / relevant if relevant else 0.0)
        for t in range(2):

            def worth(r: int, t: int = t) -> float:
                return float(table[r, t]) if r < 9 else 0.0

            expected = {
                "additive": sum(w * y * worth(r) for w, y, r in user),
                "ideal": sum(w * worth(j) for j, w in enumerate(ordered, 1)),
                "largest": sum(ordered[: cuts[t]]),
                "precision": sum(
                    w * y * (found.index(r) + 1) / r for w, y, r in user if y > 0.0 and 0 < r <= int(cuts[t])
                ),
                "best": worth(found[0]) if found else 0.0,
            }
            for name, number in expected.items():
                assert out[name][u, t] == pytest.approx(number, rel=1e-12, abs=1e-12), name
