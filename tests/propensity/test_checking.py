"""The checks on propensities: right ones pass, wrong ones are flagged, and every number is the obvious one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from unskew.core.notice import codes
from unskew.log import Log
from unskew.propensity import FitInputs, Level, Popularity, check
from unskew.propensity.base import pairs_log
from unskew.propensity.crossfit import pair_folds

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


def test_users_who_differ_are_flagged_where_it_matters() -> None:
    """Popularity knows nothing of activity. Relative, that is a note: a factor per user cancels in per-user ratios.
    Absolute, it is a finding."""
    log, _ = shop(activity=1.0)
    relative, absolute = check([Popularity(1.0), Popularity(1.0, level=Level.ABSOLUTE)], log).checks
    assert "users-unbalanced" not in codes(relative.findings) and codes(relative.notes) == ("user-factor",)
    assert "users-unbalanced" in codes(absolute.findings) and absolute.notes == ()


@pytest.mark.parametrize("seed", range(4))
def test_known_propensities_of_a_split_log_are_right_in_its_parts(seed: int) -> None:
    """P of the whole log, on the whole, its training and its test part: no finding, and Σ 1/(P·share) is all pairs."""
    log, _ = shop(users=1_000, seed=seed)
    train, test = us.split.holdout(log, 0.3, seed=seed)
    for part in (log, train, test):
        found = check("known", part).checks[0]
        assert found.findings == ()
        assert found.implied_pairs == pytest.approx(found.pairs, rel=0.1)
        assert us.audit(part).propensity.implied_pairs == pytest.approx(found.implied_pairs)  # type: ignore[union-attr]
    unsplit = replace(test, share=None)
    assert "implied-pairs" in codes(check("known", unsplit).checks[0].findings)
    assert check("known(share=0.3)", unsplit).checks[0].findings == ()
    assert check("known", replace(log, value=None, feedback=us.Feedback.IMPLICIT)).checks[0].implied_pairs is None


def slow_popularity(log: Log, gamma: float, folds: int) -> tuple[dict[tuple[int, int], float], set[tuple[int, int]]]:
    """P of every pair by a popularity counted outside its fold, scaled to the number seen; and the seen pairs."""
    users, items = len(log.users), len(log.items)
    grid = np.indices((users, items)).reshape(2, -1).astype(np.int32)
    fold = pair_folds(pairs_log(log.users, log.items, *grid), folds).reshape(users, items)
    seen = list(zip(log.user.tolist(), log.item.tolist(), strict=True))
    liked = [pair for pair, y in zip(seen, np.asarray(log.value).tolist(), strict=True) if y > 0]
    found = {}
    for k in range(folds):
        counts = [sum(1 for v, j in liked if j == i and fold[v, j] != k) for i in range(items)]
        for u in range(users):
            for i in range(items):
                if fold[u, i] == k:
                    found[u, i] = (max(counts[i], 1) / max(counts)) ** ((gamma + 1.0) / 2.0)
    scale = len(seen) / sum(found.values())
    return {pair: min(p * scale, 1.0) for pair, p in found.items()}, set(seen)


def test_every_number_is_that_of_a_loop_over_all_pairs() -> None:
    """Log-loss, Brier, overlap, clips and weights of a cross-fitted popularity, counted pair by pair."""
    log, _ = shop(users=60)
    c = check("popularity(gamma=2)", log).checks[0]
    p, seen = slow_popularity(log, 2.0, 5)
    loss = sum(-math.log(p[pair]) if pair in seen else -math.log1p(-p[pair]) for pair in p) / len(p)
    brier = sum((float(pair in seen) - p[pair]) ** 2 for pair in p) / len(p)
    density = len(seen) / len(p)
    assert c.log_loss == pytest.approx(loss, rel=1e-12) and c.brier == pytest.approx(brier, rel=1e-12)
    assert c.brier_constant == pytest.approx(density * (1.0 - density))
    assert c.log_loss_constant == pytest.approx(-density * math.log(density) - (1 - density) * math.log(1 - density))
    for o in c.overlap:
        here = [pair for pair in p if o.low <= p[pair] < o.high or (o.high == 1.0 and p[pair] == 1.0)]
        assert o.seen == sum(pair in seen for pair in here) and o.unseen == sum(pair not in seen for pair in here)
    assert sum(o.seen for o in c.overlap) == len(seen) == c.rows
    weights = sorted((1.0 / p[pair] for pair in seen), reverse=True)
    assert c.ess == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert c.max_weight_share == pytest.approx(weights[0] / sum(weights))
    assert c.top_weight_share == pytest.approx(sum(weights[: math.ceil(len(weights) / 100)]) / sum(weights))
    assert c.clips["0.1"] == pytest.approx(sum(p[pair] < 0.1 for pair in seen) / len(seen))
    for bins in (c.reliability, c.user_balance, c.item_balance):
        assert sum(b.pairs for b in bins) == pytest.approx(len(p))
        assert sum(b.pairs * b.predicted for b in bins) == pytest.approx(sum(p.values()))
        assert sum(b.pairs * b.observed for b in bins) == pytest.approx(len(seen))


def test_a_fixed_number_of_rows_is_no_imbalance() -> None:
    """Everybody sees 12 of 60 items by lot: uniform is right, and balance over users is not asked, which is said."""
    rng = np.random.default_rng(0)
    items = np.concatenate([rng.permutation(ITEMS)[:12] for _ in range(USERS)])
    log = Log.from_frame(pl.DataFrame({"user": np.repeat(np.arange(USERS), 12), "item": items}))
    c = check("uniform", log).checks[0]
    assert c.findings == () and c.user_balance == () and c.item_balance != ()
    assert only("even-counts", c.unasked, side="user")


@pytest.mark.parametrize("by_value", [True, False])
def test_naive_bayes_is_flagged_where_values_do_not_decide(by_value: bool) -> None:
    """Σ 1/P over the seen pairs of popular items implies more pairs than there are, if popularity decides."""
    rng = np.random.default_rng(4)
    users, items = 400, 120
    rating = rng.integers(1, 6, (users, items)).astype(np.float64)
    popular = np.sort(rng.gamma(1.0, 1.0, items))
    p = np.broadcast_to(0.04 * 1.5**rating if by_value else 0.2 * popular / popular.mean(), rating.shape).clip(
        0.01, 0.9
    )
    user, item = np.nonzero(rng.random(rating.shape) < p)
    seen = us.Log.from_frame(
        pl.DataFrame({"user": user, "item": item, "value": rating[user, item]}), feedback="ratings"
    )
    user, item = np.nonzero(rng.random(rating.shape) < 0.1)
    mcar = us.Log.from_frame(
        pl.DataFrame({"user": user, "item": item, "value": rating[user, item]}), feedback="ratings"
    )
    (found,) = us.propensity.check("naive_bayes", seen, inputs=FitInputs(mcar=mcar)).checks
    assert len(found.item_balance) >= 5 and found.reliability == () and found.log_loss is None
    assert "only-seen-pairs" in codes(found.unasked) and found.overlap[0].unseen is None
    assert ("items-unbalanced" in codes(found.findings)) == (not by_value)


def test_what_cannot_be_had_is_an_error_or_is_listed() -> None:
    """An error by default; listed with its reason beside others; an error if none is left. Spelling is always one."""
    log, _ = shop(users=60)
    asked = ["popularity(gamma=1)", "logistic(features=outer)"]
    found = check(asked, log, refused="skip")
    assert [c.propensity for c in found.checks] == asked[:1]
    assert found.refused[0].reason.code == "missing-argument"
    assert found.to_dict()["refused"][0]["propensity"].startswith("log")
    wrong: list[tuple[str, Any, us.Log, str]] = [
        ("missing-argument", asked, log, "error"),
        ("no-random-sample", "naive_bayes", log, "skip"),
        ("no-propensity", ["naive_bayes", "logistic(features=outer)"], log, "skip"),
        ("unknown-name", ["popularty(gamma=1)", "uniform"], log, "skip"),
        ("missing-argument", [], log, "error"),
        ("empty-log", "uniform", log.take(np.zeros(len(log), dtype=np.bool_)), "error"),
    ]
    for code, propensities, rows, refused in wrong:
        with refuses(code):
            check(propensities, rows, refused=refused)  # type: ignore[arg-type]


def test_tenths_without_a_seen_pair_are_told() -> None:
    """Half of the items was never seen: no Σ 1/P speaks for them, which is said."""
    rng = np.random.default_rng(0)
    seen = rng.random((200, 40)) < np.repeat([0.0, 0.3], [20, 20]) * rng.uniform(0.5, 1.5, 40)
    user, item = np.nonzero(np.ones_like(seen))
    frame = pl.DataFrame({"user": user, "item": item, "value": 1.0, "propensity": 0.3})
    log = Log.from_frame(frame, feedback="conversions").take(seen.ravel())
    found = check("known", log).checks[0]
    assert "(4,000 " in only("empty-tenths", found.unasked)
