"""Closed forms and the grid of tipping points, on their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unskew.inference.tipping import GRID, closed, on_grid


def test_closed_forms_with_nothing_against_the_leader() -> None:
    """B1 = 0: the lead falls as A1/Γ only, so Γ* = A1/(B0 − A0) where B0 > A0, and there is none otherwise."""
    assert closed(np.array([1.0, 5.0, 3.0, 0.0]), 1.0) == pytest.approx(2.5)
    assert closed(np.array([3.0, 0.0, 1.0, 5.0]), -1.0) == pytest.approx(2.5)
    assert closed(np.array([3.0, 5.0, 1.0, 0.0]), 1.0) == math.inf
    assert closed(np.array([1.0, 5.0, 1.0, 0.0]), 1.0) == math.inf
    assert closed(np.array([0.0, 5.0, 0.0, 0.0]), 1.0) == math.inf


def test_closed_forms_follow_the_quadratic() -> None:
    """Γ* = [(A0−B0) + √((A0−B0)² + 4 A1 B1)] / (2 B1), √(A1/B1) for relative propensities; 1 where already behind."""
    rng = np.random.default_rng(2)
    for a0, a1, b0, b1 in rng.uniform(0.1, 3.0, (50, 4)):
        lead = a0 - b0
        expected = (lead + math.sqrt(lead**2 + 4.0 * a1 * b1)) / (2.0 * b1) if lead + a1 - b1 > 0.0 else 1.0
        assert closed(np.array([a0, a1, b0, b1]), 1.0) == pytest.approx(expected)
        assert closed(np.array([b0, b1, a0, a1]), -1.0) == pytest.approx(expected)
        assert closed(np.array([0.0, a1, 0.0, b1]), 1.0) == pytest.approx(max(math.sqrt(a1 / b1), 1.0))
        for q in (-0.3, 0.4):  # settled: for the first model, so for the leader only where that is the first
            lead = a0 - b0 + q
            expected = (lead + math.sqrt(lead**2 + 4.0 * a1 * b1)) / (2.0 * b1) if lead + a1 - b1 > 0.0 else 1.0
            assert closed(np.array([a0, a1, b0, b1]), 1.0, q) == pytest.approx(expected)
            assert closed(np.array([b0, b1, a0, a1]), -1.0, -q) == pytest.approx(expected)
    batch, settled = rng.uniform(0.1, 3.0, (7, 4)), rng.normal(size=7)
    np.testing.assert_array_equal(closed(batch, 1.0), [closed(row, 1.0) for row in batch])
    each = [closed(row, 1.0, q) for row, q in zip(batch, settled, strict=True)]
    np.testing.assert_array_equal(closed(batch, 1.0, settled), each)
    assert closed(np.zeros(4), 1.0) == 1.0


def test_closed_forms_keep_their_digits_when_hardly_anything_may_vary() -> None:
    """B1 → 0 (rows against the leader seen almost surely) goes over into the case B1 = 0 without a jump."""
    for b1 in (1e-6, 1e-9, 1e-12, 1e-15, 1e-18):
        gamma = closed(np.array([1.0, 5.0, 3.0, b1]), 1.0)
        assert gamma == pytest.approx(2.5, rel=1e-6 + 10.0 * b1)


def test_the_grid_is_interpolated_in_log_gamma() -> None:
    """A crossing half-way lies at the geometric mean; at a node it is the node; before the first it is 1."""
    worst = np.where(GRID < 1.75, 1.0, -1.0)
    assert on_grid(worst) == pytest.approx(math.sqrt(1.5 * 1.75))
    worst = np.where(GRID < 1.75, 3.0, -1.0)
    assert on_grid(worst) == pytest.approx(1.5**0.25 * 1.75**0.75)
    worst = np.maximum(2.0 - GRID, 0.0)
    assert on_grid(worst) == pytest.approx(2.0)
    assert on_grid(np.ones_like(GRID)) == math.inf
    assert on_grid(np.zeros_like(GRID)) == 1.0
    assert on_grid(-np.ones_like(GRID)) == 1.0
    end = np.ones_like(GRID)
    end[-1] = -1.0
    assert on_grid(end) == pytest.approx(math.sqrt(GRID[-2] * GRID[-1]))
    batch = np.stack([worst, np.ones_like(GRID), -np.ones_like(GRID), end])
    np.testing.assert_array_equal(on_grid(batch), [on_grid(row) for row in batch])
