"""Logistic factor models of outcomes: gradients, weights, early stopping, hostile data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.outcome.worlds import Floats, World, log_of, pairs_of
from unskew import outcome
from unskew.errors import InputError
from unskew.kernels import adam, factors
from unskew.log import Log
from unskew.outcome import AdamMF, LogisticMF, Means

WORLD = World.draw(rate=0.8)
LOG, P = WORLD.log, WORLD.p[WORLD.seen]
PAIRS = pairs_of(WORLD.p.shape)


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
    pairs = pairs_of(p.shape)
    offsets = LogisticMF(dim=0).fit(world.log)
    assert world.error(found.predict(*pairs)) < 0.9 * world.error(offsets.predict(*pairs))


def test_of_and_predict_agree_with_the_formula(fitted: LogisticMF) -> None:
    """σ(v·w + a + b + c), in any order."""
    found = fitted.state
    z = found.user[:, :-1] @ found.item[:, :-1].T + found.user[:, -1:] + found.item[:, -1] + found.level
    q = 1.0 / (1.0 + np.exp(-z))
    np.testing.assert_allclose(fitted.of(LOG), q[LOG.user, LOG.item], rtol=1e-12)
    np.testing.assert_allclose(fitted.predict([7, 3, 7], [5, 199, 1]), q[[7, 3, 7], [5, 199, 1]], rtol=1e-12)


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


def test_held_out_rows_stop_the_fit_and_keep_the_best_round() -> None:
    """With a weak penalty it stops early; with nothing held out it runs on, fits noise and is worse."""
    weak = LogisticMF(penalty=0.2, epochs=12).fit(LOG, propensity=P)
    assert len(weak.held_out_loss) < 12
    blind = LogisticMF(penalty=0.2, epochs=12, held_out=0.0).fit(LOG, propensity=P)
    assert len(blind.held_out_loss) == 1 + 12 + 1 and np.isnan(blind.held_out_loss).all()
    assert WORLD.error(weak.predict(*PAIRS)) < WORLD.error(blind.predict(*PAIRS))


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
    q = weighed.predict(*PAIRS_OF_60).reshape(60, 30)
    again = repeated.predict(*pairs_of(seen.shape)).reshape(seen.shape)
    np.testing.assert_allclose(np.repeat(q, times, axis=0), again, rtol=1e-6)


PAIRS_OF_60 = pairs_of((60, 30))


@pytest.mark.parametrize("squared", [False, True])
def test_the_gradient_of_adam(squared: bool) -> None:
    """Against differences of a loss written as a loop."""
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 5, 20).astype(np.int32), rng.integers(0, 4, 20).astype(np.int32)
    y, weight = rng.random(20), rng.uniform(0.5, 2.0, 20)
    users, items, level, l2 = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), 0.3, 0.1
    batch = rng.integers(0, 20, 8).astype(np.int32)

    def loss(users: Floats, items: Floats, level: float) -> float:
        total, norm = 0.0, sum(weight[r] for r in batch)
        for r in batch:
            u, i = user[r], item[r]
            z = users[u, :2] @ items[i, :2] + users[u, 2] + items[i, 2] + level
            q = 1.0 / (1.0 + np.exp(-z))
            one = (y[r] - z) ** 2 if squared else -(y[r] * np.log(q) + (1.0 - y[r]) * np.log(1.0 - q))
            total += float(weight[r] / norm * one)
        return total + 0.5 * l2 * float((users[:, :2] ** 2).sum() + (items[:, :2] ** 2).sum())

    to_users, to_items = np.empty_like(users), np.empty_like(items)
    slope, value = adam.gradient(batch, user, item, y, weight, users, items, level, l2, squared, to_users, to_items)
    assert value == pytest.approx(loss(users, items, level), rel=1e-12)
    assert slope == pytest.approx(
        (loss(users, items, level + 1e-6) - loss(users, items, level - 1e-6)) / 2e-6, abs=1e-7
    )
    for side, found in ((users, to_users), (items, to_items)):
        for place in np.ndindex(side.shape):
            keep = side[place]
            side[place] = keep + 1e-6
            up = loss(users, items, level)
            side[place] = keep - 1e-6
            down = loss(users, items, level)
            side[place] = keep
            assert found[place] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_adam_moves_as_kingma_and_ba_say() -> None:
    """Three steps on three parameters, against the textbook with bias-corrected moments."""
    rng = np.random.default_rng(0)
    user, item, y, weight = (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32), np.ones(1), np.ones(1))
    users, items, level = rng.normal(size=(1, 1)), rng.normal(size=(1, 1)), np.zeros(1)
    x = np.array([users[0, 0], items[0, 0], 0.0])
    m, v = np.zeros(3), np.zeros(3)
    adam.descend(
        np.zeros((3, 1), dtype=np.int32),
        user,
        item,
        y,
        weight,
        users,
        items,
        level,
        np.zeros((2, 3)),
        0,
        0.1,
        0.0,
        False,
    )
    for t in (1, 2, 3):
        g = np.full(3, 1.0 / (1.0 + np.exp(-x.sum())) - 1.0)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose([users[0, 0], items[0, 0], level[0]], x, rtol=1e-6)


def test_adam_learns_and_then_learns_by_heart() -> None:
    """A thousand steps beat none; with the paper's 5,000 on so few rows, seen pairs fit far better than the rest."""
    log_loss: dict[int, tuple[float, float]] = {}
    for steps in (1, 1000, 5000):
        q = AdamMF(steps=steps).fit(LOG, propensity=P).predict(*PAIRS).reshape(WORLD.p.shape)
        q = np.clip(q, 1e-12, 1.0 - 1e-12)
        loss = -(WORLD.y * np.log(q) + (1.0 - WORLD.y) * np.log1p(-q))
        log_loss[steps] = float(np.average(loss[WORLD.seen], weights=1.0 / P)), float(loss[~WORLD.seen].mean())
    assert log_loss[1000][0] < log_loss[1][0] and log_loss[1000][1] < log_loss[1][1]
    assert log_loss[5000][0] < 0.6 * log_loss[5000][1]


def ones(shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    return np.ones(shape, dtype=np.bool_)


HOSTILE = {
    "one row": (np.eye(3, 4, dtype=np.bool_) & (np.arange(4) == 1), np.ones((3, 4))),
    "all converted": (ones((5, 4)), np.ones((5, 4))),
    "none converted": (ones((5, 4)), np.zeros((5, 4))),
    "one user": (ones((1, 6)), np.arange(6.0)[None, :] % 2),
    "one item": (ones((6, 1)), np.arange(6.0)[:, None] % 2),
    "separable": (ones((8, 8)), np.kron(np.eye(2), np.ones((4, 4)))),
    "fractions": (ones((5, 5)), np.linspace(0.0, 1.0, 25).reshape(5, 5)),
}


@pytest.mark.parametrize(("seen", "y"), HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("model", [LogisticMF(held_out=0.4), LogisticMF(penalty=0.01, held_out=0.0), AdamMF(steps=50)])
def test_hostile_data_give_probabilities(model: LogisticMF | AdamMF, seen: npt.NDArray[np.bool_], y: Floats) -> None:
    """Strictly between 0 and 1, for silent users and items, too."""
    q = model.fit(log_of(seen, y)).predict(*pairs_of(seen.shape))
    assert ((q > 0.0) & (q < 1.0)).all()


def test_silent_users_and_items_get_the_average() -> None:
    """A user without rows has the item's q, an unknown pair the level; both are counted."""
    seen = WORLD.seen[:100, :50].copy()
    seen[4], seen[:, 6] = False, False
    found = LogisticMF(dim=2).fit(log_of(seen, WORLD.y[:100, :50]))
    level, item = found.state.level, found.state.item[:, -1]
    z = np.array([level + item[2], level, level + found.state.user[3, -1], level])
    np.testing.assert_allclose(found.predict([4, 4, 3, 999], [2, 6, 6, 999]), 1.0 / (1.0 + np.exp(-z)), rtol=1e-12)
    assert found.unknown(log_of(ones((100, 50)), np.ones((100, 50)))) == np.count_nonzero(
        ~np.outer(seen.any(axis=1), seen.any(axis=0))
    )


@pytest.mark.parametrize("name", ["logistic_mf", "adam_mf"])
def test_graded_outcomes_are_refused(name: str) -> None:
    """The message names the row and what to use instead."""
    with pytest.raises(InputError, match=r"row 3 has 4.*\n.*means"):
        outcome.make(name).fit(log_of(ones((2, 2)), np.array([[0.0, 1.0], [4.0, 1.0]])))
    with pytest.raises(InputError, match="not been fitted"):
        outcome.make(name).of(LOG)


@pytest.mark.parametrize(
    "text",
    [
        "logistic_mf(dim=10, penalty=0.85, ridge=4, epochs=30, held_out=0.1, seed=0)",
        "adam_mf(dim=10, rate=0.001, l2=1e-05, steps=5000, batch=256, seed=0)",
    ],
)
def test_canonical_strings(text: str) -> None:
    """Printed in full, parsed back."""
    assert str(outcome.make(text)) == text == str(outcome.make(text.split("(")[0]))


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"logistic_mf({option})"
            for option in ("dim=-1", "penalty=0", "ridge=0", "epochs=0", "held_out=0.9", "seed=-1")
        ),
        *(f"adam_mf({option})" for option in ("dim=0", "rate=0", "l2=-1", "steps=0", "batch=0", "seed=-1")),
    ],
)
def test_impossible_options_are_refused(text: str) -> None:
    """The message names the option."""
    with pytest.raises(InputError, match=text.split("(")[1].split("=")[0]):
        outcome.make(text)


def test_rows_in_any_order() -> None:
    """The fit depends on who did what, not on the order of rows."""
    frame = LOG.to_frame()
    logs = [
        Log.from_frame(f, feedback="conversions") for f in (frame, frame.sample(fraction=1.0, shuffle=True, seed=3))
    ]
    one, other = (LogisticMF(dim=2, epochs=2).fit(log) for log in logs)
    assert (one.of(logs[0]) == other.of(logs[1])).all()
