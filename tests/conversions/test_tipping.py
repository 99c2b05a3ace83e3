"""Tipping points of sums against brute force: every weight low or high, all 2ⁿ ways, and the Γ where the lead is gone.

What is compared is linear in the weights, so its least value lies at a corner of the box.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import Phase, assume, given, settings

from tests.conversions import reference as ref
from tests.conversions.reference import Metric, Row, Rule
from tests.conversions.worlds import METRICS, RULES, USERS, Drawn, drawn_logs, evaluate
from tests.tipping import of_every_pair

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


@settings(max_examples=20, phases=WHOLE)
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


U0 = "u0"
BY_HAND: tuple[tuple[list[Row], dict[tuple[str, str], float], float], ...] = (
    # nothing against the leader, and guesses in favour: never
    ([Row(U0, "i0", 1.0, 0.5)], {(U0, "i0"): 0.5}, math.inf),
    # nothing but guesses against the leader: (r − 1)·.75 / (.75·(−1) + .95) with q = .25 and 1.2
    ([Row(U0, "i0", 1.0, 0.2)], {(U0, "i0"): 0.25, (U0, "i1"): 1.2}, 4.0 * 0.75 / (1.2 - 0.25 - 0.75)),
    # a pair that was surely seen cannot be bent
    ([Row(U0, "i0", 1.0, 0.1), Row(U0, "i1", 3.0, 1.0)], {}, 9.0 / (3.0 - 1.0)),
    # a row of the leader's item with y < q pulls against it: .75 − .25·w, w = 1 + Γ
    ([Row(U0, "i0", 0.5, 0.5)], {(U0, "i0"): 0.75, (U0, "i1"): 0.0}, 2.0),
)


@pytest.mark.parametrize(("rows", "q", "gamma"), BY_HAND)
def test_edges_by_hand(rows: list[Row], q: dict[tuple[str, str], float], gamma: float) -> None:
    """Γ of dr's recall@1 for a list of i0 against a list of i1, both for user u0."""
    guesses = {(u, i): 0.0 for u in USERS for i in ("i0", "i1", "i2", "t0")} | q
    lists = {"one": {U0: {"i0": 1}}, "two": {U0: {"i1": 1}}}
    drawn = Drawn((*rows, Row("u1", "i2", 0.0, 0.5), Row("u2", "i1", 0.0, 0.5)), (("u5", "t0"),), lists, guesses)
    (verdict,) = evaluate(drawn, ["dr"], metrics=["recall@1"], target="per_user_sum").verdicts_
    assert verdict.difference > 0.0 and verdict.tipping == pytest.approx(gamma, rel=1e-12)
