"""What is promised of ips and dr, proved by enumeration: every mask, every outcome, each with its probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from tests.conversions.enumerate import Pair, Space, binary, truth, worth
from tests.said import refuses

from unskew_papers import design_variance as design

pytestmark = pytest.mark.usefixtures("made_up_logs")
BINARY = [binary(0.5, 0.3), binary(0.2, 0.6), binary(0.9, 0.1), binary(0.7, 0.5), binary(0.35, 0.8)]
GRADED = [
    Pair(0.5, ((0.0, 0.5), (1.0, 0.2), (4.0, 0.3))),
    Pair(0.25, ((0.0, 0.7), (2.5, 0.3))),
    Pair(0.8, ((0.0, 0.4), (0.5, 0.6))),
    Pair(0.6, ((0.0, 0.9), (3.0, 0.1))),
]
PAIRS = {"0/1": BINARY, "graded": GRADED}
GUESSES: dict[str, Callable[[Sequence[Pair]], list[float]]] = {
    "right": lambda pairs: [p.mean for p in pairs],
    "nothing": lambda pairs: [0.0 for _ in pairs],
    "half": lambda pairs: [p.mean / 2.0 for p in pairs],
    "far too high": lambda pairs: [3.0 * p.mean + 1.0 for p in pairs],
    "upside down": lambda pairs: [1.0 - p.mean for p in pairs],
}


@pytest.mark.parametrize("kind", PAIRS)
def test_ips_and_dr_are_unbiased_as_promised(kind: str) -> None:
    """The mean over all possibilities is Σ m λ: under right propensities whatever the guess, under right guesses
    whatever the propensities, and else not; q = 0 makes dr ips, in every possibility."""
    pairs = PAIRS[kind]
    space, zero, half, true = Space.of(pairs), [0.0] * len(pairs), [0.5] * len(pairs), truth(pairs)
    assert space.chance.sum() == pytest.approx(1.0, abs=1e-12)
    ips = space.estimates("ips", zero)
    assert space.mean(ips) == pytest.approx(true, rel=1e-12)
    assert space.mean(space.estimates("ips", zero, half)) != pytest.approx(true, rel=0.01)
    for guess in GUESSES.values():
        assert space.mean(space.estimates("dr", guess(pairs))) == pytest.approx(true, rel=1e-12)
    for wrong in (half, [0.05] * len(pairs), [1.0 - 0.9 * p.propensity for p in pairs]):
        assert space.mean(space.estimates("dr", GUESSES["right"](pairs), wrong)) == pytest.approx(true, rel=1e-12)
        assert space.mean(space.estimates("dr", GUESSES["half"](pairs), wrong)) != pytest.approx(true, rel=0.01)
    np.testing.assert_allclose(space.estimates("dr", zero), ips, rtol=1e-12, atol=1e-15)


def test_dr_is_the_sum_of_outcomes_where_everything_is_seen() -> None:
    """P = 1 ⇒ dr = Σ y λ, whatever the guess."""
    pairs = [Pair(1.0, p.outcomes) for p in GRADED]
    space = Space.of(pairs)
    there = np.array([None not in outcomes for outcomes in space.seen])
    complete = np.array([outcomes for outcomes in space.seen if None not in outcomes], dtype=np.float64)
    for guess in GUESSES.values():
        found = space.estimates("dr", guess(pairs))[there]
        np.testing.assert_allclose(found, complete @ worth(pairs), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", PAIRS)
def test_design_variances_equal_the_enumerated_ones(kind: str) -> None:
    """saito20 Thms 3.3 and 4.3, for 0/1 outcomes as printed and for graded ones with E[y²]."""
    pairs = PAIRS[kind]
    space, c = Space.of(pairs), worth(pairs)
    p, m, square = ([getattr(pair, name) for pair in pairs] for name in ("propensity", "mean", "square"))
    second = None if kind == "0/1" else square
    ips = space.variance(space.estimates("ips", [0.0] * len(pairs)))
    assert design.ips_variance(p, m, c, 1, second) == pytest.approx(ips, rel=1e-12)
    for guess in GUESSES.values():
        q = guess(pairs)
        expected = space.variance(space.estimates("dr", q))
        assert design.dr_variance(p, m, c, 1, q, second) == pytest.approx(expected, rel=1e-12)
        assert design.dr_variance(p, m, c, 7, q, second) == pytest.approx(expected / 49.0, rel=1e-12)


@pytest.mark.parametrize("kind", PAIRS)
def test_dr_varies_less_than_ips_between_nothing_and_twice_the_mean(kind: str) -> None:
    """saito20 Eq. 5, by enumeration: q = a·m varies less for 0 < a < 2, equally at 0 and 2, least at 1, more beyond."""
    pairs = PAIRS[kind]
    space = Space.of(pairs)
    m = [pair.mean for pair in pairs]
    ips = space.variance(space.estimates("ips", m))
    found = {}
    for tenths in (-5, 0, 2, 5, 8, 10, 12, 15, 18, 20, 25):
        q = [tenths / 10.0 * x for x in m]
        found[tenths] = space.variance(space.estimates("dr", q))
        assert design.share_within(q, m) == (1.0 if 0 <= tenths <= 20 else 0.0)
    assert found[0] == pytest.approx(ips, rel=1e-12) and found[20] == pytest.approx(ips, rel=1e-12)
    assert all(found[t] < ips for t in found if 0 < t < 20)
    assert min(found, key=lambda t: found[t]) == 10
    assert found[-5] > ips and found[25] > ips


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_the_bound_of_ips_covers(level: float) -> None:
    """saito20 Prop 3.4 holds with at least its level over masks and 0/1 outcomes together."""
    space = Space.of(BINARY)
    p = [pair.propensity for pair in BINARY]
    reach = design.ips_bound(p, worth(BINARY), 1, level=level)
    values = space.estimates("ips", [0.0] * len(p))
    covered = float(space.chance @ (np.abs(values - truth(BINARY)) <= reach))
    assert covered >= level
    tight = math.sqrt(
        math.log(2.0 / (1.0 - level)) / 2.0 * sum((c / q) ** 2 for c, q in zip(worth(BINARY), p, strict=True))
    )
    assert reach == pytest.approx(tight, rel=1e-12)


def masks(outcomes: tuple[float, ...], propensity: float) -> Space:
    """All masks of pairs whose outcomes are settled."""
    return Space.of([Pair(propensity, ((y, 1.0),)) for y in outcomes])


@pytest.mark.parametrize("propensity", [0.3, 0.6])
def test_the_bound_of_dr_covers_given_the_outcomes(propensity: float) -> None:
    """saito20 Prop 4.4, for each vector of outcomes by itself: all 2⁴ of them, all masks of each."""
    q, level = [0.5, 0.2, 0.9, 0.4], 0.9
    for outcomes in product([0.0, 1.0], repeat=4):
        if len(set(outcomes)) == 1:
            continue  # a log without a zero, or without a conversion, has no dr
        space = masks(outcomes, propensity)
        reach = design.dr_bound([propensity] * 4, worth(space.pairs), 1, q, level=level)
        values = space.estimates("dr", q)
        assert float(space.chance @ (np.abs(values - truth(space.pairs)) <= reach)) >= level


def test_the_bound_of_dr_does_not_cover_the_expected_truth() -> None:
    """P = 1, q = m = ½: dr is Σ y / n, a coin's mean; the 95 % bound holds ½ in 82 % of the cases (counted exactly)."""
    for pairs, low, high in ((12, 0.85, 0.86), (2_000, 0.815, 0.835)):
        reach = design.dr_bound([1.0] * pairs, [1.0] * pairs, 1, [0.5] * pairs)
        inside = [k for k in range(pairs + 1) if abs(k - pairs / 2) <= reach]
        assert low < sum(math.comb(pairs, k) for k in inside) / 2**pairs < high


def test_switch_and_clips_are_biased_on_purpose() -> None:
    """switch with a wide threshold is dr; with a narrow one, and under a clip, the mean moves towards the guess."""
    space, q = Space.of(BINARY), GUESSES["half"](BINARY)
    dr = space.estimates("dr", q)
    np.testing.assert_allclose(space.estimates("switch(tau=5)", q), dr, rtol=1e-12)
    direct = float(space.estimates("direct", q)[0])
    for estimator in ("switch(tau=4)", "clipped(dr, at=0.4)", "switch(tau=1)"):
        mean = space.mean(space.estimates(estimator, q))
        assert direct - 1e-12 <= mean < truth(BINARY) - 0.01


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: design.ips_variance([0.5, 0.0], [0.1, 0.1], [1.0, 1.0], 2), "out-of-range"),
        (lambda: design.ips_variance([0.5, math.nan], [0.1, 0.1], [1.0, 1.0], 2), "out-of-range"),
        (lambda: design.ips_bound([0.5], [1.0], 1, level=1.0), "out-of-range"),
        (lambda: design.ips_bound([0.5], [1.0], 0), "out-of-range"),
        (lambda: design.ips_variance([0.5] * 3, [0.1] * 2, [1.0] * 3, 1), "wrong-shape"),
        (lambda: design.ips_variance([0.5, 0.5], [math.nan, 1.0], [1.0, 1.0], 1), "not-a-number"),
        (lambda: design.ips_variance([0.5], [3.0], [1.0], 1, [4.0]), "out-of-range"),
        (lambda: design.share_within([], []), "too-few-rows"),
    ],
)
def test_wrong_numbers_are_told(ask: Callable[[], float], code: str) -> None:
    """No variance below 0, no NaN, no traceback of numpy's."""
    with refuses(code):
        ask()
