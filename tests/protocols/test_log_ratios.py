"""Ratios of values that share users, against loops over users; and their level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.inference import student
from unskew.inference.log_contrasts import UserErrors, log_ratios
from unskew.protocols.family import Family, Kind, kendall


def made(users: int, columns: int, seed: int) -> UserErrors:
    """Values as means of hits, with their errors."""
    rng = np.random.default_rng(seed)
    hits = rng.random((users, columns)) < rng.uniform(0.2, 0.6, columns)
    values = hits.mean(axis=0)
    return UserErrors(values, (hits - values) / users, np.count_nonzero(hits, axis=0))


def by_hand(found: UserErrors, weights: list[float]) -> tuple[float, float, float]:
    """θ, its error and its degrees of freedom, user by user."""
    value = sum(w * math.log(v) for w, v in zip(weights, found.values, strict=True) if w)
    shares = [
        sum(w * e / v for w, e, v in zip(weights, row, found.values, strict=True) if w) for row in found.errors.tolist()
    ]
    shares = [h for h in shares if abs(h) > 1e-15]
    squares, m = sum(h**2 for h in shares), len(shares)
    df = min(m, squares**2 / sum(h**4 for h in shares)) - 1
    return value, math.sqrt(m / (m - 1) * squares), df


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 200))
def test_one_ratio_is_what_users_say(seed: int, users: int) -> None:
    found = made(users, 3, seed)
    if not found.usable.all():
        return
    weights = [1.0, -1.5, 0.5]
    ratio = log_ratios(found, [np.array(weights)], 0.9)[0]
    value, se, df = by_hand(found, weights)
    assert ratio.value == pytest.approx(value, abs=1e-12)
    assert ratio.se == pytest.approx(se, rel=1e-9)
    assert ratio.df == pytest.approx(df, rel=1e-9)
    reach = student.critical(0.1, df) * se
    assert ratio.low == pytest.approx(value - reach)
    assert ratio.high == pytest.approx(value + reach)
    assert (ratio.p < 0.1) == (ratio.sign != 0)


def test_what_few_users_carry_says_nothing() -> None:
    """Nine users with a hit: no interval, no sign, p = 1; the others stay as they are."""
    found = made(300, 3, 2)
    few = UserErrors(found.values, found.errors, np.array([9, 100, 100]))
    ratios = log_ratios(few, [np.array([1.0, -1.0, 0.0]), np.array([0.0, 1.0, -1.0])], 0.95)
    assert math.isnan(ratios[0].low)
    assert (ratios[0].sign, ratios[0].p_adjusted) == (0, 1.0)
    assert ratios[1].se == pytest.approx(log_ratios(found, [np.array([0.0, 1.0, -1.0])], 0.95)[0].se)


def test_level_holds_for_all_ratios_together() -> None:
    """200 worlds, two groups with the same values: some ratio of ratios is false in about 5 % of them."""
    groups, models, users = 2, 3, 200
    false = 0
    rates = np.array([0.5, 0.4, 0.2])
    for world in range(200):
        rng = np.random.default_rng(world)
        base = rng.random((groups, users, 1))
        parts = [
            np.where(rng.random((users, models)) < 0.6, base[g], rng.random((users, models))) < rates
            for g in range(groups)
        ]
        values = np.concatenate([part.mean(axis=0) for part in parts])
        errors = np.zeros((groups * users, groups * models))
        for g, part in enumerate(parts):  # other users in every group
            errors[g * users : (g + 1) * users, g * models : (g + 1) * models] = (part - part.mean(axis=0)) / users
        found = UserErrors(values, errors, np.concatenate([part.sum(axis=0) for part in parts]))
        family = Family(groups, models, found, 0.95)
        false += any(r.sign for about, r in family.ratios.items() if about.kind is not Kind.ORDER)
    assert 1 <= false <= 19  # at most 5 %, and 2.9 standard errors


def test_ratio_to_the_best_holds_whoever_is_the_best() -> None:
    """Three models, two of them equally good: the true ratios lie inside in nearly all worlds, the best one's too."""
    rates, users, outside = np.array([0.4, 0.4, 0.2]), 400, 0
    for world in range(200):
        hits = np.random.default_rng(world).random((users, 3)) < rates
        values = hits.mean(axis=0)
        family = Family(1, 3, UserErrors(values, (hits - values) / users, hits.sum(axis=0)), 0.95)
        bounds = [family.to_best(0, m) for m in range(3)]
        outside += any(not low <= truth <= high for (_, low, high), truth in zip(bounds, (1.0, 1.0, 0.5), strict=True))
        assert max(ratio for ratio, _, _ in bounds) == 1.0
        assert all(low <= ratio <= high <= 1.0 for ratio, low, high in bounds)
    assert outside <= 18  # 5 % are 10


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=6), st.randoms())
def test_kendall_lies_in_its_range(values: list[tuple[int, int]], random: object) -> None:
    """Whatever is decided in the direction of the values; all decided: the range is τ itself unless there are ties."""
    mine, theirs = ([float(pair[side]) for pair in values] for side in (0, 1))
    open_pairs = {(a, b) for a in range(len(values)) for b in range(len(values)) if random.random() < 0.4}  # type: ignore[attr-defined]

    def decided(of: list[float], some: bool) -> object:
        return lambda a, b: 0 if some and (a, b) in open_pairs else int(np.sign(of[a] - of[b]))

    found = kendall(mine, theirs, decided(mine, True), decided(theirs, False))  # type: ignore[arg-type]
    assert -1.0 <= found.low <= found.tau + 1e-12
    assert found.tau - 1e-12 <= found.high <= 1.0
    assert found.agree + found.reversed + found.open == found.pairs
    alone = kendall(mine, theirs, decided(mine, False), decided(theirs, False))  # type: ignore[arg-type]
    ties = sum(mine[a] == mine[b] or theirs[a] == theirs[b] for a in range(len(mine)) for b in range(a))
    assert alone.high - alone.low == pytest.approx(2 * ties / alone.pairs)
