"""What a value can be at all: intervals end there, and what lies wholly beyond is no value and decides nothing."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import unskew as us
from tests.said import only
from tests.worlds import listed, pairs_of
from unskew import metrics
from unskew.core.notice import codes
from unskew.estimators import Target
from unskew.judging.possible import Possible

USERS, ITEMS, K = 300, 20, 3


@pytest.mark.parametrize("name", ["recall@3", "precision@3", "cg@3", "dcg@3", "rbp@3", "arhr@3"])
@pytest.mark.parametrize("outcome", [1.0, 4.0])
def test_the_ends_are_those_of_all_lists_that_there_are(name: str, outcome: float) -> None:
    """A list of three, every relevance of its items: the least and the largest sum, and share of what is relevant."""
    worth = metrics.ranking(name).table(K)[1:]
    every = [np.array(each) * outcome for each in product((0.0, 0.5, 1.0), repeat=K)]
    sums = [float(y @ worth) for y in every]
    shares = [float(y @ worth / y.sum()) for y in every if y.any()] + [0.0]
    for targets, found in (
        ((Target.PER_USER_SUM, Target.PER_PAIR), sums),
        ((Target.POOLED, Target.PER_USER, Target.SUM_POOLED, Target.SUM_PER_USER), shares),
    ):
        for target in targets:
            assert Possible.of(metrics.ranking(name), target, K, outcome) == pytest.approx((min(found), max(found)))


def test_other_metrics_have_ends_of_their_own() -> None:
    """Ratios inside users lie in 0 to 1, errors have no end, shares of right predictions end at 1."""
    for name, most in (("ndcg@3", 1.0), ("map@3", 1.0), ("mrr", 1.0), ("mae", math.inf), ("rmse", math.inf)):
        assert Possible.of(metrics.make(name), Target.PER_USER, K, 5.0) == (0.0, most)
    assert Possible.of(metrics.make("accuracy"), Target.PER_PAIR, K, 5.0) == (0.0, 1.0)


def test_an_interval_is_cut_or_cannot_be() -> None:
    """Some of it inside: the rest is cut off. None of it: the reason names the end. Rounding is no reason."""
    ends = Possible(0.0, 5.0)
    assert ends.cut(-1.0, 7.0) == (0.0, 5.0) and ends.cut(1.0, 2.0) == (1.0, 2.0)
    assert not ends.beyond("it", -1.0, 0.0) and not ends.beyond("it", 5.0 + 1e-12, 9.0)
    assert " 5.1 " in only("impossible-value", [ends.beyond("it", 5.1, 9.0)])
    assert " -2 " in only("impossible-value", [ends.beyond("it", -2.0, -1.0)])
    assert not ends.beyond("it", math.nan, math.nan) and math.isnan(ends.cut(math.nan, math.nan)[0])
    assert ends.difference == (-5.0, 5.0)
    assert ends.note(6.0) and ends.note(-0.1) and not ends.note(5.0) and not ends.note(math.nan)


def judged(wrong: bool, estimator: str, seed: int = 0) -> us.Result:
    """Listed pairs of one model are relevant and often seen; wrong propensities say seldom, and make up for it."""
    rng = np.random.default_rng(seed)
    first = np.zeros((USERS, ITEMS), dtype=bool)
    first[:, :K] = True
    y = rng.random((USERS, ITEMS)) < np.where(first, 0.9, 0.2)
    p = np.where(first, 0.5, 0.8)
    told = np.where(first, 0.2, 1.0) if wrong else p
    log = pairs_of(rng.random((USERS, ITEMS)) < p, value=y, propensity=told)
    models = {name: listed(np.arange(K) + start, USERS) for name, start in (("one", 0), ("other", K))}
    return us.evaluate(
        log, models, metrics=[f"recall@{K}"],
        target="per_user_sum", estimators=[estimator], feedback="conversions", propensity="known",
    )  # fmt: skip


def test_wrong_propensities_that_make_lists_too_good_are_refused() -> None:
    """6.7 relevant items in lists of three: no value, no verdict, and both say why; the other model keeps its value."""
    result = judged(wrong=True, estimator="ips")
    one, other = result.estimates
    assert math.isnan(one.value) and math.isnan(one.high) and math.isnan(one.se)
    assert "impossible-value" in codes([one.trust])
    assert 0.0 < other.low < other.value < other.high < K
    (verdict,) = result.verdicts_
    assert verdict.verdict == "undecided" and math.isnan(verdict.low)
    assert verdict.trust and "one" in only("no-numbers", result.warnings)


@pytest.mark.parametrize("estimator", ["naive", "ips", "snips(over=list)"])
def test_right_propensities_are_left_alone(estimator: str) -> None:
    """The same log with its own propensities, and estimators that do not mind theirs."""
    result = judged(wrong=False, estimator=estimator)
    assert all(e.low <= e.value <= e.high <= K for e in result.estimates)
    assert result.verdicts_[0].verdict in ("better", "ahead")
