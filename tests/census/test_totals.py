"""Sums over all candidates against a loop over pairs, and samples of them: right on average over all starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.kernels.arrays import Floats
from unskew.kernels.census import candidate_totals

USERS, ITEMS, TILTS, RANK = 4, 9, 3, 2


def drawn(seed: int) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {
        "of_user": rng.normal(size=USERS), "of_item": rng.normal(0, 2, ITEMS),
        "user_factors": rng.normal(size=(USERS, RANK)), "item_factors": rng.normal(size=(ITEMS, RANK)),
        "item": rng.normal(size=(ITEMS, 2)), "against": np.exp(rng.normal(size=(ITEMS, TILTS))),
        "gone": (rng.random((USERS, ITEMS)) < 0.3).astype(float),
    }  # fmt: skip


def totals(world: dict[str, Floats], step: int, start: int) -> Floats:
    gone = world["gone"] > 0.0
    where = np.concatenate([[0], np.cumsum(gone.sum(axis=1))]).astype(np.int64)
    out = np.empty((USERS, TILTS, 5))
    candidate_totals(
        0, USERS, np.arange(ITEMS, dtype=np.int32), where, np.nonzero(gone)[1].astype(np.int32), world["of_user"],
        world["of_item"], world["user_factors"], world["item_factors"], world["item"], 0.3, 0.7, world["against"],
        np.full(USERS, start, dtype=np.int64), step, out,
    )  # fmt: skip
    return out


@given(seed=st.integers(0, 10_000))
def test_sums_over_candidates_are_those_of_a_loop(seed: int) -> None:
    """Σ q, Σ v, Σ v·features, Σ v·affinity over items that are not gone; v = q(1 − q)."""
    world = drawn(seed)
    expected = np.zeros((USERS, TILTS, 5))
    for u in range(USERS):
        for i in range(ITEMS):
            if world["gone"][u, i]:
                continue
            a = 0.3 + float(world["user_factors"][u] @ world["item_factors"][i])
            eta = world["of_user"][u] + world["of_item"][i] + 0.7 * a
            for t in range(TILTS):
                q = 1.0 / (1.0 + np.exp(-eta) * world["against"][i, t])
                x, y = world["item"][i]
                expected[u, t] += np.array([q, *(q * (1.0 - q) * np.array([1.0, x, y, a]))])
    np.testing.assert_allclose(totals(world, 1, 0), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("step", [2, 4])
def test_a_sample_is_right_on_average(step: int) -> None:
    """Over all starts every item counts once."""
    world = drawn(1)
    mean = np.mean([totals(world, step, start) for start in range(step)], axis=0)
    np.testing.assert_allclose(mean, totals(world, 1, 0), rtol=1e-12)
