"""Scores and bits of panels against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.kernels.compiled import njit
from unskew.kernels.panels import PANEL, count_bits, lowest, reach, reach_four


@njit(cache=False)
def reached(users, four, panels, p, floors, scores):  # type: ignore[no-untyped-def]
    return reach_four(users, four, panels, p, floors, scores)


@njit(cache=False)
def asked(scores, row, floor):  # type: ignore[no-untyped-def]
    bits = reach(scores, row, floor)
    return bits, lowest(bits), count_bits(bits)


def bits_of(there: np.ndarray) -> int:
    """A number with a bit for each item that is there."""
    return sum(1 << place for place, one in enumerate(there) if one)


@pytest.mark.parametrize("dim", [1, 5, 64])
def test_scores_and_bits_of_four_users(dim: int) -> None:
    """Scores are those of the product; bits are of exactly those scores that reach the floor of their user."""
    rng = np.random.default_rng(dim)
    users, panels = (rng.normal(size=shape).astype(np.float32) for shape in ((6, dim), (3, dim, PANEL)))
    floors = np.array([0.0, -np.inf, 0.3, np.inf, -0.5, 0.1], dtype=np.float32)
    scores, four = np.empty((4, PANEL), dtype=np.float32), (5, 1, 3, 0)
    found = reached(users, four, panels, 1, floors, scores)
    np.testing.assert_allclose(scores, users[list(four)].astype(np.float64) @ panels[1], rtol=1e-4, atol=1e-5)
    assert list(found) == [bits_of(scores[r] >= floors[user]) for r, user in enumerate(four)]


def test_bits_of_one_row() -> None:
    """A score that equals the number reaches it; NaN and −∞ do not."""
    scores = np.random.default_rng(0).normal(size=(3, PANEL)).astype(np.float32)
    scores[2, [0, 7]] = np.nan, -np.inf
    floor = np.sort(scores[2, 1:7])[3]
    bits, first, many = asked(scores, 2, floor)
    there = scores[2] >= floor
    assert (bits, first, many) == (bits_of(there), int(np.argmax(there)), int(there.sum()))
