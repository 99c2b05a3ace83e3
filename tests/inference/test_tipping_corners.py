"""Tipping points against brute force over all corners of the weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.inference.corners import GS, Brute, small, verdict
from unskew.inference.tipping import GRID

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
