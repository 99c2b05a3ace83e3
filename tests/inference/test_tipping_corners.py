"""Tipping points against brute force over all corners of the weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.engine.passes import second_pass
from tests.inference.corners import GS, Brute, small, verdict
from unskew.engine.sensitivity import ModelPair
from unskew.inference.tipping import GRID

from .worlds import plan_of

CLOSED = (
    ("snips", "pooled"),
    (GS, "pooled"),
    ("naive", "pooled"),
    ("ips", "per_user"),
    ("ips", "pooled"),
    ("ips", "per_user_sum"),
    ("snips", "per_user_sum"),
    ("naive", "per_user_sum"),
    ("clipped(snips, quantile=0.3)", "pooled"),
)
RATIOS = (("snips", "per_user"), (GS, "per_user"), ("naive", "per_user"))


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", CLOSED, ids=" ".join)
def test_closed_tipping_points_are_where_the_worst_case_turns(cell: tuple[str, str], relative: bool) -> None:
    """just below Γ* no weights undo the lead, just above some do; ∞ where none ever do."""
    kinds = set()
    for seed in range(12):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        row = verdict(held, cell)
        assert row.difference == pytest.approx(brute.lead, rel=1e-9, abs=1e-15)
        if abs(brute.lead) < 1e-12:
            assert row.tipping is None
            continue
        assert row.tipping is not None and row.tipping > 1.0
        assert row.tipping_low is not None and 1.0 <= row.tipping_low <= row.tipping
        kinds.add(math.isinf(row.tipping))
        if math.isinf(row.tipping):
            assert brute.worst(1e9) >= -1e-8
        else:
            assert brute.worst(row.tipping * (1.0 - 1e-6)) > 0.0 > brute.worst(row.tipping * (1.0 + 1e-6))
    assert False in kinds


@pytest.mark.parametrize("cell", [*CLOSED, *RATIOS], ids=" ".join)
def test_corners_are_the_worst_weights(cell: tuple[str, str]) -> None:
    """Random weights inside the box never do worse than its worst corner."""
    rng = np.random.default_rng(8)
    for seed in range(4):
        brute = Brute.of(small(seed, relative=False), cell)
        low, high = brute.bounds(1.7)
        inside = low + rng.random((2_000, len(low))) * (high - low)
        assert (math.copysign(1.0, brute.lead) * brute.difference(inside)).min() >= brute.worst(1.7) - 1e-12


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", RATIOS, ids=" ".join)
def test_worst_ratios_inside_users_are_those_of_all_corners(cell: tuple[str, str], relative: bool) -> None:
    """Per-user snips, gs and naive: the mean over users of the least ratio, at every Γ of the grid."""
    for seed in range(8):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        run = plan_of(held, (cell,)).runs[0]
        sign = math.copysign(1.0, brute.lead)
        found = second_pass(held, [ModelPair(run, 0, 0, 1, sign, 0, 0)], threads=1)
        assert found.replicates is None
        totals = found.totals
        counting = sum(held.value[list(brute.rows(u))].sum() > 0.0 for u in range(held.users))
        expected = [brute.worst(gamma) for gamma in GRID]
        np.testing.assert_allclose(totals / counting, expected, rtol=1e-9, atol=1e-12)
        assert (np.diff(totals) <= 1e-12).all()


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", RATIOS, ids=" ".join)
def test_grid_tipping_points_are_interpolated_between_neighbours(cell: tuple[str, str], relative: bool) -> None:
    """The true crossing lies between the same neighbours of the grid; inside, log Γ is interpolated linearly."""
    finite = 0
    for seed in range(20):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        if abs(brute.lead) < 1e-12:
            continue
        row = verdict(held, cell)
        worst = [brute.worst(gamma) for gamma in GRID]
        after = next((j for j, value in enumerate(worst) if value <= 0.0), None)
        if after is None:
            assert row.tipping == math.inf
            continue
        finite += 1
        part = worst[after - 1] / (worst[after - 1] - worst[after])
        expected = math.exp((1.0 - part) * math.log(GRID[after - 1]) + part * math.log(GRID[after]))
        assert row.tipping == pytest.approx(expected, rel=1e-9)
        true = _crossing(brute.worst, GRID[after - 1], GRID[after])
        assert row.tipping is not None
        assert GRID[after - 1] <= row.tipping <= GRID[after]
        assert row.tipping == pytest.approx(true, rel=0.1)
    assert finite >= 5


def _crossing(worst: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if worst(middle) > 0.0 else (low, middle)
    return high


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", [*CLOSED, *RATIOS], ids=" ".join)
def test_swapping_the_models_keeps_the_tipping_point(cell: tuple[str, str], relative: bool) -> None:
    """Γ* belongs to the pair: naming the models the other way round changes the sign of the difference only."""
    for seed in range(10):
        held = small(seed, relative=relative)
        row, mirrored = verdict(held, cell), verdict(replace(held, lists=held.lists[::-1]), cell)
        assert mirrored.difference == pytest.approx(-row.difference, rel=1e-9, abs=1e-15)
        if abs(row.difference) > 1e-12:
            assert mirrored.tipping == pytest.approx(row.tipping, rel=1e-9)
