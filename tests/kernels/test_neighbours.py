"""Nearest rows against a dense matrix of all cosines, by either way of counting, for any division of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from unskew.kernels import neighbours
from unskew.kernels.hashing import mix
from unskew.kernels.topk import SEED


@pytest.mark.parametrize(
    ("rows", "columns", "density"), [(60, 200, 0.2), (300, 40, 0.01), (80, 30, 0.03), (1500, 900, 0.001)]
)
@pytest.mark.parametrize("shrink", [0.0, 1.5])
@pytest.mark.parametrize("k", [1, 7, 400])
@pytest.mark.parametrize("largest", [1, 3])
def test_nearest_rows(rows: int, columns: int, density: float, shrink: float, k: int, largest: int) -> None:
    """Many common columns are counted in place, few are listed; some rows are empty, and many are equally alike.

    The same with weights from 1 to 3.
    """
    rng = np.random.default_rng(0)
    seen = (rng.random((rows, columns)) < density) * rng.integers(1, largest + 1, (rows, columns))
    seen[3] = 0
    forth, back = sparse.csr_array(seen), sparse.csr_array(seen.T)
    cost = (seen > 0) @ (seen > 0).sum(axis=0)
    assert (neighbours.FEW * cost < rows).any() and (
        (neighbours.FEW * cost >= rows).any() or density < 0.2
    )  # both ways are taken
    hashes = rng.integers(0, 2**63, rows).astype(np.uint64)
    near, alike = np.full((rows, k), 9, dtype=np.int32), np.full((rows, k), 9.0)
    common, n = seen @ seen.T, (seen**2).sum(axis=1)
    ones = np.empty(0, dtype=np.int32)
    given = [
        each
        for way in (forth, back)
        for each in (way.indptr.astype(np.int64), way.indices, ones if largest == 1 else way.data.astype(np.float64))
    ]
    own = n if largest == 1 else n.astype(np.float64)
    for first, last in ((0, 10), (10, 11), (11, rows)):
        neighbours.nearest(first, last, np.arange(rows), *given, own, shrink, hashes, SEED, near, alike)
    tied = 0
    for r in range(rows):
        cosine = {s: common[r, s] / (np.sqrt(n[r] * n[s]) + shrink) for s in range(rows) if s != r and common[r, s]}
        order = sorted(cosine, key=lambda s: (-cosine[s], int(mix(mix(hashes[r] ^ SEED) ^ hashes[s]))))
        tied += len(order) > k and cosine[order[k]] == cosine[order[k - 1]]
        best = sorted(order[:k])
        assert near[r].tolist() == best + [-1] * (k - len(best))
        assert alike[r].tolist() == [cosine[s] for s in best] + [0.0] * (k - len(best))
    assert tied or k == 400 or density == 0.2 or largest > 1


def test_votes_are_a_product_of_sparse_matrices() -> None:
    """Σ strength · worth over voters and their ballots; empty weights are 1, and unknown rows have no voters."""
    rng = np.random.default_rng(1)
    voters, ballots = ((rng.random(shape) < 0.3) * rng.random(shape) for shape in ((6, 9), (9, 5)))
    left, right = sparse.csr_array(voters), sparse.csr_array(ballots)
    rows, out, none = np.array([4, -1, 0, 4], dtype=np.int32), np.full((4, 5), np.nan), np.empty(0)
    for strength, worth, expected in (
        (left.data, right.data, voters @ ballots),
        (none, right.data, (voters > 0) @ ballots),
        (left.data, none, voters @ (ballots > 0)),
    ):
        neighbours.vote(rows, left.indptr, left.indices, strength, right.indptr, right.indices, worth, out)
        np.testing.assert_allclose(out, np.where(rows[:, None] >= 0, expected[rows], 0.0), rtol=1e-14)
