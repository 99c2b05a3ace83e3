"""Any scikit-learn model on covariates."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.outcome.worlds import World, all_pairs, features_of, log_of
from tests.said import refuses
from unskew import outcome
from unskew.core.errors import InputError, MissingExtraError
from unskew.outcome import Learned, Means
from unskew.propensity import FitInputs

sklearn = pytest.importorskip("sklearn", reason="no scikit-learn: learned outcomes are not tested")

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(200, 2)), RNG.normal(size=(80, 2))
SIDE = FitInputs(user_features=features_of(X, "user"), item_features=features_of(Z, "item"))
CHANCE = 1.0 / (1.0 + np.exp(-(X[:, :1] + Z[:, 0] - 0.5)))
SEEN = RNG.random(CHANCE.shape) < 0.05 + 0.3 * CHANCE
Y = (RNG.random(CHANCE.shape) < CHANCE).astype(np.float64)
LOG = log_of(SEEN, Y)
WORLD = World(CHANCE, 0.05 + 0.3 * CHANCE, SEEN, Y)
P = WORLD.p[SEEN]


@pytest.mark.parametrize("text", ["sklearn(LogisticRegression)", "sklearn(Ridge, alpha=2)"])
def test_covariates_tell_what_means_cannot(text: str) -> None:
    """Where covariates decide, a learner comes nearer the truth than means; q of pairs is the model's own."""
    found = outcome.make(text).fit(LOG, propensity=P, inputs=SIDE)
    assert isinstance(found, Learned)
    q = found.predict(*all_pairs(CHANCE.shape))
    assert WORLD.error(q) < 0.5 * WORLD.error(Means().fit(LOG, propensity=P).predict(*all_pairs(CHANCE.shape)))
    assert str(found) == text
    x = np.hstack([X[[3]], Z[[7]]])
    own = found.found.predict_proba(x)[0, 1] if hasattr(found.found, "predict_proba") else found.found.predict(x)[0]
    assert found.predict([3], [7])[0] == own
    assert found.unknown(LOG) == 0


def test_rows_weigh_one_over_p() -> None:
    """Against scikit-learn, called by hand with the weights."""
    from sklearn.linear_model import LogisticRegression

    found = Learned(LogisticRegression()).fit(
        LOG, propensity=P, inputs=SIDE, weights=(np.arange(200) % 3).astype(np.float64)
    )
    weight = (1.0 / P) * (np.arange(200) % 3)[LOG.user]
    keep = weight > 0.0
    scale = (np.arange(200) % 3)[LOG.user].sum() / weight.sum()
    x = np.hstack([X[LOG.user], Z[LOG.item]])
    by_hand = LogisticRegression().fit(x[keep], Y[SEEN][keep], sample_weight=scale * weight[keep])
    np.testing.assert_allclose(found.of(LOG), by_hand.predict_proba(x)[:, 1], rtol=1e-6)


def test_regressors_take_graded_outcomes_and_stay_at_least_0() -> None:
    """A linear model goes below 0 somewhere; q does not."""
    from sklearn.linear_model import LinearRegression

    graded = log_of(SEEN, Y * RNG.integers(1, 6, Y.shape))
    found = Learned(LinearRegression()).fit(graded, inputs=SIDE)
    q = found.predict(*all_pairs(CHANCE.shape))
    assert (q >= 0.0).all() and (q == 0.0).any() and q.max() > 1.0


def test_mistakes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No covariates, graded outcomes for a classifier, one class, no weights, no model."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsRegressor

    model = Learned(LogisticRegression())
    with refuses("missing-argument"):
        model.fit(LOG)
    with refuses("graded-outcomes"):
        model.fit(log_of(SEEN, 2.0 * Y), inputs=SIDE)
    with refuses("all-alike"):
        model.fit(log_of(SEEN, np.ones_like(Y)), inputs=SIDE)
    with refuses("no-weights"):
        Learned(KNeighborsRegressor()).fit(LOG, propensity=P, inputs=SIDE)
    with refuses("wrong-type"):
        Learned("LogisticRegression")
    with refuses("unknown-id", ids=1):
        model.fit(LOG, inputs=SIDE).predict([999], [1])
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with refuses("missing-extra", MissingExtraError, extra="learn"):
        outcome.make("sklearn(LogisticRegression)")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sklearn(LogisticRegresion)", "LogisticRegresion"),
        ("sklearn(LogisticRegression, C=-1)", "'C'"),
        ("sklearn(RandomForestClassifier, n_estimators=0)", "'n_estimators'"),
        ("sklearn(VotingClassifier)", "estimators"),
    ],
)
def test_options_that_scikit_learn_refuses_are_named(text: str, named: str) -> None:
    """When they are written, not after everything has been read and aligned."""
    with pytest.raises(InputError) as caught:
        outcome.make(text)
    assert caught.value.code and named in str(caught.value)
