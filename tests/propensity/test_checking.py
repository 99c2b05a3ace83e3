"""The checks on propensities: right ones pass, wrong ones are flagged, and every number is the obvious one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.log import Log
from unskew.propensity import Known, Popularity, Uniform, check

USERS, ITEMS = 400, 60


def shop(activity: float = 0.0, skew: float = 1.0, seed: int = 0, users: int = USERS) -> tuple[Log, np.ndarray]:
    """A log of seen pairs with outcomes; P = item exposure × user activity, known."""
    rng = np.random.default_rng(seed)
    exposure = 0.5 / (1.0 + np.arange(ITEMS)) ** (skew / 2.0)
    active = np.exp(activity * rng.normal(size=users))
    p = np.clip(exposure[None, :] * active[:, None], 0.0, 0.95)
    user, item = np.nonzero(rng.random(p.shape) < p)
    frame = pl.DataFrame(
        {"user": user, "item": item, "value": rng.integers(0, 2, len(user)), "propensity": p[user, item]}
    )
    return Log.from_frame(frame, feedback="conversions"), p


def test_right_propensities_pass() -> None:
    """Popularity with γ = 1 is right where exposure is per item and liking is independent: nothing is flagged."""
    log, _ = shop(users=3_000)
    found = check(Popularity(1.0), log)["popularity(gamma=1)"]
    assert found.findings == ()
    assert found.log_loss is not None and found.log_loss < found.log_loss_constant


def test_users_who_differ_are_flagged() -> None:
    """Popularity knows nothing of activity: the balance over tenths of the users says so."""
    log, _ = shop(activity=1.0)
    found = check(Popularity(1.0), log).checks[0]
    assert any("users by activity" in words for words in found.findings)


def test_items_that_differ_are_flagged() -> None:
    """Uniform propensities miss that some items were shown more; a wrong power of popularity does too."""
    log, _ = shop()
    found = check({"uniform": Uniform(), "wrong": Popularity(4.0), "right": Popularity(1.0)}, log)
    assert any("items by popularity" in words for words in found["uniform"].findings)
    assert any("items by popularity" in words for words in found["wrong"].findings)
    losses = {c.propensity: c.log_loss for c in found.checks}
    assert losses["right"] < min(losses["uniform"], losses["wrong"])  # type: ignore[operator, type-var]


def test_known_propensities_are_judged_by_their_weights() -> None:
    """A column exists for seen pairs only: ess, largest weight, overlap and clips are those of the column."""
    log, _ = shop(skew=2.0)
    found = check(Known(), log).checks[0]
    inverse = 1.0 / np.asarray(log.propensity)
    assert found.log_loss is None and found.reliability == ()
    assert found.ess == pytest.approx(inverse.sum() ** 2 / (inverse**2).sum())
    assert found.max_weight_share == pytest.approx(inverse.max() / inverse.sum())
    assert found.clips["0.05"] == pytest.approx(np.mean(np.asarray(log.propensity) < 0.05))
    assert sum(n for _, n in found.overlap) == len(log)


def test_a_sample_of_unseen_pairs_stands_for_all() -> None:
    """Drawing 5,000 unseen pairs gives the log-loss of all of them within five standard errors."""
    log, _ = shop()
    every, some = (check(Popularity(1.0), log, pairs=pairs).checks[0].log_loss for pairs in (10**6, 5_000))
    assert every is not None and some == pytest.approx(every, rel=0.05)


def test_refitting_widens_intervals_of_estimated_propensities() -> None:
    """Popularity from few training users: the refitted standard error is clearly larger, the estimate the same."""
    log, _ = shop(seed=1)
    few = log.take(log.user < 40)
    many = log.take(log.user >= 40)
    lists = pl.DataFrame(
        {
            "user": np.repeat(np.arange(USERS), 10),
            "item": np.tile(np.arange(10), USERS),
            "rank": np.tile(np.arange(1, 11), USERS),
        }
    )
    rows = {}
    for refit in (False, True):
        result = us.evaluate(
            many, {"m": lists}, metrics=["recall@10"], estimators=["snips"], target="pooled", seen=few, share="users",
            propensity="popularity(gamma=1)", interval="bootstrap", replicates=200, refit=refit, candidates="all",
        )  # fmt: skip
        rows[refit] = result.estimates[0]
    assert rows[True].value == rows[False].value
    assert rows[True].se > 1.5 * rows[False].se


def test_refit_needs_a_bootstrap_and_something_to_fit() -> None:
    """Without replicates, or with known propensities, there is nothing to fit anew."""
    log, _ = shop()
    lists = pl.DataFrame({"user": [0], "item": [0], "rank": [1]})
    with pytest.raises(us.InputError, match="--interval bootstrap"):
        us.evaluate(log, {"m": lists}, propensity="known", refit=True)
    with pytest.raises(us.InputError, match="needs a propensity that is fitted"):
        us.evaluate(log, {"m": lists}, propensity="known", refit=True, interval="bootstrap", replicates=50)
