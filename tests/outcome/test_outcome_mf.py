"""Logistic factor models of outcomes: gradients, weights, early stopping, hostile data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.outcome.worlds import Floats, World, all_pairs, log_of
from unskew.kernels import factors
from unskew.outcome import LogisticMF, Means
from unskew_papers.models.adam import AdamMF

WORLD = World.draw(rate=0.8)
LOG, P = WORLD.log, WORLD.p[WORLD.seen]
PAIRS = all_pairs(WORLD.p.shape)


@pytest.fixture(scope="module")
def fitted() -> LogisticMF:
    return LogisticMF().fit(LOG, propensity=P)


def test_better_than_means_and_than_unweighted(fitted: LogisticMF) -> None:
    """In a low-rank world: weighted factors beat weighted offsets and means, and unweighted factors."""
    error = WORLD.error(fitted.predict(*PAIRS))
    assert error < WORLD.error(LogisticMF(dim=0).fit(LOG, propensity=P).predict(*PAIRS))
    assert error < WORLD.error(Means().fit(LOG, propensity=P).predict(*PAIRS))
    assert error < WORLD.error(LogisticMF().fit(LOG).predict(*PAIRS))
    assert abs(fitted.predict(*PAIRS).mean() - WORLD.chance.mean()) < 0.02


def test_factors_are_found_where_few_items_have_most_of_the_rows() -> None:
    """Exposure like 1/rank: the noise of popular items must not drown what there is (held-out rows, fresh pairs)."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3000, 2)) @ rng.normal(0.0, 0.9, (200, 2)).T - 1.0
    chance = 1.0 / (1.0 + np.exp(-z))
    p = np.minimum(1.0, 4.0 / np.arange(1, 201)) * np.ones((3000, 1))
    world = World(chance, p, rng.random(p.shape) < p, (rng.random(p.shape) < chance).astype(np.float64))
    found = LogisticMF().fit(world.log)
    assert found.held_out_loss[-1] < 0.98 * found.held_out_loss[0]
    pairs = all_pairs(p.shape)
    offsets = LogisticMF(dim=0).fit(world.log)
    assert world.error(found.predict(*pairs)) < 0.9 * world.error(offsets.predict(*pairs))


@pytest.mark.parametrize("fraction", [False, True])
def test_offsets_reach_their_penalised_optimum(fraction: bool) -> None:
    """Without factors the fit ends where the gradient of a loop-written, weighted loss, by differences, is 0."""
    rng = np.random.default_rng(0)
    y = rng.random((6, 5)) if fraction else (rng.random((6, 5)) < 0.4).astype(np.float64)
    log = log_of(rng.random((6, 5)) < 0.7, y)
    p = rng.uniform(0.3, 0.9, len(log))
    found = LogisticMF(dim=0, ridge=1.5, held_out=0.0).fit(log, propensity=p).state
    weight = (1.0 / p) / np.mean(1.0 / p)
    values = log.value
    assert values is not None

    def loss(users: Floats, items: Floats) -> float:
        total = 0.5 * 1.5 * float((users**2).sum() + (items**2).sum())
        for r in range(len(log)):
            q = 1.0 / (1.0 + np.exp(-(users[log.user[r]] + items[log.item[r]] + found.level)))
            total -= weight[r] * float(values[r] * np.log(q) + (1.0 - values[r]) * np.log(1.0 - q))
        return total

    a, b = found.user[:, -1], found.item[:, -1]
    slopes = [(loss(a + step, b) - loss(a - step, b)) / 2e-5 for step in 1e-5 * np.eye(6)]
    slopes += [(loss(a, b + step) - loss(a, b - step)) / 2e-5 for step in 1e-5 * np.eye(5)]
    far = [(loss(step, 0.0 * b) - loss(-step, 0.0 * b)) / 2e-5 for step in 1e-5 * np.eye(6)]
    assert np.abs(slopes).max() < 0.01 * np.abs(far).max()


@pytest.mark.parametrize("fraction", [False, True])
def test_newton_steps_reach_the_penalised_optimum_of_a_side(fraction: bool) -> None:
    """The kernel's steps with weights per pair end where the gradient, by differences of a loop-written loss, is 0."""
    rng = np.random.default_rng(0)
    seen, y = rng.random((6, 5)) < 0.7, rng.random((6, 5))
    y = y if fraction else (y < 0.4).astype(np.float64)
    weight = rng.uniform(0.3, 3.0, (6, 5))
    own, other, level, penalty, ridge = rng.normal(size=(6, 3)), rng.normal(size=(5, 3)), -0.4, 0.8, 1.5
    ends, pairs, pulls = [0], [], []
    for u in range(6):
        for i in np.flatnonzero(seen[u]):  # an outcome in between is some of a success and some of a failure
            pairs += [2 * i, 2 * i + 1]
            pulls += [weight[u, i] * (1.0 - y[u, i]), weight[u, i] * y[u, i]]
        ends.append(len(pairs))

    def loss(users: Floats) -> float:
        total = 0.5 * sum(penalty * float(v[:2] @ v[:2]) + ridge * float(v[2] ** 2) for v in users)
        for u, i in np.argwhere(seen):
            q = 1.0 / (1.0 + np.exp(-(users[u, :2] @ other[i, :2] + users[u, 2] + other[i, 2] + level)))
            total -= float(weight[u, i] * (y[u, i] * np.log(q) + (1.0 - y[u, i]) * np.log(1.0 - q)))
        return total

    entries = np.array(ends, dtype=np.int64), np.array(pairs, dtype=np.int32), np.array(pulls)
    for _ in range(40):
        factors.ascend(0, 6, *entries, own, other, np.ones(5), level, np.full(6, penalty), ridge, False)
    for place in np.ndindex(own.shape):
        step = np.zeros_like(own)
        step[place] = 1e-5
        assert abs(loss(own + step) - loss(own - step)) / 2e-5 < 1e-6


@pytest.mark.parametrize("shape", [(400, 100), (150, 300)], ids=str)
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_penalties_are_in_units_of_chance(shape: tuple[int, int], skewed: bool, drawn: bool) -> None:
    """Where outcomes have no structure at all, factors vanish at a penalty above 1 and follow noise far below it.

    Whatever the size, the skew of exposure and its weights, and the users' weights in a bootstrap draw.
    """
    rng = np.random.default_rng(2)
    p = np.minimum(1.0, 20.0 / np.arange(1, shape[1] + 1)) if skewed else np.full(shape[1], 0.4)
    p = np.maximum(p, 0.1) * np.ones((shape[0], 1))
    seen = rng.random(shape) < p
    log = log_of(seen, (rng.random(shape) < 0.3).astype(np.float64))
    times = rng.poisson(1.0, shape[0]).astype(np.float64) if drawn else None
    away = {}
    for penalty in (1.5, 0.4):
        models = (LogisticMF(dim=dim, penalty=penalty, held_out=0.0) for dim in (3, 0))
        q = [model.fit(log, propensity=p[seen], weights=times).of(log) for model in models]
        away[penalty] = float(np.abs(q[0] - q[1]).mean())
    assert away[1.5] < 0.002 and away[0.4] > 0.03, away


@pytest.mark.parametrize("model", [LogisticMF(epochs=3), AdamMF(steps=40)])
def test_the_same_every_time(model: LogisticMF | AdamMF) -> None:
    """The same seed gives the same bits, whatever the threads; another seed other numbers; the scale of P none."""
    one = model.fit(LOG, propensity=P).of(LOG)
    many = (
        replace(model, threads=3).fit(LOG, propensity=P).of(LOG)
        if isinstance(model, LogisticMF)
        else model.fit(LOG, propensity=P).of(LOG)
    )
    assert (one == many).all()
    assert (one != replace(model, seed=1).fit(LOG, propensity=P).of(LOG)).any()
    np.testing.assert_allclose(model.fit(LOG, propensity=0.1 * P).of(LOG), one, rtol=1e-9)


def test_users_who_count_twice_are_two_users() -> None:
    """Bootstrap weights equal repetition; a user of weight 0 leaves no trace."""
    rng = np.random.default_rng(1)
    world = World.draw(60, 30, rate=0.8)
    times = rng.integers(0, 4, 60)
    model = LogisticMF(dim=2, epochs=4, held_out=0.0)
    weighed = model.copy().fit(world.log, propensity=world.p[world.seen], weights=times.astype(np.float64))
    seen = np.repeat(world.seen, times, axis=0)
    repeated = model.fit(
        log_of(seen, np.repeat(world.y, times, axis=0)), propensity=np.repeat(world.p, times, axis=0)[seen]
    )
    q = weighed.predict(*all_pairs((60, 30))).reshape(60, 30)
    again = repeated.predict(*all_pairs(seen.shape)).reshape(seen.shape)
    np.testing.assert_allclose(np.repeat(q, times, axis=0), again, rtol=1e-6)


HOSTILE = {
    "one row": (np.eye(3, 4, dtype=np.bool_) & (np.arange(4) == 1), np.ones((3, 4), dtype=np.bool_)),
    "all converted": (np.ones((5, 4), dtype=np.bool_), np.ones((5, 4), dtype=np.bool_)),
    "none converted": (np.ones((5, 4), dtype=np.bool_), np.zeros((5, 4))),
    "one user": (np.ones((1, 6), dtype=np.bool_), np.arange(6.0)[None, :] % 2),
    "one item": (np.ones((6, 1), dtype=np.bool_), np.arange(6.0)[:, None] % 2),
    "separable": (np.ones((8, 8), dtype=np.bool_), np.kron(np.eye(2), np.ones((4, 4), dtype=np.bool_))),
    "fractions": (np.ones((5, 5), dtype=np.bool_), np.linspace(0.0, 1.0, 25).reshape(5, 5)),
}


@pytest.mark.parametrize(("seen", "y"), HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("model", [LogisticMF(held_out=0.4), LogisticMF(penalty=0.01, held_out=0.0), AdamMF(steps=50)])
def test_hostile_data_give_probabilities(model: LogisticMF | AdamMF, seen: npt.NDArray[np.bool_], y: Floats) -> None:
    """Strictly between 0 and 1, for silent users and items, too."""
    q = model.fit(log_of(seen, y)).predict(*all_pairs(seen.shape))
    assert ((q > 0.0) & (q < 1.0)).all()


def test_silent_users_and_items_get_the_average() -> None:
    """A user without rows has the item's q, an unknown pair the level; both are counted."""
    seen = WORLD.seen[:100, :50].copy()
    seen[4], seen[:, 6] = False, False
    found = LogisticMF(dim=2).fit(log_of(seen, WORLD.y[:100, :50]))
    level, item = found.state.level, found.state.item[:, -1]
    z = np.array([level + item[2], level, level + found.state.user[3, -1], level])
    np.testing.assert_allclose(found.predict([4, 4, 3, 999], [2, 6, 6, 999]), 1.0 / (1.0 + np.exp(-z)), rtol=1e-12)
    assert found.unknown(log_of(np.ones((100, 50), dtype=np.bool_), np.ones((100, 50)))) == np.count_nonzero(
        ~np.outer(seen.any(axis=1), seen.any(axis=0))
    )
