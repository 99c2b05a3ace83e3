"""Objective, kernels and solvers of matrix factorisation against dense, obvious references."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from tests.models.mf_worlds import low_rank, predictions, problem_of, random_factors, slow_objective

from unskew.kernels import gram, ratings
from unskew.models.mf.als import als
from unskew.models.mf.lbfgs import lbfgs
from unskew.models.mf.problem import Loss, MFParameters, Offsets, Problem
from unskew.models.mf.sgd import sgd
from unskew.models.mf.solving import Effort, Solved
from unskew.models.mf.start import svd_start

LOSSES: tuple[Loss, ...] = ("squared", "absolute")
MODES: tuple[Offsets, ...] = ("free", "penalised")
Solve = Callable[[Problem, MFParameters, Effort], Solved]
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


def test_more_factors_than_the_matrix_has_rank() -> None:
    """MFParameters beyond the smaller side stay 0, and the fit is finite."""
    _, matrix = low_rank(6, 4, 2, 0.8, 0.1)
    problem = problem_of(matrix, 9, 0.1)
    solved = als(problem, svd_start(problem.ratings, 9), Effort(20))
    assert np.isfinite(predictions(solved.factors)).all()
    assert not solved.factors.user[:, 4:-1].any()


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


@pytest.mark.parametrize(("loss", "offsets"), CASES)
@pytest.mark.parametrize(("strength", "dim", "weighted"), [(0.2, 4, True), (5.0, 10, False), (40.0, 3, True)])
def test_both_solvers_reach_the_same_objective(
    loss: Loss, offsets: Offsets, strength: float, dim: int, weighted: bool
) -> None:
    """L-BFGS and alternating least squares, within 1 % of each other; what is reported is the objective itself."""
    _, matrix = low_rank(60, 45, 4, 0.4, 0.6, seed=5)
    rng = np.random.default_rng(7)
    weight = rng.uniform(1.0, 20.0, matrix.shape) if weighted else np.full(matrix.shape, 2.5)
    problem = problem_of(matrix, dim, strength, loss, offsets, weight)
    start = svd_start(problem.ratings, dim)
    slow, solved = lbfgs(problem, start, Effort(2000)), als(problem, start, Effort(300))
    fast = problem.objective(solved.factors)[0]
    assert fast == pytest.approx(problem.objective(slow.factors)[0], rel=0.01)
    assert solved.history[-1] == pytest.approx(fast, rel=1e-9)
    assert solved.history[-1] < solved.history[0] or len(solved.history) == 1


@pytest.mark.parametrize("solve", [als, sgd])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_threads_changes_nothing(loss: Loss, solve: Solve) -> None:
    """Bit by bit, with more rows than one block holds."""
    _, matrix = low_rank(700, 300, 3, 0.05, 0.5)
    problem = problem_of(matrix, 4, 1.0, loss)
    start = svd_start(problem.ratings, 4)
    one, *others = (solve(problem, start, Effort(5, threads=threads)) for threads in (1, 2, 5))
    for other in others:
        assert one.history == other.history
        assert np.array_equal(one.factors.user, other.factors.user)
        assert np.array_equal(one.factors.item, other.factors.item)


@pytest.mark.parametrize("solve", [als, lbfgs, sgd])
def test_rounds_and_tolerance_end_a_fit(solve: Solve) -> None:
    """A fit that ran out of rounds says so; one that settled stops by itself; progress is told of every round."""
    _, matrix = low_rank(30, 20, 2, 0.5, 0.5)
    problem = problem_of(matrix, 2, 1.0)
    start = svd_start(problem.ratings, 2)
    cut = solve(problem, start, Effort(2, 1e-9))
    assert not cut.converged and len(cut.history) == 2
    told: list[tuple[int, float]] = []
    solved = solve(problem, start, Effort(500, 1e-3, lambda *args: told.append(args)))
    assert solved.converged and len(solved.history) < 200
    assert told == list(enumerate(solved.history, start=1))
