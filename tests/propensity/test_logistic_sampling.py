"""Logistic propensities of large logs: a sample of the unseen pairs instead of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit

from tests.propensity.worlds import Floats, LogisticWorld, log_of, matrix_of
from unskew.propensity import Logistic
from unskew.propensity.crossfit import pair_folds, unseen_pairs


def sampling_shifts(first: int, worlds: int = 12) -> Floats:
    """Per world the level and the slope, along the exact fit, of logit P from a sample less logit P from all pairs."""
    found = []
    for seed in range(first, first + worlds):
        world = LogisticWorld.draw(300, 200, seed=seed, level=-3.0)
        log, model = log_of(world.seen), Logistic(c=10.0)
        exact = logit(matrix_of(model.fit(log, inputs=world.side), world.p.shape)).ravel()
        sampled = replace(model, negatives=3, seed=seed).fit(log, inputs=world.side)
        shift = logit(matrix_of(sampled, world.p.shape)).ravel() - exact
        slope, _ = np.polyfit(exact - exact.mean(), shift, 1)
        found.append([shift.mean(), slope])
    return np.array(found)


def test_sampled_unseen_pairs_agree_with_all() -> None:
    """logit P = logit P̃ + log f: over worlds, the corrected fit agrees with the exact one in level and slope.

    Given what was seen, the two fits need not agree even on average over samples: both are consistent, and each takes
    another part of the chance in what was seen. Over new worlds the mean difference is 0 up to the second-order bias
    of maximum likelihood, at most the 9 parameters over twice the 3,000 seen pairs, 0.002 on the logit scale. Twelve
    worlds give a mean whose error they tell themselves; Student's t with 11 degrees of freedom exceeds 5 in 0.04 % of
    cases.
    """
    found = sampling_shifts(0)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0)) < 5.0 * error + 0.002).all()
    assert (error < 0.02).all()  # without the correction the level is off by log f, about 1.8


def test_sampling_all_unseen_pairs_is_the_exact_fit() -> None:
    """At rate 1 both ways of holding pairs find the same minimum."""
    world = LogisticWorld.draw(40, 30, seed=6, spread=0.5)
    log = log_of(world.seen)
    for offsets in ("none", "user+item"):
        model = Logistic(offsets=offsets)
        sampled = replace(model, negatives=1000).fit(log, inputs=world.side)
        p = matrix_of(model.fit(log, inputs=world.side), world.p.shape)
        np.testing.assert_allclose(matrix_of(sampled, world.p.shape), p, rtol=1e-6)


def test_unseen_pairs_are_unseen_different_and_uniform() -> None:
    """Drawn pairs are not in the log, none twice, and the rate is their share of all unseen pairs."""
    seen = np.random.default_rng(1).random((50, 40)) < 0.3
    log = log_of(seen)
    drawn = unseen_pairs(log, 600)
    hit = np.zeros_like(seen)
    hit[drawn.pairs.user, drawn.pairs.item] = True
    assert hit.sum() == len(drawn.pairs) and not (hit & seen).any()
    assert drawn.rate == pytest.approx(hit.sum() / (~seen).sum()) and 0.25 < drawn.rate < 0.45
    assert len(unseen_pairs(log, 10**6).pairs) == (~seen).sum()


def test_folds_depend_on_the_pair_alone() -> None:
    """A pair is in the same fold seen or unseen, alone or among others."""
    every = log_of(np.ones((30, 20), dtype=bool))
    some = np.random.default_rng(0).random(600) < 0.2
    np.testing.assert_array_equal(pair_folds(every, 5)[some], pair_folds(every.take(some), 5))
    assert np.bincount(pair_folds(every, 5)).min() > 80
