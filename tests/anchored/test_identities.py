"""``anchored`` is ``dr`` on the joined log, and unbiased over all designs, whatever the guesses (MATHS §16)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.anchored.tiny import ITEMS, USERS, Pair, Tiny, tiny
from unskew.outcome import Given
from unskew.result import Result

METRICS = ["recall@2", "dcg@3"]


def anchored(world: Tiny, drawn: dict[Pair, float], target: str, **more: Any) -> Result:
    asked: dict[str, Any] = {"outcome": Given(world.outcome())} | more
    return us.evaluate(
        world.test(), world.recs(), metrics=METRICS, estimators=["anchored"], target=target, feedback="conversions",
        answers=world.answers(drawn), users=pl.DataFrame({"user": USERS}), items=pl.DataFrame({"item": ITEMS}),
        threads=1, per_user=True, **asked,
    )  # fmt: skip


def values(result: Result) -> dict[tuple[str, str], float]:
    """Σ N / Σ D by model and metric: in worlds so tiny, values themselves are refused."""
    rows = result.per_user().group_by("model", "metric").agg(pl.col("numerator", "divisor").sum())
    return {
        (model, metric): n / d for model, metric, n, d in rows.select("model", "metric", "numerator", "divisor").rows()
    }


@pytest.mark.parametrize("outcome", [None, "means(shrink=2)"])
@pytest.mark.parametrize("target", ["per_user_sum", "per_user_sum(normalised=pooled)"])
def test_it_is_dr_on_the_joined_log(outcome: str | None, target: str) -> None:
    """P = 1 on the log, π on the answers: the same numbers and errors to 1e-12, whatever fits q."""
    world = tiny(3)
    drawn = dict(zip(world.unseen[::2], (0.2, 0.5, 0.7), strict=True))
    joined = pl.concat([world.test().with_columns(propensity=pl.lit(1.0)), world.answers(drawn)])
    given = Given(world.outcome()) if outcome is None else outcome
    dr = us.evaluate(
        joined, world.recs(), metrics=METRICS, estimators=["dr"], target=target, feedback="conversions",
        propensity="known", outcome=given, users=pl.DataFrame({"user": USERS}), items=pl.DataFrame({"item": ITEMS}),
        threads=1, per_user=True,
    )  # fmt: skip
    found = anchored(world, drawn, target, outcome=given)
    assert values(found) == pytest.approx(values(dr), rel=1e-12, abs=1e-12)
    for v, w in zip(found.verdicts_, dr.verdicts_, strict=True):
        np.testing.assert_allclose([v.difference, v.se], [w.difference, w.se], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("seed", "useless"), [(0, True), (1, False)])
def test_unbiased_over_all_designs(seed: int, useless: bool) -> None:
    """Every subset of the unseen pairs, by its probability: the mean is the truth, also for useless guesses."""
    world = tiny(seed, useless=useless)
    pi = dict(zip(world.unseen, np.linspace(0.3, 0.9, len(world.unseen)), strict=True))
    mean: dict[tuple[str, str], float] = {}
    missing = 0.0
    for marks in product((False, True), repeat=len(pi)):
        chance = float(np.prod([p if mark else 1.0 - p for mark, p in zip(marks, pi.values(), strict=True)]))
        drawn = {pair: p for mark, (pair, p) in zip(marks, pi.items(), strict=True) if mark}
        if not drawn:  # no answers at all are refused; what anchored would be then is the log and the guesses
            missing = chance
            drawn = {}
            for key, value in no_answers(world).items():
                mean[key] = mean.get(key, 0.0) + chance * value
            continue
        for key, value in values(anchored(world, drawn, "per_user_sum")).items():
            mean[key] = mean.get(key, 0.0) + chance * value
    assert missing > 0.0
    for name in world.lists:
        assert mean[name, "recall@2"] == pytest.approx(world.truth(name, 2)[0] / len(USERS), abs=1e-12)


def no_answers(world: Tiny) -> dict[tuple[str, str], float]:
    """The log where it shows a pair, else the guess, by a loop."""
    worth = {"recall@2": [1.0, 1.0, 0.0], "dcg@3": [1.0, 1.0 / np.log2(3.0), 0.5]}
    found = {}
    for name, lists in world.lists.items():
        for metric, table in worth.items():
            total = 0.0
            for user, own in lists.items():
                for place, item in enumerate(own):
                    pair = (user, item)
                    y = world.relevance[pair] if pair in world.logged else world.guess[pair]
                    total += y * table[place]
            found[name, metric] = total / len(USERS)
    return found
