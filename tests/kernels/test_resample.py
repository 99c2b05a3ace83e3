"""Column sums of a bootstrap against loops over Python integers: any size, any zeros, weights of any height."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tests.kernels.mixing import WORD, finish
from unskew.inference.bootstrap import LIMITS
from unskew.kernels.bootstrap import PART, TILE, draw, resample

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
EVEN = np.array([(k + 1) * WORD // 17 for k in range(16)], dtype=np.uint64)  # weights 0 … 16, all alike
RARE = np.array([WORD - WORD // (60 * (k + 1)) for k in range(12)], dtype=np.uint64)  # high weights in some parts only
SEED = np.uint64(0xFEED)


def weight(user: int, replicate: int, limits: list[int]) -> int:
    """SplitMix64's finaliser over the user and the replicate's stream, and how many limits that reaches."""
    h = finish(user ^ ((int(SEED) + replicate) * 0x9E3779B97F4A7C15 % WORD))
    return sum(h >= limit for limit in limits)


def weights(hashes: Hashes, replicates: int, limits: Hashes) -> Floats:
    ends = [int(limit) for limit in limits]
    return np.array([[weight(int(user), b, ends) for user in hashes] for b in range(replicates)], dtype=np.float64)


@pytest.mark.parametrize("limits", [LIMITS, EVEN, RARE], ids=["poisson", "even", "rare"])
@pytest.mark.parametrize(
    ("users", "replicates"), [(1, 1), (3, PART), (TILE - 1, PART + 1), (TILE, 7), (2 * TILE + 5, 2 * PART + 3)]
)
def test_sums_are_those_of_a_loop(users: int, replicates: int, limits: Hashes) -> None:
    """Full and empty columns, columns with holes, users without anything; what was there before is added to."""
    rng = np.random.default_rng(users)
    hashes = rng.integers(0, WORD, users, dtype=np.uint64)
    x = rng.normal(size=(users, 6)) * (rng.random((users, 6)) < [1.0, 0.0, 0.5, 0.1, 0.9, 1.0])
    x[rng.random(users) < 0.3] = 0.0
    x[:, 5] = 1.0
    expected = weights(hashes, replicates, limits)
    for columns in (x, x[:, :4]):
        out = np.full((columns.shape[1], replicates), 0.25)
        resample(np.ascontiguousarray(columns.T), hashes, SEED, limits, out)
        np.testing.assert_allclose(out - 0.25, (expected @ columns).T, rtol=1e-12, atol=1e-12 * users)
    one = np.empty(users)
    for b in (0, replicates - 1):
        draw(hashes, SEED, b, limits, one)
        np.testing.assert_array_equal(one, expected[b])


def test_what_is_no_number_stays_one() -> None:
    """NaN is not passed over like a 0."""
    hashes = np.arange(9, dtype=np.uint64)
    x = np.zeros((9, 2))
    x[4, 1] = np.nan
    out = np.zeros((2, 3))
    resample(np.ascontiguousarray(x.T), hashes, SEED, EVEN, out)
    assert (out[0] == 0.0).all() and np.isnan(out[1]).all()
