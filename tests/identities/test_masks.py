"""Over everything that could have been seen: ips is unbiased, nothing seen is NaN or nought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.identities.clicks import RECALL, Click, Floats, held_of, masked, plan_of, some_users, values
from unskew.engine.data import EvaluationData


def expected_values(held: EvaluationData, cells: Sequence[tuple[str, str, str]]) -> Floats:
    """E[estimate] of model 0 in each cell, over all masks with their probabilities."""
    assert held.propensity is not None
    plan, p = plan_of(held, cells), held.propensity
    total = np.zeros(len(cells))
    for bits in product([False, True], repeat=len(p)):
        keep = np.array(bits, dtype=np.bool_)
        chance = np.prod(np.where(keep, p, 1.0 - p))
        total += chance * np.array([v[0] for v in values(masked(held, keep), cells, plan)])
    return total


def truths(held: EvaluationData) -> dict[str, float]:
    """recall@3 of model 0 under every target, if every pair had been seen."""
    complete = replace(held, propensity=np.ones(len(held.value)))
    found = values(complete, [("ips", t, RECALL) for t in ("per_user", "pooled", "per_user_sum")])
    return dict(zip(("per_user", "pooled", "per_user_sum"), (float(v[0]) for v in found), strict=True))


IPS_CELLS = [("ips", t, RECALL) for t in ("per_user", "pooled", "per_user_sum")]


@settings(max_examples=8)
@given(some_users(clicks=3, users=2, propensity=st.floats(0.1, 1.0)))
def test_ips_is_unbiased_over_all_masks(users: list[list[Click]]) -> None:
    """under the true P the mean of ips over all 2^n masks is the truth, whatever the world."""
    held = held_of(users, relevant=[sum(c.value for c in clicks) for clicks in users])
    np.testing.assert_allclose(expected_values(held, IPS_CELLS), list(truths(held).values()), rtol=1e-10, atol=1e-12)


def test_nothing_seen_is_nan_or_nought() -> None:
    """an empty mask has no per-user or pooled ratio (NaN); a sum over it is 0, and ips is 0."""
    users = [[Click(1.0, 0.5, 0, (1, 0))], [Click(1.0, 0.25, 0, (0, 1))]]
    held = held_of(users, relevant=[2.0, 3.0])
    nothing = masked(held, np.zeros(2, dtype=np.bool_))
    ratios = [(e, t, RECALL) for e in ("naive", "snips", "gs(strata=2)") for t in ("per_user", "pooled")]
    ratios.append(("snips", "per_user_sum", RECALL))
    assert np.isnan(values(nothing, ratios, plan_of(held, ratios))).all()
    sums = [*IPS_CELLS, ("naive", "per_user_sum", RECALL)]
    assert not np.any(values(nothing, sums, plan_of(held, sums)))
