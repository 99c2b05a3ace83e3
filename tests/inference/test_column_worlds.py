"""The worlds of ``column_study`` are what they say, and its page counts right: no library in between."""

from __future__ import annotations

import numpy as np
import pytest

from .broken_columns import BROKEN
from .column_study import Task
from .column_worlds import World, mark
from .honest_columns import HONEST
from .verdict_worlds import Floats

# What is drawn is what was clicked, not what is relevant.
CLICKED = ("places looked at", "crawlers")
COLUMNS = [kind for kind in [*BROKEN, *HONEST] if kind not in (*CLICKED, "train and test swapped")]


def hits(kind: str, lift: float) -> Floats:
    """Relevant items that lists a and b alone hold, over three worlds, and how many pairs each holds alone."""
    found = np.zeros((2, 2))
    for n in range(3):
        world = Task(kind, n, lift).draw()
        assert isinstance(world, World)
        a, b = (mark(items, world.seen.shape[1]) for items in (world.a, world.b))
        found += [[(alone & world.relevant).sum(), alone.sum()] for alone in (a & ~b, b & ~a)]
    return found


@pytest.mark.parametrize("kind", COLUMNS)
def test_equal_models_are_equal(kind: str) -> None:
    """Lists hold as many relevant items, within four standard errors."""
    (a, alone_a), (b, alone_b) = hits(kind, 1.0)
    assert abs(a / alone_a - b / alone_b) < 4.0 * np.sqrt(a / alone_a**2 + b / alone_b**2)


@pytest.mark.parametrize("kind", HONEST)
def test_the_better_model_is_better_by_the_lift(kind: str) -> None:
    """What list b alone holds is relevant so many times as often."""
    lift = HONEST[kind][1]
    (a, alone_a), (b, alone_b) = hits(kind, lift)
    assert abs(b / alone_b / (a / alone_a) / lift - 1.0) < 4.0 * np.sqrt(1.0 / a + 1.0 / b)


@pytest.mark.parametrize(
    "kind", [kind for kind in HONEST if kind not in ("silent users, unnamed", "few rows", "own split")]
)
def test_honest_columns_add_up(kind: str) -> None:
    """Σ 1/P over seen pairs that one list alone holds is their number, within five standard errors or 3 %."""
    for n in range(3):
        world = Task(kind, n).draw()
        assert isinstance(world, World)
        a, b = (mark(items, world.seen.shape[1]) for items in (world.a, world.b))
        for alone in (a & ~b, b & ~a):
            alone &= world.seen.any(axis=1, keepdims=True) | world.population
            weights = np.where(world.seen & alone, 1.0 / world.written, 0.0).sum(axis=1) - alone.sum(axis=1)
            assert abs(weights.sum()) < max(5.0 * np.sqrt((weights**2).sum()), 0.03 * alone.sum())
