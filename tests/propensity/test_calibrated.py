"""Calibrated propensities: any propensity, its level set right on pairs that it was not fitted on."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.special import logit

from tests.propensity.worlds import Floats, LogisticWorld, all_pairs, log_of
from tests.said import refuses
from unskew.core.errors import MissingExtraError
from unskew.propensity import Calibrated, Level, Logistic, Popularity, Propensity, Scope
from unskew.propensity.crossfit import crossfitted, unseen_pairs, user_folds

pytest.importorskip("sklearn", reason="no scikit-learn: calibration is not tested")


def log_loss(p: Floats, truth: Floats) -> float:
    """Expected log-loss of p when pairs are seen with the true probabilities."""
    safe = np.clip(p, 1e-12, 1.0 - 1e-12)
    return float(-(truth * np.log(safe) + (1.0 - truth) * np.log1p(-safe)).mean())


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_it_mends_overpenalised_propensities(method: str) -> None:
    """They lie too close to their mean; calibrated, their log-loss falls and their level is right."""
    world = LogisticWorld.draw(300, 120, seed=1, effect=2.5)
    log, truth = log_of(world.seen), world.p.ravel()
    inner = Logistic(c=1e-3)
    before = inner.fit(log, inputs=world.side).predict(*world.pairs)
    fitted = Calibrated(inner, method).fit(log, inputs=world.side)
    after = fitted.predict(*world.pairs)
    assert log_loss(after, truth) < log_loss(before, truth) - 0.003
    assert after.sum() == pytest.approx(world.seen.sum(), rel=0.05)
    assert fitted.level is Level.ABSOLUTE and fitted.fitted and fitted.refers(log) is Scope.TRAIN


@pytest.mark.parametrize(("method", "over"), [("isotonic", "pairs"), ("platt", "pairs"), ("platt", "users")])
def test_it_gives_popularity_a_level(method: str, over: str) -> None:
    """Relative propensities of a log of all seen pairs become absolute: about the share of users who saw each item."""
    rng = np.random.default_rng(2)
    p = np.broadcast_to(rng.uniform(0.02, 0.4, 80), (600, 80))
    seen = rng.random(p.shape) < p
    log = log_of(seen)
    fitted = Calibrated(Popularity(3.0), method, over=over).fit(log)
    found = fitted.of_items(log.items)
    assert found is not None and fitted.level is Level.ABSOLUTE
    assert np.abs(found - p[0]).mean() < 0.03
    np.testing.assert_allclose(fitted.of(log).rows, found[log.item], rtol=1e-12)


def test_crossfitted_propensities_do_not_know_their_own_pair() -> None:
    """Offsets in a world of even exposure: in sample seen pairs look likelier than unseen ones, cross-fitted not."""
    seen = np.random.default_rng(3).random((200, 12)) < 0.3
    log = log_of(seen)
    model = Logistic("none", "user")
    others = unseen_pairs(log, 10**6).pairs
    fitted = model.fit(log)
    assert fitted.of(log).rows.mean() - fitted.of(others).rows.mean() > 0.03
    mine, theirs = crossfitted(model, log, others, 5)
    assert abs(mine.mean() - theirs.mean()) < 0.03


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isotonic: the message says what to install. Platt's curve needs nothing."""
    for name in ("sklearn", "sklearn.isotonic", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    log = log_of(np.random.default_rng(0).random((30, 20)) < 0.3)
    with refuses("missing-extra", MissingExtraError, extra="learn"):
        Calibrated(Popularity(1.0), "isotonic").fit(log)
    assert Calibrated(Popularity(1.0), "platt").fit(log).fitted


@pytest.mark.parametrize("inner", [Popularity(2.0), Logistic(features="none", offsets="item", c=10.0)], ids=str)
def test_platt_is_logistic_regression(inner: Propensity) -> None:
    """scikit-learn's, unpenalised and weighted, on the logit of cross-fitted P, or on the logarithm of relative P."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(4)
    seen = rng.random((150, 40)) < np.linspace(0.02, 0.7, 40)
    log, weights = log_of(seen), rng.integers(1, 4, 150).astype(np.float64)
    fitted = Calibrated(inner.copy(), "platt").fit(log, weights=weights)
    others = unseen_pairs(log, 10**6).pairs

    def scale(p: Floats) -> Floats:
        return np.asarray(logit(p) if fitted.inner.level is Level.ABSOLUTE else np.log(p))[:, None]

    p = np.concatenate(crossfitted(inner.copy(), log, others, 5, weights=weights))
    label = np.repeat([1.0, 0.0], [len(log), len(others)])
    mass = weights[np.concatenate([log.user, others.user])]
    theirs = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000).fit(scale(p), label, sample_weight=mass)
    expected = theirs.predict_proba(scale(fitted.inner.of(log).rows))[:, 1]
    np.testing.assert_allclose(fitted.of(log).rows, expected, rtol=1e-4)


@pytest.mark.parametrize("counts", [[50, 3, 3, 40], [30, 60, 90], [4, 4, 4], [20, 20, 20], [5] * 30, [19, 1, 60, 2]])
def test_every_isotonic_step_rests_on_twenty_seen_pairs(counts: list[int]) -> None:
    """However many pairs share one P: there are as many different P at most as there are twenties of seen pairs. Many
    seen pairs on the rarest item are no empty bin."""
    seen = np.arange(100)[:, None] < np.array(counts)
    fitted = Calibrated(Popularity(1.0), over="users", folds=2).fit(log_of(seen))
    steps = vars(fitted.curve)["y"]
    assert 1 <= len(steps) <= max(1, sum(counts) // 20)
    assert (steps > 0.0).all() and (np.diff(steps) >= 0.0).all()
    assert (fitted.predict(*all_pairs(seen.shape)) > 0.0).all()


def test_folds_over_users_hold_whole_users() -> None:
    """A user's rows are all in one fold, seen or not, and a user's P does not depend on what that user saw."""
    seen = np.random.default_rng(3).random((200, 12)) < 0.3
    log, model = log_of(seen), Popularity(1.0, level=Level.ABSOLUTE)
    others = unseen_pairs(log, 10**6).pairs
    mine, theirs = crossfitted(model, log, others, 4, over="users")
    fold = user_folds(log, 4)
    assert np.bincount(fold).min() > 30
    for user in (0, 7, 120):
        rest = fold != fold[user]
        expected = model.fit(log_of(seen[rest])).of_items(log.items)
        np.testing.assert_allclose(mine[log.user == user], expected[log.item[log.user == user]], rtol=1e-12)
        np.testing.assert_allclose(theirs[others.user == user], expected[others.item[others.user == user]], rtol=1e-12)
