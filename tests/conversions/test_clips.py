"""Clips of estimators of sums: whose propensities a quantile is taken over, and clips inside clips."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.conversions import reference as ref
from tests.conversions.reference import Metric, Row, Rule, World
from unskew.outcome import Given

USERS, ITEMS = ["a", "b", "c", "d"], ["i", "j", "k", "l", "m"]
# what brought something was likely to be seen, what brought nothing was not
ROWS = [
    Row(user, item, float((n + m) % 2), 0.9 - 0.06 * m - 0.03 * n if (n + m) % 2 else 0.05 + 0.03 * m + 0.02 * n)
    for n, user in enumerate(USERS)
    for m, item in enumerate(ITEMS)
    if (n, m) != (1, 3)
]
Q = {(user, item): 0.15 + 0.13 * n + 0.05 * m for n, user in enumerate(USERS) for m, item in enumerate(ITEMS)}
LISTS = {user: {item: rank for rank, item in enumerate(ITEMS[n:] + ITEMS[:n], 1)} for n, user in enumerate(USERS)}
KINDS = {"ips": "ips", "snips": "snips", "snips(over=list)": "snips over list", "dr": "dr", "sndr": "sndr"}


def evaluate(estimator: str, target: str = ref.PLAIN) -> us.Estimate:
    """dcg@3 by one estimator."""
    log = pl.DataFrame([vars(row) for row in ROWS])
    lists = pl.DataFrame(
        [(u, i, r) for u, ranks in LISTS.items() for i, r in ranks.items()],
        schema=["user", "item", "rank"],
        orient="row",
    )
    table = pl.DataFrame([(*pair, q) for pair, q in Q.items()], schema=["user", "item", "prediction"], orient="row")
    asked: dict[str, Any] = {"metrics": ["dcg@3"], "propensity": "known", "feedback": "conversions", "target": target}
    (found,) = us.evaluate(log, {"m": lists}, estimators=[estimator], outcome=Given(table), **asked).estimates
    return found


def expected(kind: str, floor: float, target: str = ref.PLAIN) -> tuple[float, float]:
    """Value and clipped share by loops."""
    world, rule = World(USERS, ROWS, [], LISTS, Q), Rule(kind, floor=floor)
    return ref.value(ref.terms(world, Metric("dcg", 3), rule, target)), ref.clipped_share(world, rule)


def edge(propensities: list[float], share: float) -> float:
    """The lower edge of the quantile's bin, 256 bins to the octave."""
    there = sorted(propensities)[math.floor(share * len(propensities))]
    return float(2.0 ** (math.floor(256.0 * math.log2(there)) / 256.0))


@pytest.mark.parametrize("estimator", KINDS)
def test_a_clip_is_a_floor_over_the_pairs_that_weigh(estimator: str) -> None:
    """ips weighs pairs that brought something, self-normalised and doubly robust estimators every seen pair; of two
    clips the higher one holds, whichever is inside."""
    every, liked = ([row.propensity for row in ROWS if row.value >= least] for least in (0.0, 1.0))
    if estimator == "ips":
        every, liked = liked, every
    floors = {f"quantile={share}": (edge(every, share), edge(liked, share)) for share in (0.1, 0.45)}
    clips = {f"clipped({estimator}, {said})": ends for said, ends in floors.items()}
    for one, two in ((0.3, 0.75), (0.75, 0.3)):
        clips[f"clipped(clipped({estimator}, at={one}), at={two})"] = (0.75, 0.3)
    for asked, (floor, other) in clips.items():
        found = evaluate(asked)
        assert (found.value, found.clipped_share) == pytest.approx(expected(KINDS[estimator], floor), rel=1e-12)
        assert found.value != pytest.approx(expected(KINDS[estimator], other)[0], rel=1e-3)
