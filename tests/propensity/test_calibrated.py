"""Calibrated propensities: any propensity, its level set right on pairs that it was not fitted on."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import logit

from tests.propensity.worlds import Floats, LogisticWorld, all_pairs, log_of
from unskew import propensity
from unskew.errors import InputError, MissingExtraError
from unskew.propensity import Calibrated, Level, Logistic, Popularity, Propensity, Scope
from unskew.propensity.crossfit import crossfitted, unseen_pairs, user_folds

pytest.importorskip("sklearn", reason="scikit-learn is not there: calibration is not tested")


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


def test_isotonic_learns_any_rising_curve() -> None:
    """Where exposure jumps at a threshold of the covariates, most of a logistic curve's excess log-loss goes away."""
    world = LogisticWorld.draw(400, 150, seed=2)
    p = np.where(world.p > np.median(world.p), 0.5, 0.05)
    log = log_of(np.random.default_rng(0).random(p.shape) < p)
    inner, truth = Logistic(c=10.0), p.ravel()
    before = inner.fit(log, inputs=world.side).predict(*world.pairs)
    after = Calibrated(inner).fit(log, inputs=world.side).predict(*world.pairs)
    least = log_loss(truth, truth)
    assert log_loss(after, truth) - least < 0.5 * (log_loss(before, truth) - least)


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_it_gives_popularity_a_level(method: str) -> None:
    """Relative propensities of a log of all seen pairs become absolute: about the share of users who saw each item."""
    rng = np.random.default_rng(2)
    p = np.broadcast_to(rng.uniform(0.02, 0.4, 80), (600, 80))
    seen = rng.random(p.shape) < p
    log = log_of(seen)
    fitted = Calibrated(Popularity(3.0), method).fit(log)
    found = fitted.of_items(log.items)
    assert found is not None and fitted.level is Level.ABSOLUTE
    assert np.abs(found - p[0]).mean() < 0.03
    np.testing.assert_allclose(fitted.of(log).rows, found[log.item], rtol=1e-12)


def test_implicit_logs_stay_relative() -> None:
    """Clicks mix seeing and liking, and no calibration parts them."""
    seen = np.random.default_rng(0).random((60, 30)) < 0.3
    fitted = Calibrated(Popularity(1.0), "platt").fit(log_of(seen, feedback="implicit"))
    assert fitted.level is Level.RELATIVE


def test_the_level_of_clicks_is_kept_as_well() -> None:
    """Cross-fitted propensities of an implicit log sum to its rows, as those of any log: relative or not, P is that of
    being in a log of (k−1)/k of the rows. The curve then leaves right propensities as they are."""
    seen = np.random.default_rng(1).random((300, 30)) < np.linspace(0.02, 0.4, 30)
    sums = {}
    for feedback in ("implicit", "conversions"):
        log = log_of(seen, feedback=feedback)
        model = Logistic(features="none", offsets="item")
        mine, theirs = crossfitted(model, log, unseen_pairs(log, 10**6).pairs, 5)
        sums[feedback] = mine.sum() + theirs.sum()
        everywhere = Calibrated(model, "platt").fit(log).predict(*all_pairs(seen.shape))
        assert everywhere.sum() == pytest.approx(seen.sum(), rel=0.01)
    assert sums["implicit"] == pytest.approx(sums["conversions"], rel=1e-12)
    assert sums["implicit"] == pytest.approx(seen.sum(), rel=0.01)


def test_weights_equal_repetition_in_the_curve() -> None:
    """Weights of 2 for everybody change nothing in the curve of a model that they do not change either."""
    seen = np.random.default_rng(0).random((60, 30)) < np.linspace(0.05, 0.5, 30)
    log = log_of(seen)
    for method in ("isotonic", "platt"):
        model = Calibrated(Popularity(1.0), method)
        twice = model.fit(log, weights=np.full(60, 2.0)).of(log).rows
        np.testing.assert_allclose(twice, model.fit(log).of(log).rows, rtol=1e-4)


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


def test_isotonic_never_says_never() -> None:
    """Pairs below everything that was seen get the lowest bin, which holds seen pairs; rows to be dropped stay so."""
    seen = np.zeros((50, 10), dtype=bool)
    seen[:, :3] = np.random.default_rng(0).random((50, 3)) < 0.6
    fitted = Calibrated(Popularity(1.0)).fit(log_of(seen))
    assert (fitted.of(log_of(~seen)).rows > 0.0).all()
    dropping = Calibrated(Popularity(1.0, "drop")).fit(log_of(seen)).of(log_of(~seen))
    assert np.isnan(dropping.rows).any() and np.isfinite(dropping.rows).any()


@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize("seen", [np.ones((6, 5), dtype=bool), np.arange(30).reshape(6, 5) == 4, np.ones((1, 4), bool)])
def test_extreme_logs_get_an_answer(method: str, seen: npt.NDArray[np.bool_]) -> None:
    """Everything seen, one row, one user: numbers in (0, 1], or a sentence."""
    try:
        rows = Calibrated(Popularity(1.0), method, folds=2).fit(log_of(seen)).of(log_of(seen)).rows
    except InputError as error:
        assert "training" in str(error)
        return
    assert ((rows > 0.0) & (rows <= 1.0)).all()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (
            "calibrated(logistic(features=outer), method=platt)",
            "calibrated(logistic(features=outer, offsets=none, c=auto), method=platt)",
        ),
        ("calibrated(popularity(gamma=1))", "calibrated(popularity(gamma=1), method=isotonic)"),
        (
            "calibrated(popularity(gamma=1), method=platt, over=users)",
            "calibrated(popularity(gamma=1), method=platt, over=users)",
        ),
        (
            "calibrated(logistic(features=none, offsets=user+item), folds=3)",
            "calibrated(logistic(features=none, offsets=user+item, c=auto, free=yes), method=isotonic, folds=3)",
        ),
    ],
)
def test_strings_read_back(text: str, printed: str) -> None:
    """What is printed parses to the same model."""
    model = propensity.make(text)
    assert str(model) == printed and propensity.make(printed) == model and not model.fitted and model.estimated


def test_what_it_refuses() -> None:
    """Propensities that are not fitted, or that need a value, cannot be calibrated; options are checked."""
    for text in ("calibrated(known)", "calibrated(uniform)"):
        with pytest.raises(InputError, match="nothing to calibrate"):
            propensity.make(text)
    with pytest.raises(InputError, match="unseen pairs have none"):
        propensity.make("calibrated(naive_bayes)")
    with pytest.raises(InputError, match="needs a propensity"):
        propensity.make("calibrated")
    with pytest.raises(InputError, match="isotonic or platt"):
        propensity.make("calibrated(popularity, method=beta)")
    with pytest.raises(InputError, match="pairs or users"):
        propensity.make("calibrated(popularity, over=items)")
    with pytest.raises(InputError, match="at least 2"):
        propensity.make("calibrated(popularity, folds=1)")
    with pytest.raises(InputError, match="train="):
        propensity.make("calibrated(popularity)").of(log_of(np.eye(3, dtype=bool)))


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isotonic: the message says what to install. Platt's curve needs nothing."""
    for name in ("sklearn", "sklearn.isotonic", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    log = log_of(np.random.default_rng(0).random((30, 20)) < 0.3)
    with pytest.raises(MissingExtraError, match=r"\.\[learn\]"):
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


@pytest.mark.parametrize("counts", [[50, 3, 3, 40], [4, 4, 4], [20, 20, 20], [5] * 30, [19, 1, 60, 2, 39, 1]])
def test_every_isotonic_step_rests_on_twenty_seen_pairs(counts: list[int]) -> None:
    """However many pairs share one P: there are as many different P at most as there are twenties of seen pairs."""
    seen = np.arange(100)[:, None] < np.array(counts)
    fitted = Calibrated(Popularity(1.0), over="users", folds=2).fit(log_of(seen))
    steps = vars(fitted.curve)["y"]
    assert 1 <= len(steps) <= max(1, sum(counts) // 20)
    assert (steps > 0.0).all() and (np.diff(steps) >= 0.0).all()
    assert (fitted.predict(*all_pairs(seen.shape)) > 0.0).all()


def test_ties_below_the_first_edge_are_no_empty_bin() -> None:
    """Many seen pairs on the rarest item, and no pair below it: the curve exists."""
    seen = np.zeros((100, 3), dtype=np.bool_)
    for item, count in enumerate((30, 60, 90)):
        seen[:count, item] = True
    rows = Calibrated(Popularity(1.0)).fit(log_of(seen)).of(log_of(seen)).rows
    assert ((rows > 0.0) & (rows <= 1.0)).all()


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


def test_folds_over_users_agree_with_folds_over_pairs() -> None:
    """Where users are alike both ways of cross-fitting give the same level, to a hundredth."""
    rng = np.random.default_rng(2)
    p = np.broadcast_to(rng.uniform(0.05, 0.4, 60), (800, 60))
    log = log_of(rng.random(p.shape) < p)
    by_pairs, by_users = (
        Calibrated(Popularity(2.0), "platt", over=over).fit(log).of_items(log.items) for over in ("pairs", "users")
    )
    assert by_pairs is not None and by_users is not None
    np.testing.assert_allclose(by_users, by_pairs, atol=0.01)


@pytest.mark.parametrize(
    "text", ["logistic(features=none, offsets=user+item)", "logistic(features=none, offsets=user)", "logistic_mf"]
)
def test_folds_over_users_are_refused_where_users_have_parameters(text: str) -> None:
    """Nobody else tells a user's offset or factors: the sentence says so and names over=pairs."""
    with pytest.raises(InputError, match="over=pairs"):
        propensity.make(f"calibrated({text}, method=platt, over=users)")
    log = log_of(np.eye(5, dtype=np.bool_))
    with pytest.raises(InputError, match="over=pairs"):
        crossfitted(propensity.make(text), log, log, 2, over="users")
