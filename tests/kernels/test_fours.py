"""Four rows at a time against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.kernels.compiled import njit
from unskew.kernels.fours import LANES, squares_four, visit_four

SHIFT, SLOPE = np.float32(1.5), np.float32(-0.25)


@njit(cache=False)
def visited(rows, first, x, shift, slope, out):  # type: ignore[no-untyped-def]
    visit_four(rows, first, x, shift, slope, out)
    return squares_four(rows, first, x)


@pytest.mark.parametrize("width", [LANES, 3 * LANES, 7 * LANES])
@pytest.mark.parametrize("first", [0, 2, 5])
def test_products_and_weighted_sums(width: int, first: int) -> None:
    """Only the four rows from ``first`` on are read, and what ``out`` held stays in the sum."""
    rng = np.random.default_rng(0)
    rows, x, out = (rng.normal(size=shape).astype(np.float32) for shape in ((9, width), width, width))
    four, before = rows[first : first + 4].astype(np.float64), out.copy()
    rows[:first], rows[first + 4 :] = np.nan, np.nan
    squares = visited(rows, first, x, SHIFT, SLOPE, out)
    np.testing.assert_allclose(squares, np.sum((four @ x) ** 2), rtol=1e-5)
    np.testing.assert_allclose(out, before + (SHIFT + SLOPE * (four @ x)) @ four, rtol=1e-4, atol=1e-4)
