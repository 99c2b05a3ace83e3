"""Stochastic gradient descent: its steps against a loop, its ends against those of alternating least squares."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.models.mf_worlds import low_rank, problem_of, random_factors, ratings_log
from tests.said import refuses

from unskew.core.threads import Threads
from unskew.models.mf import MF
from unskew.models.mf import sgd as module
from unskew.models.mf.als import als
from unskew.models.mf.problem import Loss, MFParameters, Offsets, Problem
from unskew.models.mf.sgd import sgd
from unskew.models.mf.solving import Effort
from unskew.models.mf.start import svd_start
from unskew.models.mf.tiles import Tiles

CASES: list[tuple[Loss, Offsets]] = list(itertools.product(("squared", "absolute"), ("free", "penalised")))


def world(loss: Loss = "squared", offsets: Offsets = "penalised", dim: int = 3) -> Problem:
    """Sixty users, one of them without ratings, and weights that differ by a hundred."""
    _, matrix = low_rank(60, 45, 3, 0.4, 0.5, seed=3)
    matrix[7], matrix[:, 11] = np.nan, np.nan
    weight = np.exp(np.random.default_rng(4).uniform(0.0, np.log(100.0), matrix.shape))
    return problem_of(matrix, dim, 0.5, loss, offsets, weight)


def met(tiles: Tiles) -> list[tuple[int, int, float, float]]:
    """User, item, value and weight in the order in which an epoch meets them."""
    user_of, item_of = ({int(p): code for code, p in enumerate(places)} for places in tiles.places)
    found = []
    for diagonal in range(tiles.groups):
        for row in range(tiles.groups):
            column = (row + diagonal) % tiles.groups
            tile = row * tiles.groups + column
            for e in range(tiles.ends[tile], tiles.ends[tile + 1]):
                u = user_of[row * tiles.rows[0] + int(tiles.user[e])]
                i = item_of[column * tiles.rows[1] + int(tiles.item[e])]
                found.append((u, i, float(tiles.value[e]) + tiles.level, float(tiles.weight[e]) * tiles.unit))
    return found


def slow_epoch(problem: Problem, order: list[tuple[int, int, float, float]], at: MFParameters, kappa: float) -> float:
    """One rating at a time in double precision; changes the factors and gives back the loss as met."""
    d, loss = problem.dim, 0.0
    users, items = ([rating[side] for rating in order] for side in (0, 1))
    sums = [{r: sum(o[3] for o in order if o[side] == r) for r in set(rows)} for side, rows in ((0, users), (1, items))]
    for u, i, y, s in order:
        v, w = at.user[u].copy(), at.item[i].copy()
        error = y - at.level - v[d] - w[d] - sum(v[j] * w[j] for j in range(d))
        r_u, r_i = kappa / sums[0][u], kappa / sums[1][i]
        reach = r_u * (sum(x**2 for x in w[:d]) + 1) + r_i * (sum(x**2 for x in v[:d]) + 1)
        if problem.loss == "squared":
            loss, pull = loss + s * error**2, 2 * s * error / (1 + 2 * s * reach)
        else:
            loss, pull = loss + s * abs(error), float(np.clip(error / reach, -s, s))
        for own, other, rate, n in ((at.user[u], w, r_u, users.count(u)), (at.item[i], v, r_i, items.count(i))):
            keep = 1 / (1 + 2 * rate * problem.penalty / n)
            for j in range(d):
                own[j] = (own[j] + rate * pull * other[j]) * keep
            own[d] = (own[d] + rate * pull) * (keep if problem.offsets == "penalised" else 1.0)
    return loss


@pytest.mark.parametrize(("loss", "offsets"), CASES)
@pytest.mark.parametrize("dim", [0, 3, 6, 7, 20])
def test_an_epoch_is_that_of_a_loop(loss: Loss, offsets: Offsets, dim: int) -> None:
    """The same ratings in the same order, whether or not the row fills whole vectors; single precision: to 1e-4."""
    problem, expected = world(loss, offsets, dim), random_factors(60, 45, dim)
    expected.user *= 0.5
    tiles = Tiles.of(problem.ratings, dim, expected.level, 5)
    expected.user[7] = expected.item[11] = 0.0
    packed = tiles.pack(expected)
    module._rates(problem, tiles, packed, 2.0)
    with Threads(1) as pool:
        loss_met = module.epoch(problem, tiles, packed, expected.level, pool)
    found = tiles.unpack(packed, dim, expected.level)
    assert loss_met == pytest.approx(slow_epoch(problem, met(tiles), expected, 2.0), rel=1e-4)
    np.testing.assert_allclose(found.user, expected.user, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.item, expected.item, rtol=1e-4, atol=1e-4)


def test_tiles_hold_every_rating_once() -> None:
    """In another order for another seed, and tiles of a diagonal share no row by their making."""
    problem = world()
    side = problem.ratings.by_user
    user = np.repeat(np.arange(60), np.diff(side.indptr))
    expected = sorted(zip(user.tolist(), side.other.tolist(), side.value, side.weight, strict=True))
    orders = [met(Tiles.of(problem.ratings, 3, 3.0, seed)) for seed in (0, 1)]
    assert orders[0] != orders[1]
    for order in orders:
        np.testing.assert_allclose(sorted(order), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("loss", "offsets"), CASES)
def test_a_hundred_epochs_come_near_the_minimum(loss: Loss, offsets: Offsets) -> None:
    """Weights that differ by a hundred: within 5 % of alternating least squares; absolute errors within 12 %."""
    problem = world(loss, offsets)
    start = svd_start(problem.ratings, 3)
    best, found = als(problem, start, Effort(300)), sgd(problem, start, Effort(100))
    most = 1.05 if loss == "squared" else 1.12
    assert 0.99 < found.history[-1] / best.history[-1] < most
    assert found.history[-1] == pytest.approx(problem.objective(found.factors)[0], rel=1e-12)
    assert not found.factors.user[7].any() and not found.factors.item[11].any()


def test_seeds_and_warm_starts() -> None:
    """A seed repeats a fit; a start at the minimum is left by little, and a start of another dim is refused."""
    _, matrix = low_rank(60, 45, 3, 0.4, 0.5)
    log = ratings_log(matrix)
    fits = [MF(3, solver="sgd", rounds=5, seed=seed).fit(log).predict_codes(log.user, log.item) for seed in (1, 1, 2)]
    assert np.array_equal(fits[0], fits[1]) and not np.array_equal(fits[0], fits[2])
    rough = MF(3, solver="sgd", rounds=30).fit(log)
    warm = MF(3, rounds=3).fit(log, start=rough)
    cold = MF(3, rounds=3).fit(log)
    assert warm.training_.objective < min(rough.training_.objective, cold.training_.objective)
    with refuses("conflicting-arguments", option="dim"):
        MF(2).fit(log, start=rough)


def test_ratings_that_single_precision_cannot_hold() -> None:
    """One clear error; ratings that are far from 0, but near each other, are no trouble."""
    _, matrix = low_rank(30, 20, 2, 0.5, 0.5)
    with refuses("overflow"):
        MF(2, solver="sgd").fit(ratings_log(matrix * 1e25))
    near, far = (MF(2, offsets="free", solver="sgd", rounds=20).fit(ratings_log(matrix + c)) for c in (0.0, 1e6))
    assert far.training_.objective == pytest.approx(near.training_.objective, rel=1e-3)
