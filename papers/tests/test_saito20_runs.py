"""One run of each kind against its protocol, written out step by step."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from papers.tests.saito20_worlds import SMALL, as_coded, ids, measured
from unskew.log import Feedback, Ids, Log
from unskew_papers.arrays import Floats, starts_of
from unskew_papers.kernels import adam
from unskew_papers.models import Factors
from unskew_papers.models.adam import AdamMF, factorise
from unskew_papers.saito20 import real, redraws, semi
from unskew_papers.saito20.real import Real
from unskew_papers.saito20.world import World

BOUNDS = (0.01, 0.1, 0.25, 0.4, 0.6, 0.8, 1.0)


def log_of(pairs: list[tuple[int, int]], users: Ids, items: Ids) -> Log:
    """Positive pairs as a log; they come user by user."""
    counts = [sum(u == user for u, _ in pairs) for user in range(len(users))]
    item = np.array([i for _, i in pairs], dtype=np.int32)
    return Log(users, items, starts_of(np.array(counts)), item, feedback=Feedback.IMPLICIT)


def scores_of(pairs: list[tuple[int, int]], users: Ids, items: Ids, seed: int) -> list[Any]:
    """What every candidate learns from these pairs: four losses × one size × two penalties."""
    log, shape, found = log_of(pairs, users, items), (len(users), len(items)), []
    for loss in ("logistic", "bpr", "warp", "warp-kos"):
        for l2 in (1e-2, 1e-4):
            model = Factors(3, loss, rate=0.05, l2=l2, epochs=5, seed=seed).fit(log)
            every = model.scores(np.repeat(users.values, shape[1]), np.tile(items.values, shape[0]))
            found.append(every.reshape(shape))
    return found


def ranked(score: Any, k: int) -> list[list[int]]:
    """The k best items of every user."""
    assert all(len(set(row)) == len(row) for row in score), "a tie: take another seed"
    return [sorted(range(len(row)), key=lambda i: -row[i])[:k] for row in score]


def test_a_run_in_a_known_world_is_its_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists and errors of ``semi``, from rates and draws, by loops; the mean of three redraws."""
    rng = np.random.default_rng(30)
    users, items, seed, power = ids(22), ids(18), 3, 1.5
    world = World(users, items, rng.uniform(1.0, 5.0, (22, 18)), rng.uniform(0.2, 0.95, (22, 18)))
    listed_items = semi.lists_of(world, power, seed, SMALL)
    monkeypatch.setattr(semi, "redrawn", partial(redraws.redrawn, draws=3))
    found = semi.one_run(world, power, seed, listed_items.astype(np.int32))
    pairs = [(u, i) for u in range(22) for i in range(18)]
    cvr, ctr, p = (np.empty((22, 18)) for _ in range(3))
    for pair in pairs:
        cvr[pair] = 0.1 + 0.9 * (2 ** (world.rating[pair] - 1) - 1) / (2 ** (world.rating.max() - 1) - 1)
        ctr[pair] = world.rated[pair] ** power
        p[pair] = 0.3 * ctr[pair]  # a validation click: clicked, and not in the 70 % of training
    drawn = world.draw(power, seed)
    learnt = [pair for pair in pairs if drawn.train[pair] and drawn.converted[pair]]
    lists = [ranked(score, 10) for score in scores_of(learnt, users, items, seed)]
    assert listed_items.tolist() == lists
    draws, guesses = np.random.default_rng([seed, 2]), []
    for bound in BOUNDS:
        noise = draws.uniform(-bound, bound, (22, 18))
        guesses.append([[min(max(cvr[u, i] + noise[u, i], 0), 1) for i in range(18)] for u in range(22)])

    def contributions(z: Any, y: Any) -> list[Any]:
        """naive, ips, and dr by guess."""
        made = [np.zeros((22, 18)) for _ in range(2 + len(guesses))]
        for pair in pairs:
            made[0][pair] = y[pair] if z[pair] else 0.0
            made[1][pair] = y[pair] / p[pair] if z[pair] else 0.0
            for q, x in zip(guesses, made[2:], strict=True):
                guess = q[pair[0]][pair[1]]
                x[pair] = guess + ((y[pair] - guess) / p[pair] if z[pair] else 0.0)
        return made

    def relative(estimate: Any, truth: Any) -> list[float]:
        """By metric."""
        return [
            math.sqrt(sum(((e - t) / t) ** 2 for e, t in zip(*both, strict=True)) / 8)
            for both in zip(estimate, truth, strict=True)
        ]

    assert set(found) == {"plain", "coded", "pair", "listed", "trained", "idle"}
    of_list = [(u, i) for each in lists for u in range(22) for i in each[u]]
    assert found["listed"] == pytest.approx(sum(cvr[pair] for pair in of_list) / (8 * 22 * 10))
    assert 0.0 < found["trained"] == pytest.approx(sum(drawn.train[pair] for pair in of_list) / (8 * 22 * 10))
    converted = {u for u, i in pairs if drawn.validation[u, i] and drawn.converted[u, i]}
    assert found["idle"] == pytest.approx(1 - len(converted) / 22)

    listed = sorted(set(of_list))
    truth, draws, total = measured(cvr, lists, (5, 10))[0], np.random.default_rng([seed, 4]), np.zeros((9, 4))
    for _ in range(3):
        z, y = np.zeros((22, 18), dtype=bool), np.zeros((22, 18))
        for pair, chance in zip(listed, draws.random(len(listed)), strict=True):
            z[pair] = not drawn.train[pair] and chance < 0.3 * ctr[pair] / (1.0 - 0.7 * ctr[pair])
        clicked = [pair for pair in listed if z[pair]]
        for pair, chance in zip(clicked, draws.random(len(clicked)), strict=True):
            y[pair] = chance < cvr[pair]
        total += [relative(measured(x, lists, (5, 10))[0], truth) for x in contributions(z, y)]
    np.testing.assert_allclose(found["plain"], total / 3, rtol=1e-5)

    z, y, one, nothing = drawn.validation, drawn.converted.astype(float), np.ones((22, 18)), np.zeros((22, 18))
    truth = as_coded(np.zeros((22, 18), dtype=bool), y, one, cvr, lists, (5, 10))
    for line, (p_, q_) in enumerate(((one, nothing), (p, nothing))):
        expected = relative(as_coded(z, y, p_, q_, lists, (5, 10)), truth)
        np.testing.assert_allclose(found["coded"][line], expected, rtol=1e-7)
    for b, q in enumerate(guesses):
        expected = relative(as_coded(z, y, p, q, lists, (5, 10)), truth)
        np.testing.assert_allclose(found["pair"][b], expected, rtol=1e-7)
    noise = np.random.default_rng([seed, 5]).uniform(-1.0, 1.0, (22, 7, 4, 8))
    for b, bound in enumerate(BOUNDS):
        for metric, which in enumerate((0, 1, 2, 3, 2, 3)):  # one number per user, metric and model
            each = []
            for m in range(8):
                q = [[min(max(cvr[u, i] + bound * noise[u, b, which, m], 0), 1) for i in range(18)] for u in range(22)]
                each.append(as_coded(z, y, p, q, lists[m : m + 1], (5, 10))[metric, 0])
            expected = relative([each], truth[metric : metric + 1])
            assert found["coded"][2 + b, metric] == pytest.approx(expected[0], rel=1e-7)


def test_a_run_on_a_real_set_is_its_protocol() -> None:
    """Every array of ``real.one_run``: the split, lists at random and mended, p and q in and out of sample."""
    rng = np.random.default_rng(31)
    users, items, seed = ids(15), ids(56), 4
    clicked = rng.random((15, 56)) < 0.6
    data = Real(users, items, clicked, clicked & (rng.random((15, 56)) < 0.5), rng.random((15, 56)) < 0.2)
    found = real.one_run(data, seed, SMALL)
    pairs = [(u, i) for u in range(15) for i in range(56)]
    draws = np.random.default_rng([seed, 0])
    held = {pairs[place] for place in draws.permutation(840)[:252]}  # 30 %
    scores = scores_of([pair for pair in pairs if data.converted[pair] and pair not in held], users, items, seed)
    right = [ranked(score, 50) for score in scores]
    other_user, other_item = draws.permutation(15), draws.permutation(56)
    mixed = [ranked([[score[other_user[u], other_item[i]] for i in range(56)] for u in range(15)], 50)
             for score in scores]  # fmt: skip

    z, y, test = np.zeros((15, 56), dtype=bool), np.zeros((15, 56)), np.zeros((15, 56))
    for pair in pairs:
        z[pair] = data.clicked[pair] and pair in held
        y[pair] = 1.0 if data.converted[pair] and pair in held else 0.0
        test[pair] = 1.0 if data.test[pair] else 0.0

    def fitted(rows: list[tuple[int, int]], outcome: Any, weight: list[float]) -> Any:
        """Logistic factorisation by Adam, of every pair (itself tested in tests/outcome)."""
        user, item = (np.array(codes, dtype=np.int32) for codes in zip(*rows, strict=True))
        value = np.array([float(outcome[pair]) for pair in rows])
        left, across, level = factorise(user, item, value, np.array(weight), (15, 56), AdamMF(seed=seed))
        out = np.empty((15, 56))
        for u, i in pairs:
            inner = sum(a * b for a, b in zip(left[u, :-1], across[i, :-1], strict=True))
            out[u, i] = 1.0 / (1.0 + math.exp(-(inner + left[u, -1] + across[i, -1] + level)))
        return out

    p = fitted(pairs, z, [1.0] * 840)
    seen = [pair for pair in pairs if z[pair]]
    q = fitted(seen, y, [1.0 / p[pair] for pair in seen])  # Eq. 8

    def contributions(p: Any, q: Any) -> list[Any]:
        made = [np.zeros((15, 56)) for _ in range(3)]
        for pair in pairs:
            made[0][pair] = y[pair] if z[pair] else 0.0
            made[1][pair] = y[pair] / p[pair] if z[pair] else 0.0
            made[2][pair] = q[pair] + ((y[pair] - q[pair]) / p[pair] if z[pair] else 0.0)
        return made

    ours = contributions(*real.out_of_sample(z, y, users, items))
    one, nothing, cuts = np.ones((15, 56)), np.zeros((15, 56)), (5, 10, 50)
    assert set(found) == {"truth", "estimate", "slipped_truth", "slipped"}
    for protocol, lists in enumerate((mixed, right)):
        truth = as_coded(data.test, test, one, nothing, lists, cuts)
        np.testing.assert_allclose(found["truth"][protocol], truth[:6])
        for e, (p_, q_) in enumerate(((one, nothing), (p, nothing), (p, q))):
            expected = as_coded(z, y, p_, q_, lists, cuts)
            np.testing.assert_allclose(found["estimate"][protocol, e], expected[:6], rtol=1e-7)
            if protocol == 0:
                np.testing.assert_allclose(found["slipped_truth"], truth[6:])
                np.testing.assert_allclose(found["slipped"][e], expected[6:], rtol=1e-7)
    np.testing.assert_allclose(found["truth"][2], measured(test, right, cuts)[1])
    for e, x in enumerate(ours):
        np.testing.assert_allclose(found["estimate"][2, e], measured(x, right, cuts)[1], rtol=1e-7)


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
