"""Objective, kernels and solvers of matrix factorisation against dense, obvious references."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.models.mf_worlds import (
    low_rank,
    predictions,
    problem_of,
    random_factors,
    slow_objective,
)

from unskew.kernels import gram, ratings
from unskew.models.mf import als as als_module
from unskew.models.mf.als import als
from unskew.models.mf.lbfgs import lbfgs
from unskew.models.mf.problem import Loss, Offsets
from unskew.models.mf.solving import Effort, Solved
from unskew.models.mf.start import svd_start

LOSSES: tuple[Loss, ...] = ("squared", "absolute")
MODES: tuple[Offsets, ...] = ("free", "penalised")
CASES = list(itertools.product(LOSSES, MODES))


@pytest.mark.parametrize("width", [8, 16, 24, 48])
@pytest.mark.parametrize("n", [0, 1, 7, 64])
def test_tiles_add_up_to_the_gram_matrix(width: int, n: int) -> None:
    """The upper triangle is what was there and Σ z zᵀ of the first n rows; rows behind them do not count."""
    rng = np.random.default_rng(width + n)
    rows, before = rng.normal(size=(64, width)), rng.normal(size=(width, width))
    out = before.copy()
    gram.add_gram(rows, n, out)
    np.testing.assert_allclose(np.triu(out), np.triu(before + rows[:n].T @ rows[:n]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 22, 41, 63, 64, 65])
def test_solve_is_that_of_numpy(n: int) -> None:
    """Solutions, and the minimum in the corner, whether or not n fills whole panels of eight."""
    rng = np.random.default_rng(n)
    size = gram.padded(n + 1)
    data, target = rng.normal(size=(n + 5, n)), rng.normal(size=n + 5)
    matrix = np.zeros((size, size))
    both = np.column_stack([data, target])
    matrix[: n + 1, : n + 1] = np.triu(both.T @ both)
    out = np.zeros(size)
    gram.solve(matrix, n, out)
    expected, residual, *_ = np.linalg.lstsq(data, target)
    np.testing.assert_allclose(out[:n], expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(matrix[n, n], residual[0], rtol=1e-8)


def test_a_direction_that_nothing_holds_stays_zero() -> None:
    """Two equal columns: a solution that fits as well as any, without infinities."""
    rng = np.random.default_rng(0)
    column, target = rng.normal(size=10), rng.normal(size=10)
    both = np.column_stack([column, column, target])
    matrix, out = np.zeros((8, 8)), np.zeros(8)
    matrix[:3, :3] = np.triu(both.T @ both)
    gram.solve(matrix, 2, out)
    assert out[1] == 0.0
    np.testing.assert_allclose(out[0], column @ target / (column @ column))


def test_transposing_keeps_every_rating() -> None:
    """By item, users ascending, an item without ratings included."""
    _, matrix = low_rank(9, 7, 2, 0.4, 0.1)
    matrix[:, 3] = np.nan
    weight = np.arange(63.0).reshape(9, 7)
    side = problem_of(matrix, 1, 1.0, weight=weight).ratings.by_item
    found = [
        (int(side.other[e]), i, side.value[e], side.weight[e])
        for i in range(7)
        for e in range(side.indptr[i], side.indptr[i + 1])
    ]
    expected = [(u, i, matrix[u, i], weight[u, i]) for i in range(7) for u in range(9) if not np.isnan(matrix[u, i])]
    assert found == expected


@pytest.mark.parametrize(("loss", "offsets"), CASES)
@pytest.mark.parametrize("edge", [0.0, 0.3])
def test_the_objective_is_the_sum_of_its_terms(loss: Loss, offsets: Offsets, edge: float) -> None:
    _, matrix = low_rank(6, 5, 2, 0.6, 0.5)
    weight = np.random.default_rng(1).uniform(1.0, 5.0, matrix.shape)
    problem, factors = problem_of(matrix, 3, 0.7, loss, offsets, weight), random_factors(6, 5, 3)
    expected = slow_objective(problem, matrix, weight, factors, edge)
    assert problem.objective(factors, edge)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("loss", "offsets"), CASES)
def test_the_slope_is_that_of_finite_differences(loss: Loss, offsets: Offsets) -> None:
    """Central differences of every unknown, to 1e-6 of the largest slope."""
    _, matrix = low_rank(6, 5, 2, 0.7, 0.5)
    weight = np.random.default_rng(2).uniform(1.0, 5.0, matrix.shape)
    problem, factors = problem_of(matrix, 2, 0.7, loss, offsets, weight), random_factors(6, 5, 2)
    edge, step = 0.2, 1e-6
    _, slope = problem.objective(factors, edge)
    for rows, slopes in ((factors.user, slope.user), (factors.item, slope.item)):
        for place in np.ndindex(rows.shape):
            kept = rows[place]
            rows[place] = kept + step
            above, _ = problem.objective(factors, edge)
            rows[place] = kept - step
            below, _ = problem.objective(factors, edge)
            rows[place] = kept
            assert slopes[place] == pytest.approx((above - below) / (2 * step), abs=1e-6 * np.abs(slope.user).max())
    level = factors.level
    factors.level = level + step
    above, _ = problem.objective(factors, edge)
    factors.level = level - step
    below, _ = problem.objective(factors, edge)
    assert slope.level == pytest.approx((above - below) / (2 * step), rel=1e-6)


@pytest.mark.parametrize(("loss", "offsets"), CASES)
@pytest.mark.parametrize("dim", [1, 5, 6, 22])
def test_a_row_is_a_ridge_regression(loss: Loss, offsets: Offsets, dim: int) -> None:
    """One step of every user against a dense solve; of the absolute error, with the weights that majorise it."""
    _, matrix = low_rank(8, 90, 2, 0.9, 0.5)
    matrix[3] = np.nan
    weight = np.random.default_rng(3).uniform(1.0, 5.0, matrix.shape)
    problem, factors = problem_of(matrix, dim, 0.5, loss, offsets, weight), random_factors(8, 90, dim)
    design = np.zeros((90, gram.padded(dim + 2)))
    design[:, :dim], design[:, dim] = factors.item[:, :-1], 1.0
    design[:, dim + 1] = factors.item[:, -1] + factors.level
    own, side, costs = factors.user.copy(), problem.ratings.by_user, np.empty(8)
    edge = 0.1 if loss == "absolute" else 0.0
    ratings.solve_rows(
        0, 8, side.indptr, side.other, side.value, side.weight, own, design, problem.penalty, problem.ridge, edge, costs
    )
    ridge = np.diag([problem.penalty] * dim + [problem.ridge])
    for u in range(8):
        there = ~np.isnan(matrix[u])
        x = np.column_stack([factors.item[there, :-1], np.ones(there.sum())])
        y = matrix[u, there] - factors.item[there, -1] - factors.level
        w = weight[u, there]
        s = w if loss == "squared" else w / (2 * np.maximum(np.abs(y - x @ factors.user[u]), edge))
        expected = np.linalg.solve(x.T @ (s[:, None] * x) + ridge, x.T @ (s * y)) if there.any() else np.zeros(dim + 1)
        np.testing.assert_allclose(own[u], expected, rtol=1e-9, atol=1e-10)
        rest = y - x @ expected
        assert costs[u] == pytest.approx(float(w @ (rest**2 if loss == "squared" else np.abs(rest))), abs=1e-9)


def test_sharing_constants_changes_no_prediction_and_lowers_their_squares() -> None:
    """Σa² + Σb² + c² is least: no other pair of shifts does better. Rows without ratings stay at 0."""
    factors = random_factors(7, 5, 2)
    seen = np.arange(7) != 2, np.arange(5) != 4
    factors.user[2] = factors.item[4] = 0.0
    before = predictions(factors)[np.ix_(*seen)]
    als_module.centre(factors, seen)
    np.testing.assert_allclose(predictions(factors)[np.ix_(*seen)], before)
    assert not factors.user[2].any() and not factors.item[4].any()

    def squares(s: float, t: float) -> float:
        a, b = factors.user[seen[0], -1] - s, factors.item[seen[1], -1] - t
        return float(a @ a + b @ b + (factors.level + s + t) ** 2)

    assert all(squares(s, t) >= squares(0, 0) for s in (-0.01, 0, 0.01) for t in (-0.01, 0, 0.01))


def test_the_start_is_the_truncated_svd_of_the_filled_matrix() -> None:
    """Against numpy's SVD of the matrix with its gaps filled by the mean; c is the mean and offsets are 0."""
    _, matrix = low_rank(40, 30, 3, 0.5, 0.1)
    start = svd_start(problem_of(matrix, 3, 1.0).ratings, 3)
    mean = np.nanmean(matrix)
    left, size, right = np.linalg.svd(np.where(np.isnan(matrix), mean, matrix) - mean)
    assert start.level == pytest.approx(mean)
    assert not start.user[:, -1].any() and not start.item[:, -1].any()
    np.testing.assert_allclose(predictions(start) - mean, (left[:, :3] * size[:3]) @ right[:3], atol=5e-3)
    np.testing.assert_allclose(np.square(start.user).sum(axis=0), np.square(start.item).sum(axis=0), rtol=1e-6)


def test_more_factors_than_the_matrix_has_rank() -> None:
    """MFParameters beyond the smaller side stay 0, and the fit is finite."""
    _, matrix = low_rank(6, 4, 2, 0.8, 0.1)
    problem = problem_of(matrix, 9, 0.1)
    solved = als(problem, svd_start(problem.ratings, 9), Effort(20))
    assert np.isfinite(predictions(solved.factors)).all()
    assert not solved.factors.user[:, 4:-1].any()


def both(loss: Loss, offsets: Offsets, weighted: bool, strength: float, dim: int) -> tuple[float, float, Solved]:
    """The objectives that L-BFGS and alternating least squares reach."""
    _, matrix = low_rank(60, 45, 4, 0.4, 0.6, seed=5)
    rng = np.random.default_rng(7)
    weight = rng.uniform(1.0, 20.0, matrix.shape) if weighted else np.full(matrix.shape, 2.5)
    problem = problem_of(matrix, dim, strength, loss, offsets, weight)
    start = svd_start(problem.ratings, dim)
    slow, fast = lbfgs(problem, start, Effort(2000)), als(problem, start, Effort(300))
    return problem.objective(slow.factors)[0], problem.objective(fast.factors)[0], fast


@pytest.mark.parametrize(("loss", "offsets"), CASES)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("strength", "dim"), [(0.2, 4), (5.0, 10), (40.0, 3)])
def test_both_solvers_reach_the_same_objective(
    loss: Loss, offsets: Offsets, weighted: bool, strength: float, dim: int
) -> None:
    """Within 1 % of each other; what is reported is the objective itself."""
    slow, fast, solved = both(loss, offsets, weighted, strength, dim)
    assert fast == pytest.approx(slow, rel=0.01)
    assert solved.history[-1] == pytest.approx(fast, rel=1e-9)
    assert solved.history[-1] < solved.history[0] or len(solved.history) == 1


@pytest.mark.parametrize("offsets", MODES)
def test_the_global_term_is_optimal_at_the_end(offsets: Offsets) -> None:
    """It has no step of its own, yet the slope by c vanishes."""
    _, matrix = low_rank(40, 30, 2, 0.5, 0.5)
    problem = problem_of(matrix, 2, 1.0, "squared", offsets)
    solved = als(problem, svd_start(problem.ratings, 2), Effort(3000, 1e-14))
    _, slope = problem.objective(solved.factors)
    assert abs(slope.level) < 1e-3
    assert max(np.abs(slope.user).max(), np.abs(slope.item).max()) < 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_a_noiseless_low_rank_matrix_is_recovered(loss: Loss) -> None:
    """Half the cells of a rank-3 matrix with offsets: the others come out to 1e-3."""
    full, matrix = low_rank(80, 60, 3, 0.5, 0.0, seed=2)
    problem = problem_of(matrix, 3, 1e-7, loss, "free")
    solved = als(problem, svd_start(problem.ratings, 3), Effort(2000, 1e-12))
    assert np.abs(predictions(solved.factors) - full).max() < 1e-3


@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_threads_changes_nothing(loss: Loss) -> None:
    """Bit by bit, with more rows than one block holds."""
    _, matrix = low_rank(700, 300, 3, 0.05, 0.5)
    problem = problem_of(matrix, 4, 1.0, loss)
    start = svd_start(problem.ratings, 4)
    one, *others = (als(problem, start, Effort(5, threads=threads)) for threads in (1, 2, 5))
    for other in others:
        assert one.history == other.history
        assert np.array_equal(one.factors.user, other.factors.user)
        assert np.array_equal(one.factors.item, other.factors.item)


def test_rounds_and_tolerance_end_a_fit() -> None:
    """A fit that ran out of rounds says so; one that settled stops by itself; progress is told of every round."""
    _, matrix = low_rank(30, 20, 2, 0.5, 0.5)
    problem = problem_of(matrix, 2, 1.0)
    start = svd_start(problem.ratings, 2)
    told: list[tuple[int, float]] = []
    for solve in (als, lbfgs):
        cut = solve(problem, start, Effort(2, 1e-9))
        assert not cut.converged and len(cut.history) == 2
        told.clear()
        solved = solve(problem, start, Effort(500, 1e-4, lambda *args: told.append(args)))
        assert solved.converged and len(solved.history) < 200
        assert told == list(enumerate(solved.history, start=1))
