"""Sums over hits, ideal sums and tallies of many users at once, against loops over one user after another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unskew.kernels import hits, sums
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.moments import tally

DEPTH, METRICS, ADDITIVE = 13, 8, 4


class Rows:
    """Rows of users who have from none to many, more of them than kernels look at together."""

    def __init__(self, seed: int, users: int, most: int) -> None:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(0, most + 1, users)
        self.indptr: Ints64 = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = int(self.indptr[-1])
        ranks = [rng.permutation(np.arange(1, most + 20))[:n] * (rng.random(n) < 0.4) for n in sizes]
        self.rank: Ints32 = np.concatenate([*ranks, []]).astype(np.int32)
        self.value: Floats = rng.choice([0.0, 1.0, 2.5], rows)
        self.weight: Floats = self.value * rng.choice([0.0, 1e-12, 0.5, 3.0, 1e9], rows) * rng.random(rows)
        self.divisor: Floats = rng.choice([0.0, 0.7, 12.0], users)
        self.table: Floats = np.where(np.arange(DEPTH)[:, None] > 0, rng.random((DEPTH, METRICS)), 0.0)
        self.table[:, 3] = 0.0

    def users(self) -> list[range]:
        """The rows of every user."""
        return [range(*ends) for ends in zip(self.indptr[:-1].tolist(), self.indptr[1:].tolist(), strict=True)]

    def hits(self) -> tuple[Ints64, Ints64, Ints64, Floats]:
        """As the kernel finds them."""
        starts, row, place = (np.empty(n + 1, dtype=np.int64) for n in (len(self.divisor), *[len(self.rank)] * 2))
        precision = np.empty(len(self.rank))
        hits.sort_hits(self.indptr, self.rank, starts, row, place)
        hits.rate_hits(starts, row, place, self.value, DEPTH, precision)
        return starts, row, place, precision


SHAPES = pytest.mark.parametrize(("users", "most"), [(0, 3), (1, 1), (67, 9), (130, 50)])


@SHAPES
def test_hits_stand_by_user_and_rank(users: int, most: int) -> None:
    """Only rows with a rank in the table, each with the share of relevant ones down to it."""
    given = Rows(1, users, most)
    starts, row, place, precision = given.hits()
    for u, rows in enumerate(given.users()):
        expected = sorted((int(given.rank[i]), i) for i in rows if 0 < given.rank[i] < DEPTH)
        own = slice(starts[u], starts[u + 1])
        assert list(zip(place[own].tolist(), row[own].tolist(), strict=True)) == expected
        relevant = np.cumsum([given.value[i] > 0.0 for _, i in expected])
        np.testing.assert_allclose(precision[own], [n / r for n, (r, _) in zip(relevant, expected, strict=True)])


@SHAPES
@pytest.mark.parametrize("inside", [False, True])
def test_sums_over_hits_are_those_of_a_loop(users: int, most: int, inside: bool) -> None:
    """With and without divisors; columns that are not asked for stay as they were."""
    given = Rows(2, users, most)
    below = np.stack([given.divisor, given.divisor[::-1]]) if inside else np.empty((0, 0))
    divisor, columns = np.arange(METRICS) % 2, np.array([6, 0, -1, 3, 1, -1, 2, 5])
    out = np.full((7, users), -1.0)
    hits.over_hits(*given.hits(), given.weight, given.table, ADDITIVE, below, divisor, columns, out)
    assert (out[4] == -1.0).all()
    for u, rows in enumerate(given.users()):
        ranks = sorted(int(given.rank[i]) for i in rows if given.rank[i] > 0 and given.value[i] > 0.0)
        for t, column in enumerate(columns):
            total = 0.0
            for i in rows:
                r = int(given.rank[i])
                if given.value[i] > 0.0 and 0 < r < DEPTH:
                    precision = 1.0 if t < ADDITIVE else (ranks.index(r) + 1) / r
                    total += given.weight[i] * precision * given.table[r, t]
            if inside:
                under = below[divisor[t], u]
                total = total / under if under > 0.0 else 0.0
            if column >= 0:
                assert out[column, u] == pytest.approx(total, rel=1e-12)


@SHAPES
def test_rows_that_carry_a_number_are_counted(users: int, most: int) -> None:
    """Σ|v|, Σv², max|v| and how many: added to what is there."""
    given = Rows(3, users, most)
    out = np.full((METRICS, 4), 2.0)
    hits.carried(*given.hits()[:3], given.weight, given.table, given.divisor, out)
    for t in range(METRICS):
        v = [
            given.weight[i] * given.table[given.rank[i], t] / given.divisor[u]
            for u, rows in enumerate(given.users())
            for i in rows
            if 0 < given.rank[i] < DEPTH and given.divisor[u] > 0.0
        ]
        v = [each for each in v if each > 0.0]
        expected = [2.0 + sum(v), 2.0 + sum(x * x for x in v), max([2.0, *v]), 2.0 + len(v)]
        np.testing.assert_allclose(out[t], expected, rtol=1e-12)


@SHAPES
def test_weights_are_tallied_by_powers_of_the_root_of_two(users: int, most: int) -> None:
    """Bins are ⌊2 log₂ w⌋, the outer ones hold what lies beyond; powers themselves begin a bin."""
    given = Rows(4, users, most)
    weight = np.where(given.value == 2.5, 2.0 ** (np.arange(len(given.value)) % 9 - 4.0), given.weight)
    bins, out = np.zeros(16, dtype=np.int64), np.zeros(4)
    tally(given.indptr, weight, given.value, given.divisor, bins, out)
    expected, v = np.zeros(16, dtype=np.int64), []
    for u, rows in enumerate(given.users()):
        for i in rows:
            if given.divisor[u] > 0.0 and weight[i] * given.value[i] > 0.0:
                v.append(weight[i] * given.value[i] / given.divisor[u])
                expected[min(max(8 + math.floor(2.0 * math.log2(weight[i])), 0), 15)] += 1
    assert bins.tolist() == expected.tolist()
    np.testing.assert_allclose(out, [sum(v), sum(x * x for x in v), max([0.0, *v]), len(v)], rtol=1e-12)


def test_tiny_divisors_leave_rows_without_a_weight_alone() -> None:
    """One over a denormal number is infinite, and no weight times that would be no number."""
    weight, divisor = np.array([0.0, 1e-310, 1.0]), np.array([1e-310, 0.0])
    indptr, starts, row, place = (np.array(n, dtype=np.int64) for n in ([0, 2, 3], [0, 2, 3], [0, 1, 2], [1, 2, 1]))
    out, bins, found = np.zeros((1, 4)), np.zeros(16, dtype=np.int64), np.zeros(4)
    hits.carried(starts, row, place, weight, np.ones((3, 1)), divisor, out)
    tally(indptr, weight, np.ones(3), divisor, bins, found)
    np.testing.assert_allclose([out[0], found], 1.0, rtol=1e-12)


@pytest.mark.parametrize(("users", "most"), [(0, 3), (1, 1), (3, 100), (100, 9), (200, 60)])
@pytest.mark.parametrize("alike", [False, True])
def test_ideal_sums_have_the_largest_weights_first(users: int, most: int, alike: bool) -> None:
    """Users with few rows, who are sorted together, and with many; weights that are not positive bring nothing.

    Those of every second user may be all alike, which are not sorted at all.
    """
    given = Rows(5, users, most)
    weight = np.where(given.value == 0.0, -given.rank.astype(np.float64), given.weight)
    if alike:
        for rows in given.users()[::2]:
            weight[rows] = weight[rows[0]] if len(rows) else 0.0
    out = np.empty((METRICS, users))
    sums.ideal(given.indptr, weight, given.table, out)
    for u, rows in enumerate(given.users()):
        best = sorted((weight[i] for i in rows if weight[i] > 0.0), reverse=True)[: DEPTH - 1]
        np.testing.assert_allclose(
            out[:, u], sum((w * given.table[j] for j, w in enumerate(best, 1)), np.zeros(METRICS))
        )
