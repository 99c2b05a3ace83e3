"""Which verdicts have a tipping point, its lower end, and what it does not depend on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.engine.passes import first_pass, second_pass
from tests.inference.corners import GS, verdict, worths
from unskew.engine.memory import MemoryEngine
from unskew.engine.sensitivity import ModelPair
from unskew.estimators import Stratified
from unskew.inference.bootstrap import replicate_sums
from unskew.judging.measure import measure
from unskew.judging.tipping_points import tipping_points

from .worlds import Floats, answer, draw, plan_of, setting


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
        decided = [row for row in found.verdicts if row.verdict != "undecided"]
        assert 10 < len(decided) < len(found.verdicts)
        for row in found.verdicts:
            expected = row in decided and (models <= 12 or leader in (row.a, row.b))
            assert (row.tipping is not None) == expected
            assert (row.tipping_kind is not None) == expected


@pytest.mark.parametrize("replicates", [300, 2_000])
def test_tipping_low_is_the_lower_quantile_of_the_replicates(replicates: int) -> None:
    """docs/estimators.md with sampling error: Γ* in every replicate, √(Σω·for / Σω·against), and its 5 % quantile.

    Without a bootstrap it comes from standard errors of the worst cases, and is about the same.
    """
    held = draw(43, 400, (0.5, 2.0)).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(held, plan, setting(2, replicates=replicates, seed=6)).verdicts
    sign = math.copysign(1.0, row.difference)
    assert held.propensity is not None
    pairs = sign * (worths(held.lists[0], held) - worths(held.lists[1], held)) * held.value / held.propensity
    user = np.repeat(np.arange(400), np.diff(held.indptr))
    ahead = np.bincount(user, np.maximum(pairs, 0.0), minlength=400)
    behind = np.bincount(user, np.maximum(-pairs, 0.0), minlength=400)
    drawn = replicate_sums(np.column_stack([ahead, behind]), held.hashes, 6, replicates)
    gammas = np.sort(np.maximum(np.sqrt(drawn[:, 0] / drawn[:, 1]), 1.0))
    assert row.tipping == pytest.approx(math.sqrt(ahead.sum() / behind.sum()), rel=1e-9)
    assert row.tipping_low == pytest.approx(gammas[math.floor(0.05 * (replicates - 1))], rel=1e-9)
    assert row.tipping is not None and row.tipping_low is not None
    assert 1.0 < row.tipping_low < row.tipping
    (plain,) = answer(held, plan, setting(2)).verdicts
    assert plain.tipping_low == pytest.approx(row.tipping_low, rel=0.03)


@pytest.mark.parametrize("cell", [("snips", "per_user"), (GS, "per_user"), ("ips", "per_user")], ids=" ".join)
def test_tipping_low_lies_below_the_tipping_point(cell: tuple[str, str]) -> None:
    """The quantile that holds at the level is below the point itself, for grids and closed forms, and at least 1."""
    for seed in range(44, 52):
        held = draw(seed, 500, (0.5, 0.8)).held()
        plan = plan_of(held, (cell,))
        found = tipping_points(measure(MemoryEngine(held), plan, setting(2, replicates=200)), {(0, 0, 1)})[0, 0, 1]
        assert 1.0 <= found.low <= found.value
        (row,) = answer(held, plan, setting(2)).verdicts
        if row.p > 0.2:
            assert found.low == 1.0


def test_the_second_pass_does_not_depend_on_threads_or_blocks() -> None:
    """Sums for tipping points: the same bits for any number of threads, 1e-12 for any block size."""
    held = draw(54, 900, (0.5, 0.9)).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"), ("snips", "per_user")))
    values = [m.values for m in first_pass(held, plan).moments]
    pairs = [
        ModelPair(plan.runs[0], 0, 0, 1, float(np.sign(values[0][0] - values[0][1])), 0, 0),
        ModelPair(plan.runs[1], 0, 0, 1, float(np.sign(values[1][0] - values[1][1])), 4, 1, 1),
    ]

    def run(threads: int, block: int) -> tuple[Floats, Floats]:
        found = second_pass(held, pairs, replicates=20, seed=1, threads=threads, block=block)
        assert found.replicates is not None
        return found.totals, found.replicates

    first = run(1, 100)
    for left, right in zip(run(3, 100), first, strict=True):
        np.testing.assert_array_equal(left, right)
    for left, right in zip(run(1, 4096), first, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
