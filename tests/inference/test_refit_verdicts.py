"""Verdicts under ``--refit`` rest on what the intervals rest on: replicates with the bias of the fit taken off.

Two lists of equal worth to everybody, one of much shown and one of little shown items; liking depends on neither.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from unskew.inference.intervals import percentile, two_sided_p
from unskew.inference.steps import corrected, prolonged

from .refit_study import popularity, step, sums

Floats = npt.NDArray[np.float64]
ITEMS, PLACES, TEST = 30, 5, 400
LIKED = 0.4


def lists(rng: np.random.Generator, tilt: float) -> npt.NDArray[np.int64]:
    """Five items for each test user, drawn with weights that fall (or rise) along the catalogue."""
    weight = np.log(np.geomspace(1.0, tilt, ITEMS))
    return np.argsort(-(weight + rng.gumbel(size=(TEST, ITEMS))), axis=1)[:, :PLACES]


def seen(rng: np.random.Generator, users: int, least: float) -> tuple[Floats, Floats]:
    """What was seen, and what of it was liked."""
    there = rng.random((users, ITEMS)) < np.geomspace(0.6, least, ITEMS)
    return there.astype(np.float64), (there & (rng.random(there.shape) < LIKED)).astype(np.float64)


@cache
def evaluated(world: int, *, training: int = 60, least: float = 0.05, replicates: int = 200) -> us.Result:
    """What a user of the package would do, with propensities from few training users."""
    rng = np.random.default_rng(world)
    frames = []
    for prefix, number in (("t", training), ("e", TEST)):
        shown, liked = seen(rng, number, least)
        user, item = np.nonzero(shown)
        frames.append(pl.DataFrame({"user": [f"{prefix}{u}" for u in user], "item": item, "value": liked[user, item]}))
    users = [f"e{u}" for u in range(TEST)]
    rank = np.tile(np.arange(1, PLACES + 1), TEST)
    return us.evaluate(
        frames[1],
        {
            name: pl.DataFrame({"user": np.repeat(users, PLACES), "item": lists(rng, tilt).ravel(), "rank": rank})
            for name, tilt in (("head", 0.02), ("tail", 50.0))
        },
        metrics=["recall@5"],
        estimators=["naive", "ips"],
        target="per_user_sum",
        propensity="popularity(gamma=1, level=absolute)",
        train=frames[0],
        share="users",
        feedback="conversions",
        users=pl.DataFrame({"user": users}),
        interval="bootstrap",
        refit=True,
        replicates=replicates,
        candidates="all",
    )


@pytest.mark.parametrize("world", range(6))
def test_differences_p_and_verdicts_go_with_the_interval(world: int) -> None:
    """The difference lies inside its interval, p is at least that of it and its error, and both say the same of 0."""
    (v,) = (v for v in evaluated(world).verdicts_ if v.estimator == "ips")
    assert v.low < v.difference < v.high
    assert v.high - v.low >= 3.0 * v.se
    assert v.p >= two_sided_p(v.difference, v.se) * (1.0 - 1e-12)
    assert (v.verdict != "undecided") == (not v.low <= 0.0 <= v.high)


def test_estimates_outside_their_interval_are_explained() -> None:
    """Where the correction exceeds chance, a caution names the estimate; where none is outside, there is none."""
    said = set()
    for world in range(6):
        result = evaluated(world)
        outside = [e for e in result.estimates if not e.low <= e.value <= e.high]
        words = [w for w in result.warnings if w.code == "outside-own-interval"]
        assert len(words) == bool(outside)
        if outside:
            assert words[0].startswith(f"{len(outside)} of 4 estimates") and outside[0].model in words[0]
        said.add(bool(outside))
    assert said == {True, False}


def test_few_replicates_are_said() -> None:
    """The number stands in a warning of its own, beside what refitting changes."""
    enough, few = ([w for w in r.warnings if w.code == "refitted"] for r in (evaluated(0), evaluated(0, replicates=50)))
    assert len(enough) == 1 and len(few) == 2 and " 50 " in few[1]


def study(worlds: int, training: int, least: float) -> tuple[float, float]:
    """Shares of false verdicts, and of those that say of 0 what the interval does not."""
    false, against = 0, 0
    for world in range(worlds):
        rng = np.random.default_rng(world)
        shown, liked = seen(rng, training, least)
        trained = np.split(
            sums(np.column_stack([shown, liked, np.ones(training)]), "t", world, 200), [ITEMS, 2 * ITEMS], axis=1
        )
        fitted = (trained[0], trained[1], trained[2][:, 0])
        _, clicks = seen(rng, TEST, least)
        found = []
        for tilt in (0.02, 50.0):
            inside = np.zeros((TEST, ITEMS))
            np.put_along_axis(inside, lists(rng, tilt), 1.0, axis=1)
            found.append(clicks * inside)
        tested = np.split(sums(np.column_stack([*found, np.ones(TEST)]), "e", world, 200), [ITEMS, 2 * ITEMS], axis=1)

        def values(p: Floats, rows: slice, tested: list[Floats] = tested) -> Floats:
            return np.column_stack([(tested[m][rows] / p).sum(axis=1) for m in (0, 1)]) / tested[2][rows]

        p, near = popularity(*fitted), popularity(*(step(total) for total in fitted))
        alike, drawn = slice(0, 1), slice(1, None)
        value, known = values(p[:1], alike)[0], values(p[:1], drawn)
        refit = prolonged(value, known, values(near[1:], drawn), values(near[1:], alike))
        interval = percentile(refit[:, 0] - refit[:, 1], 0.95)
        centre = corrected(refit)
        p_value = two_sided_p(float(centre[0] - centre[1]), interval.se)
        false += int(p_value < 0.05)
        against += (p_value < 0.05) != (not interval.low <= 0.0 <= interval.high)
    return false / worlds, against / worlds


def test_false_verdicts_are_as_rare_as_promised() -> None:
    """100 training users, least P 0.1, 600 worlds: at most 5 % false verdicts, three Monte Carlo errors (0.9) allowed;
    verdict and interval differ in the borderline worlds only."""
    false, against = study(600, 100, 0.1)
    assert false <= 0.05 + 0.027
    assert against <= 0.02
