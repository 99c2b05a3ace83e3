"""The planning formula, what is at stake against loops over pairs, and the power that a plan promises."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.design.shop import shop
from unskew.core.errors import InputError
from unskew.design.alternative import alternative
from unskew.design.detect import PATH, Detect, suggested
from unskew.design.plan import Plan
from unskew.design.power import NORMAL, Question, at_least, least_rows, rows_by_formula


def made(detect: object = "log", **options: object) -> tuple[Plan, object]:
    """A plan in a small shop with zeros."""
    world = shop(users=150, items=40, k=6)
    arguments = {"log": world.log, "seen": world.seen, "metric": "recall@6", "feedback": "conversions"}
    return us.plan(world.models, detect=detect, **{**arguments, **options}), world  # type: ignore[arg-type]


@given(
    st.floats(1.0, 100.0), st.floats(100.0, 1e4), st.floats(0.0, 5.0), st.floats(1.9, 4.0), st.floats(0.3, 0.95),
    st.booleans(),
)  # fmt: skip
def test_rows_are_those_of_the_formula(
    detect: float, variance: float, between: float, critical: float, power: float, fixed: bool
) -> None:
    """n = N V / (T²/(c + z)² − B + V), or without +V for sampled users, where positive answers abound."""
    pairs = 10 * variance
    question = Question(detect, variance, 0.0 if fixed else between, 1e9, pairs, critical, fixed)
    formula = rows_by_formula(question, pairs, power)
    found = least_rows(question.even(pairs), pairs, power)
    if formula is None:
        assert question.needs_users(power) and found is None
    elif formula > pairs:
        assert found is None
    else:
        noise = variance * pairs / formula + (-variance if fixed else between)
        assert noise == pytest.approx((detect / (critical + NORMAL.inv_cdf(power))) ** 2, rel=1e-9)
        assert found is not None and max(20.0, formula) - 1e-6 <= found <= max(20.0, formula) + 1.51


def test_few_positives_ask_for_more_rows() -> None:
    """At a relevance of .5 % a thousand rows bring five positives, too few for a verdict whatever the difference."""
    assert at_least(10, 5.0) == pytest.approx(0.0318, abs=1e-4)
    question = Question(1e6, 1.0, 0.0, 500.0, 100_000.0, 1.96, True)
    rows = least_rows(question.even(100_000), 100_000, 0.8)
    assert rows is not None and 2_300 < rows < 2_700  # 12.5 expected positives have ten with probability .8


def test_sums_are_those_of_loops_over_pairs() -> None:
    """N_d, V, N_m, B and the weights of dcg, which values a pair by its rank."""
    world = shop(users=12, items=15, k=5, seed=3)
    plan = us.plan(
        world.models, log=world.log, seen=world.seen, metric="dcg@4", feedback="conversions", detect="5%", uniform=0.0
    )
    q, names, stakes = plan.parts.q, list(world.lists), plan.parts.looked.stakes
    gone = {(u, i) for frame in (world.seen, world.log) for u, i in frame.select("user", "item").iter_rows()}
    worth = {
        (m, u, int(i)): 1.0 / math.log2(r + 2.0)
        for m in names
        for u in range(12)
        for r, i in enumerate(world.lists[m][u][:4])
    }
    every = [(u, i) for u in range(12) for i in range(15)]
    listed = [(u, i) for u, i in every if (u, i) not in gone and any((m, u, i) in worth for m in names)]
    chance = dict(zip(listed, q(*(np.array(side, dtype=np.int32) for side in zip(*listed, strict=True))), strict=True))
    known = {(u, i): y for u, i, y in world.log.iter_rows()}
    for (x, a), (y, b) in combinations(enumerate(names), 2):
        apart = {p: worth.get((a, *p), 0.0) - worth.get((b, *p), 0.0) for p in every}
        differing = [p for p in listed if apart[p] != 0.0]
        assert stakes.differing[x, y] == len(differing)
        assert stakes.variance[x, y] == pytest.approx(sum(chance[p] * (1 - chance[p]) * apart[p] ** 2 for p in listed))
        assert stakes.hits[x, y] == pytest.approx(sum(chance[p] for p in differing))
        own = [
            sum(
                known.get((u, i), chance.get((u, i), 0.0)) * apart[u, i]
                for i in range(15)
                if (u, i) in {**known, **chance}
            )
            for u in range(12)
        ]
        assert stakes.between[x, y] == pytest.approx(sum(t * t for t in own))
        assert stakes.value[x] - stakes.value[y] == pytest.approx(sum(own))
    design = plan.parts.looked.design
    weights = {
        (u, int(design.item[j])): design.weight[j]
        for u in range(12)
        for j in range(design.start[u], design.start[u + 1])
    }
    for p in listed:
        safe = min(max(chance[p], 1e-3), 1 - 1e-3)
        spread = np.var([worth.get((m, *p), 0.0) for m in names])
        assert weights.get(p, 0.0) == pytest.approx(math.sqrt(safe * (1 - safe) * spread), rel=1e-6)


@pytest.mark.parametrize(("uniform", "per_user", "rows"), [(0.0, None, 100.0), (0.0, 1, 100.0), (0.25, None, 1_000.0)])
def test_the_curve_is_the_variance_of_the_draw(uniform: float, per_user: int | None, rows: float) -> None:
    """Σ v d²/π at some number of rows, also where a limit per user binds, and with what is spread over all candidates.

    Here a thousand rows are a quarter of all candidates: what is spread falls on lists, too.
    """
    plan, _ = made(uniform=uniform, per_user=per_user)
    looked = plan.parts.looked
    p, _ = looked.design.probabilities(looked.design.scale(rows))
    v, worth = looked.sample_q * (1 - looked.sample_q), looked.sample_worth
    assert len(p) == len(v)  # the shop is small: everybody is kept
    for a, b in combinations(range(3), 2):
        spread, positives = plan.parts.curve.at(rows, a, b)
        apart = worth[:, a] - worth[:, b]
        assert spread == pytest.approx((v * apart**2 / p).sum(), rel=0.02)
        assert positives == pytest.approx((looked.sample_q * p)[apart != 0].sum(), rel=0.02)


def test_measured_power_is_what_was_promised() -> None:
    """Fixed users and the true difference: at the planned rows the right verdict comes as often as planned, ± .1."""
    world = shop(users=400, items=50, k=6, seed=1)
    arguments = {"log": world.log, "seen": world.seen, "metric": "recall@6", "feedback": "conversions"}
    two = {name: world.models[name] for name in ("good", "fair")}
    lead = np.zeros(world.truth.shape)
    for name, sign in (("good", 1.0), ("fair", -1.0)):
        np.put_along_axis(lead, world.lists[name], np.take_along_axis(lead, world.lists[name], 1) + sign, axis=1)
    first = us.plan(two, detect=0.01, **arguments, users_are="fixed", uniform=0.0)  # type: ignore[arg-type]
    size = float((world.truth * lead).sum()) / first.settings.relevant
    plan = us.plan(two, detect=size, **arguments, users_are="fixed", uniform=0.0)  # type: ignore[arg-type]
    (pair,) = plan.pairs
    assert pair.rows is not None and 30 < pair.rows < 1_500 and pair.rows_differ is not None
    assert pair.rows_random is not None and pair.rows_random > 2 * pair.rows
    user, item = (side.ravel().astype(np.int32) for side in np.indices(world.truth.shape))
    q = plan.parts.q(user, item).reshape(world.truth.shape)
    unseen = np.ones(world.truth.shape, dtype=bool)
    for frame in (world.seen, world.log):
        unseen[frame["user"], frame["item"]] = False
    known = np.zeros(world.truth.shape, dtype=bool)
    known[world.log["user"], world.log["item"]] = True
    base = float((world.truth * lead)[known].sum() + (q * lead)[unseen].sum())
    right = wrong = 0
    draws = 100
    for seed in range(draws):
        drawn = plan.draw(pair.rows, seed).frame
        u, i, p = drawn["user"].to_numpy(), drawn["item"].to_numpy(), drawn["propensity"].to_numpy()
        rest = (world.truth[u, i] - q[u, i]) * lead[u, i] / p
        lead_found, error = base + rest.sum(), math.sqrt(float((rest**2 * (1 - p)).sum()))
        right += lead_found > plan.settings.critical * error
        wrong += lead_found < -plan.settings.critical * error
    assert wrong == 0
    assert abs(right / draws - 0.8) < 0.1 + 0.05  # ± .1 promised, and the Monte Carlo error of 100 draws


def test_what_to_detect() -> None:
    """A number, a share, or what the log suggests: nothing where the lead changes hands along the path."""
    assert Detect.of("5%") == Detect("share", 0.05) and Detect.of(0.01) == Detect.of("0.01") == Detect("number", 0.01)
    assert str(Detect.of("5%")) == "5%" and str(Detect.of("log")) == "log"
    for wrong in ("5 percent", "-1%", "0", 0.0, True, None, "nan"):
        with pytest.raises(InputError) as caught:
            Detect.of(wrong)
        assert str(caught.value.fields["option"]).startswith("detect")
    path = np.stack([np.linspace(0.3, 0.1, len(PATH)), np.full(len(PATH), 0.05), np.full(len(PATH), 0.2)], axis=1)
    found = suggested(path)
    assert found[0, 1] == pytest.approx(0.05) and found[1, 2] == pytest.approx(0.15) and found[0, 2] == 0.0


def test_more_users_instead_of_rows() -> None:
    """A small difference among users who differ: no number of rows will do, and fixed users need rows only."""
    plan, _ = made(0.0005)
    assert {pair.needs for pair in plan.pairs} <= {"users", "pairs"}
    assert all(pair.rows is None and pair.times_users is not None and pair.times_users > 1 for pair in plan.pairs)
    fixed, _ = made(0.0005, users_are="fixed")
    assert all(pair.rows is not None or pair.needs != "users" for pair in fixed.pairs)


def test_one_level_for_all_pairs_and_rounds() -> None:
    """1.96 for a pair alone, more for three pairs together, more again with rounds declared."""
    alone, together, rounds = (made(**o)[0].settings.critical for o in ({"simultaneous": False}, {}, {"rounds": 3}))
    assert alone == pytest.approx(1.96, abs=1e-3)
    assert 2.2 < together < 2.45 < rounds < 2.8


def test_a_difference_beyond_the_guesses_makes_answers_vary_more() -> None:
    """If T exceeds what q says, the better list's pairs are more relevant than q: V, hits and B, pair by pair."""
    plan, world = made(0.05, users_are="sampled")
    stakes, q, names = plan.parts.looked.stakes, plan.parts.q, list(world.lists)  # type: ignore[attr-defined]
    gone = {(u, i) for frame in (world.seen, world.log) for u, i in frame.select("user", "item").iter_rows()}  # type: ignore[attr-defined]
    users = plan.settings.users
    for x, y in combinations(range(3), 2):
        lead = float(stakes.value[x] - stakes.value[y])
        detect = abs(lead) + 30.0
        better, other = (x, y) if lead >= 0.0 else (y, x)
        lists = [{(u, int(i)) for u in range(150) for i in world.lists[names[m]][u]} for m in (better, other)]  # type: ignore[attr-defined]
        apart = [sorted(own - gone) for own in (lists[0] - lists[1], lists[1] - lists[0])]
        guess = [q(*(np.array(side, dtype=np.int32) for side in zip(*own, strict=True))) for own in apart]
        delta = 30.0 / len(apart[0])
        truth = guess[0] + delta
        expected = (truth * (1 - truth) + delta**2).sum() + (guess[1] * (1 - guess[1])).sum()
        found = alternative(stakes, x, y, detect, users)
        assert found.variance == pytest.approx(expected)
        assert found.hits == pytest.approx(truth.sum() + guess[1].sum())
        assert found.between == pytest.approx(stakes.between[x, y] + (detect**2 - lead**2) / users)
        assert alternative(stakes, x, y, abs(lead) / 2.0, users).variance == pytest.approx(stakes.variance[x, y])
