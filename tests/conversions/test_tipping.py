"""Tipping points of sums against brute force: every weight low or high, all 2ⁿ ways, and the Γ where the lead is gone.

What is compared is linear in the weights, so its least value lies at a corner of the box.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings

from tests.conversions import reference as ref
from tests.conversions.reference import Metric, Row, Rule
from tests.conversions.worlds import METRICS, RULES, USERS, Drawn, drawn_logs, evaluate
from tests.tipping import of_every_pair
from unskew.inference.bootstrap import user_weights
from unskew.log import Ids
from unskew.log.ids import Codes
from unskew.outcome import Outcome
from unskew.outcome.base import PairPredictor

pytestmark = pytest.mark.usefixtures("made_up_logs")
WHOLE = (Phase.explicit, Phase.generate)
BENT = ("naive", "ips", "snips", "dr", "clipped(dr, at=0.3)", "clipped(ips, at=0.3)")
STIFF = ("direct", "sndr", "switch(tau=4)", "snips(over=list)", "clipped(sndr, at=0.3)")
Pull = tuple[float, float]  # the weight, and what it pulls for one model against the other


@pytest.fixture(scope="module", autouse=True)
def every_pair() -> Iterator[None]:
    """Worlds that are small enough for brute force decide nothing."""
    with of_every_pair():
        yield


def pulls(
    drawn: Drawn, metric: Metric, rule: Rule, a: str, b: str, target: str, users: Sequence[str] = USERS
) -> tuple[float, list[Pull]]:
    """What does not depend on weights, and every seen pair that tells the two models apart."""
    one, two = drawn.world(a), drawn.world(b)
    fixed, found = 0.0, []
    for user in users:
        mine, theirs = (ref.listed(w, metric, rule, user, normalised=target != ref.PLAIN) for w in (one, two))
        fixed += mine - theirs
        for row in one.judged(user):
            gap = metric.worth(one.rank(user, row.item)) - metric.worth(two.rank(user, row.item))
            d = rule.counted(one, row) * gap
            if d != 0.0:
                found.append((rule.weight(row), d))
    return fixed, found


def worst(fixed: float, pairs: Sequence[Pull], gamma: float, *, odds: bool) -> float:
    """The least lead over all corners."""
    ends = []
    for w, d in pairs:
        low, high = (1.0 + (w - 1.0) / gamma, 1.0 + (w - 1.0) * gamma) if odds else (w / gamma, w * gamma)
        ends.append((low * d, high * d))
    return min(fixed + sum(corner) for corner in product(*ends))


def brute(fixed: float, pairs: Sequence[Pull], *, odds: bool) -> float:
    """The Γ at which the worst lead is 0: bisection; infinity where it never is."""
    if worst(fixed, pairs, 1e7, odds=odds) > 0.0:
        return math.inf
    low, high = 0.0, math.log(1e7)
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if worst(fixed, pairs, math.exp(middle), odds=odds) > 0.0 else (low, middle)
    return math.exp(low)


@settings(max_examples=40, phases=WHOLE)
@given(drawn_logs())
def test_tipping_points_equal_brute_force(drawn: Drawn) -> None:
    """naive, ips, snips, dr and clips, plain and pooled; guesses move the lead without bending."""
    assume(len(drawn.models) > 1)
    drawn = replace(drawn, lists=dict(list(drawn.lists.items())[:2]))
    result = evaluate(drawn, [*BENT, *STIFF], metrics=["dcg@3", "recall@2"])
    for v in result.verdicts_:
        if v.estimator in STIFF or v.target == ref.PER_USER:
            assert v.tipping is None and v.tipping_kind is None, v
            continue
        rule = RULES[v.estimator]
        fixed, pairs = pulls(drawn, METRICS[v.metric], rule, v.a, v.b, v.target)
        if math.isnan(v.difference) or abs(v.difference) < 1e-9:
            continue
        assert v.tipping is not None, v
        assert v.tipping_kind == ("ratio" if v.estimator == "naive" else "odds")
        sign = math.copysign(1.0, v.difference)
        turned = [(w, sign * d) for w, d in pairs]
        if len(turned) > 10:
            continue
        expected = brute(sign * fixed, turned, odds=v.estimator != "naive")
        if expected == math.inf or v.tipping > 1e6:
            assert v.tipping > 1e6, v
        else:
            assert v.tipping == pytest.approx(expected, rel=1e-6), v


def corner(fixed: float, pairs: Sequence[Pull]) -> float:
    """The same for any number of pairs: each takes its worse end by itself. Odds; infinity beyond 1e7."""

    def least(gamma: float) -> float:
        ends = [(1.0 + (w - 1.0) / gamma, 1.0 + (w - 1.0) * gamma) for w, _ in pairs]
        return fixed + sum(min(low * d, high * d) for (low, high), (_, d) in zip(ends, pairs, strict=True))

    if least(1.0) <= 0.0:
        return 1.0
    if least(1e7) > 0.0:
        return math.inf
    low, high = 0.0, math.log(1e7)
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if least(math.exp(middle)) > 0.0 else (low, middle)
    return math.exp(low)


@settings(max_examples=15, phases=WHOLE)
@given(drawn_logs())
def test_bootstrapped_tipping_points_equal_brute_force(drawn: Drawn) -> None:
    """dr, whose guesses stand in the first pass and whose weights in the second: Γ* of every replicate by hand."""
    assume(len(drawn.models) > 1)
    drawn = replace(drawn, lists=dict(list(drawn.lists.items())[:2]))
    target = ["per_user_sum", "per_user_sum(normalised=pooled)"]
    bootstrap: dict[str, Any] = {"interval": "bootstrap", "replicates": 50, "seed": 3, "target": target}
    result = evaluate(drawn, ["ips", "dr"], metrics=["dcg@3"], **bootstrap)
    times = np.array([user_weights(Ids(pl.Series(USERS)).hashes, 3, b) for b in range(50)])
    for v in result.verdicts_:
        if v.tipping is None or math.isnan(v.difference) or abs(v.difference) < 1e-9:
            continue
        rule, sign, gammas = RULES[v.estimator], math.copysign(1.0, v.difference), []
        each = [pulls(drawn, METRICS[v.metric], rule, v.a, v.b, v.target, [user]) for user in USERS]
        for drawn_times in times:  # where nobody is drawn who tells the two apart, the lead is gone: Γ = 1
            fixed = sum(t * one for t, (one, _) in zip(drawn_times, each, strict=True))
            pairs = [(w, sign * t * d) for t, (_, own) in zip(drawn_times, each, strict=True) for w, d in own]
            gammas.append(corner(sign * fixed, pairs))
        expected = float(np.quantile(gammas, 1.0 - 0.95, method="lower"))
        assert v.tipping_low is not None
        if expected > 1e6 or v.tipping_low > 1e6:
            assert expected > 1e6 and v.tipping_low > 1e6, v
        else:
            assert v.tipping_low == pytest.approx(expected, rel=1e-6), v


@dataclass(frozen=True)
class Counting(Outcome):
    """Says one half of everything, and counts what it is asked."""

    asked: list[int] = field(default_factory=list, compare=False)

    name = "counting"

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        def ask(user: Codes, item: Codes) -> npt.NDArray[np.float64]:
            self.asked.append(len(user))
            return np.full(len(user), 0.5)

        return ask

    def known(self, users: Ids, items: Ids) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        return np.ones(len(users), dtype=np.bool_), np.ones(len(items), dtype=np.bool_)


def test_nobody_asks_twice() -> None:
    """Each seen pair and each listed candidate once, tipping points and bootstrap included."""
    rows = [Row(user, item, float(n % 2), 0.5) for n, (user, item) in enumerate(product(USERS[:4], ("i0", "i1", "i2")))]
    lists = {
        "one": {user: {"i0": 1, "i2": 2, "x0": 3} for user in USERS},
        "two": {user: {"i1": 1, "i2": 3} for user in USERS[:5]},
    }
    drawn, model = Drawn(tuple(rows), (("u5", "i1"),), lists, {("u0", "i0"): 0.5}), Counting()
    bootstrap: dict[str, Any] = {"interval": "bootstrap", "replicates": 50, "target": "per_user_sum"}
    result = evaluate(drawn, ["dr"], metrics=["dcg@3"], outcome=model, **bootstrap)
    assert result.verdicts_[0].tipping_low is not None
    assert sum(model.asked) == len(rows) + 3 * 6 + 2 * 5


def against(rows: Sequence[Row], q: dict[tuple[str, str], float]) -> float:
    """Γ of dr's recall@1 for a list of i0 against a list of i1, both for user u0."""
    everything = {(u, i): 0.0 for u in ("u0", "u1", "u2", "u3", "u4", "u5") for i in ("i0", "i1", "i2", "t0")} | q
    lists = {"one": {"u0": {"i0": 1}}, "two": {"u0": {"i1": 1}}}
    drawn = Drawn((*rows, Row("u1", "i2", 0.0, 0.5), Row("u2", "i1", 0.0, 0.5)), (("u5", "t0"),), lists, everything)
    (verdict,) = evaluate(drawn, ["dr"], metrics=["recall@1"], target="per_user_sum").verdicts_
    assert verdict.difference > 0.0 and verdict.tipping is not None
    return verdict.tipping


def test_nothing_against_the_leader_and_guesses_in_favour_never_tip() -> None:
    """B1 = 0 and A0 − B0 + Q ≥ 0: infinity."""
    assert against([Row("u0", "i0", 1.0, 0.5)], {("u0", "i0"): 0.5}) == math.inf


def test_nothing_against_the_leader_but_guesses() -> None:
    """B1 = 0, B0 = 0, Q < 0: Γ = A1/(B0 − A0 − Q), by hand (r − 1)·.75 / (.75·(−1) + .95) with q = .25 and 1.2."""
    found = against([Row("u0", "i0", 1.0, 0.2)], {("u0", "i0"): 0.25, ("u0", "i1"): 1.2})
    assert found == pytest.approx(4.0 * 0.75 / (1.2 - 0.25 - 0.75), rel=1e-12)


def test_a_pair_that_was_surely_seen_cannot_be_bent() -> None:
    """P = 1 on the row against the leader: it enters B0 only, and B1 stays 0."""
    rows = [Row("u0", "i0", 1.0, 0.1), Row("u0", "i1", 3.0, 1.0)]
    assert against(rows, {}) == pytest.approx(9.0 / (3.0 - 1.0), rel=1e-12)


def test_errors_of_the_guess_pull_the_other_way() -> None:
    """A row of the leader's item with y < q pulls against it: B1 > 0 from the leader's own list."""
    q = {("u0", "i0"): 0.75, ("u0", "i1"): 0.0}
    found = against([Row("u0", "i0", 0.5, 0.5)], q)  # .75 − .25·w, w = 1 + Γ
    assert found == pytest.approx(2.0, rel=1e-12)
