"""Cross-fitting over pairs, totals, and the claim that they are for: doubly robust estimates without bias."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from tests.outcome.worlds import Floats, World, all_pairs, log_of
from unskew.log import Log
from unskew.outcome import LogisticMF, Means, Outcome, base, crossfit
from unskew.propensity.crossfit import pair_folds

WORLD = World.draw(80, 40, rate=0.8)
LOG, P = WORLD.log, WORLD.p[WORLD.seen]
ALL = all_pairs(WORLD.p.shape)
EVERY = log_of(np.ones_like(WORLD.seen), WORLD.y)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("inner", [Means(), LogisticMF(dim=2, epochs=3)])
def test_each_pair_is_answered_by_the_model_that_did_not_see_it(inner: Outcome, seed: int) -> None:
    """Fold by fold, for seen and unseen pairs, whatever the seed of the folds."""
    found = crossfit(inner, LOG, folds=3, propensity=P, seed=seed)
    fold, seen_fold = pair_folds(EVERY, 3, seed), pair_folds(LOG, 3, seed)
    assert seed == 0 or (fold != pair_folds(EVERY, 3)).mean() > 0.5
    expected = np.empty(len(EVERY))
    for k in range(3):
        model = inner.fit(LOG.take(seen_fold != k), propensity=P[seen_fold != k])
        expected[fold == k] = model.of(EVERY)[fold == k]
    assert (found.of(EVERY) == expected).all()
    assert (found.predict(*ALL) == expected).all()
    assert (found.of(LOG) == expected[WORLD.seen.ravel()]).all()


def expectation(chance: Floats, p: Floats, worth: Floats, fit: Callable[[Log, Floats], Outcome]) -> float:
    """E[ Σ (q + O r (y − q)) worth ], by going through every state of every pair: unseen, seen 0, seen 1.

    Pairs with p = 1 and chance 0 or 1 have one state, so that models always have rows.
    """
    states = []
    for m, chance_seen in zip(chance.ravel(), p.ravel(), strict=True):
        each = [(0, 0.0, 1.0 - chance_seen), (1, 0.0, chance_seen * (1.0 - m)), (1, 1.0, chance_seen * m)]
        states.append([state for state in each if state[2] > 0.0])
    total, mass = 0.0, 0.0
    every = log_of(np.ones(p.shape, dtype=np.bool_), np.zeros(p.shape))
    for world in itertools.product(*states):
        seen = np.array([s for s, _, _ in world], dtype=np.bool_).reshape(p.shape)
        y = np.array([v for _, v, _ in world]).reshape(p.shape)
        q = fit(log_of(seen, y), p[seen]).of(every).reshape(p.shape)
        probability = float(np.prod([chance for _, _, chance in world]))
        total += probability * float(((q + seen / p * (y - q)) * worth).sum())
        mass += probability
    assert mass == pytest.approx(1.0)
    return total


CHANCE = np.array([[1.0, 0.3, 0.6], [0.2, 0.0, 0.7], [0.5, 1.0, 0.0]])
SHOWN = np.array([[1.0, 0.4, 0.5], [0.3, 1.0, 0.6], [0.5, 1.0, 1.0]])
WORTH = np.array([[1.0, 0.6, 0.0], [1.0, 0.6, 0.5], [0.6, 0.0, 1.0]])


@pytest.mark.parametrize("model", [Means(shrink=1.0), Means(shrink=0.0), LogisticMF(dim=1, epochs=1)])
def test_in_sample_fits_bias_the_doubly_robust_estimate_and_pair_folds_do_not(model: Outcome) -> None:
    """All 3^5 outcomes of five uncertain pairs: E[dr] is off by more than 1 % in sample, by nothing with pair folds."""
    truth = float((CHANCE * WORTH).sum())
    inside = expectation(CHANCE, SHOWN, WORTH, lambda log, p: model.fit(log, propensity=p))
    folded = expectation(CHANCE, SHOWN, WORTH, lambda log, p: crossfit(model, log, folds=2, propensity=p))
    assert abs(inside - truth) > 0.01 * truth
    assert folded == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("found", [crossfit(LogisticMF(dim=2, epochs=2), LOG), Means().fit(LOG)])
def test_totals_add_up_the_candidates(found: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """All items, or all but the seen ones; blocks and threads change nothing, unknown users and items count."""
    q = found.predict(*ALL).reshape(WORLD.p.shape)
    np.testing.assert_allclose(found.totals(LOG.users, LOG.items), q.sum(axis=1), rtol=1e-12)
    open_ones = found.totals(LOG.users, LOG.items, seen=LOG)
    np.testing.assert_allclose(open_ones, np.where(WORLD.seen, 0.0, q).sum(axis=1), rtol=1e-12)
    monkeypatch.setattr(base, "CELLS", 90)
    assert (found.totals(LOG.users, LOG.items, seen=LOG, threads=1) == open_ones).all()
    strangers = log_of(np.ones((90, 45), dtype=np.bool_), np.zeros((90, 45)))
    wider = found.totals(strangers.users, strangers.items, seen=LOG)
    matrix = found.of(strangers).reshape(90, 45)
    matrix[:80, :40][WORLD.seen] = 0.0
    np.testing.assert_allclose(wider, matrix.sum(axis=1), rtol=1e-12)


def test_only_what_all_models_know_is_known() -> None:
    """A user whose single row lies in a fold is unknown to that fold's model."""
    seen = WORLD.seen.copy()
    seen[3] = False
    seen[3, 5] = True
    found = crossfit(Means(), log_of(seen, WORLD.y))
    users, _ = found.known(LOG.users, LOG.items)
    assert not users[3] and users[np.diff(LOG.indptr) > 10].all()
