"""Which verdicts have a tipping point, and its lower end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inference.corners import worths
from unskew.inference.bootstrap import replicate_sums

from .worlds import answer, draw, plan_of, setting


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
