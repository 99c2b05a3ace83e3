"""Which verdicts have a tipping point, its lower end, and what it does not depend on."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.corners import GS, verdict, worths
from unskew.engine.memory import estimate, tilt
from unskew.engine.tilts import Pull
from unskew.estimators import Stratified
from unskew.evaluation.answer import answer
from unskew.inference.bootstrap import replicate_sums

from .worlds import Floats, draw, plan_of, setting


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5"])
@pytest.mark.parametrize("estimator", ["naive", "snips", GS])
def test_metrics_that_are_no_sums_have_no_tipping_point(metric: str, estimator: str) -> None:
    """none for ndcg and map, whose divisor moves with the weights."""
    held = draw(41, 200, (0.3, 1.5)).held(relative=True)
    row = verdict(held, (estimator, "per_user"), metric)
    assert row.difference != 0.0
    assert row.tipping is None and row.tipping_low is None and row.tipping_kind is None


def test_stratified_has_no_tipping_point() -> None:
    """stratified weighs by given shares, so wrong propensities are not its trouble."""
    held = draw(41, 200, (0.3, 1.5)).held(relative=True)
    shares = {str(v): 0.2 for v in range(1, 6)}
    row = verdict(held, (Stratified(shares=shares), "per_user"))
    assert row.difference != 0.0
    assert row.tipping is None and row.tipping_kind is None


def test_many_models_are_compared_with_the_leader_only() -> None:
    """Beyond twelve models only pairs with the leader get a tipping point; up to twelve all pairs do."""
    for models in (12, 13):
        held = draw(42, 300, np.linspace(0.2, 1.5, models).tolist()).held(relative=True)
        found = answer(held, plan_of(held, (("snips", "pooled"),)), setting(models))
        leader = max(found.estimates, key=lambda row: row.value).model
        for row in found.verdicts:
            expected = row.difference != 0.0 and (models <= 12 or leader in (row.a, row.b))
            assert (row.tipping is not None) == expected


@pytest.mark.parametrize("quality", [(0.5, 0.5), (0.5, 2.0)], ids=["close", "clear"])
def test_tipping_low_is_the_lower_quantile_of_the_replicates(quality: tuple[float, float]) -> None:
    """docs/estimators.md with sampling error: Γ* in every replicate, √(Σω·for / Σω·against), and its 5 % quantile."""
    held = draw(43, 400, quality).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(held, plan, setting(2, replicates=300, seed=6)).verdicts
    sign = math.copysign(1.0, row.difference)
    assert held.propensity is not None
    pulls = sign * (worths(held.lists[0], held) - worths(held.lists[1], held)) * held.value / held.propensity
    user = np.repeat(np.arange(400), np.diff(held.indptr))
    ahead = np.bincount(user, np.maximum(pulls, 0.0), minlength=400)
    behind = np.bincount(user, np.maximum(-pulls, 0.0), minlength=400)
    drawn = replicate_sums(np.column_stack([ahead, behind]), held.hashes, 6, 300)
    gammas = np.sort(np.maximum(np.sqrt(drawn[:, 0] / drawn[:, 1]), 1.0))
    assert row.tipping == pytest.approx(math.sqrt(ahead.sum() / behind.sum()), rel=1e-9)
    assert row.tipping_low == pytest.approx(gammas[math.floor(0.05 * 299)], rel=1e-9)
    assert row.tipping is not None and row.tipping_low is not None
    assert 1.0 <= row.tipping_low < row.tipping
    assert (row.tipping_low > 1.0) == (quality == (0.5, 2.0))


@pytest.mark.parametrize("cell", [("snips", "per_user"), (GS, "per_user"), ("ips", "per_user")], ids=" ".join)
def test_tipping_low_lies_below_the_tipping_point(cell: tuple[str, str]) -> None:
    """The quantile that holds at the level is below the point itself, for grids and closed forms, and at least 1."""
    for seed in range(44, 52):
        held = draw(seed, 500, (0.5, 0.8)).held()
        (row,) = answer(held, plan_of(held, (cell,)), setting(2, replicates=200)).verdicts
        assert row.tipping is not None and row.tipping_low is not None
        assert 1.0 <= row.tipping_low <= row.tipping
        if row.p > 0.2:
            assert row.tipping_low == 1.0


def test_replicates_without_a_divisor_do_not_lower_the_tipping_point() -> None:
    """Dropped replicates have no Γ*: a leader that is ahead for every clicker is ahead in all others."""
    users, clickers = 200, 3
    held = draw(53, users, (0.5, 0.5)).held(relative=True)
    best, other = (found.item.reshape(users, 5) for found in held.lists)
    item = np.array([next(i for i in best[u] if i not in other[u]) for u in range(clickers)], dtype=np.int32)
    held = replace(
        held,
        indptr=np.minimum(np.arange(users + 1), clickers).astype(np.int64),
        item=item,
        value=np.ones(clickers),
        propensity=np.full(clickers, 0.5),
    )
    for cell in (("snips", "pooled"), ("snips", "per_user")):
        found = answer(held, plan_of(held, (cell,)), setting(2, replicates=1_000, seed=4, level=0.98))
        assert found.lost_replicates > 20
        assert found.verdicts[0].tipping == math.inf
        assert found.verdicts[0].tipping_low == math.inf


def test_the_second_pass_does_not_depend_on_threads_or_blocks() -> None:
    """Sums for tipping points: the same bits for any number of threads, 1e-12 for any block size."""
    held = draw(54, 900, (0.5, 0.9)).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"), ("snips", "per_user")))
    values = [m.values for m in estimate(held, plan.arms, plan.cells).moments]
    pulls = [
        Pull(plan.arms[0], 0, 0, 1, float(np.sign(values[0][0] - values[0][1])), False, 0, 0),
        Pull(plan.arms[1], 0, 0, 1, float(np.sign(values[1][0] - values[1][1])), True, 4, 1),
    ]

    def run(threads: int, block: int) -> tuple[Floats, Floats]:
        totals, drawn = tilt(held, pulls, replicates=20, seed=1, threads=threads, block=block)
        assert drawn is not None
        return totals, drawn

    first = run(1, 100)
    for left, right in zip(run(3, 100), first, strict=True):
        np.testing.assert_array_equal(left, right)
    for left, right in zip(run(1, 4096), first, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
