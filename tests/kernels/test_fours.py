"""Four rows at a time against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.kernels.compiled import njit
from unskew.kernels.fours import LANES, meet_four, spread_four


@njit(cache=False)
def both(rows, first, x, out):  # type: ignore[no-untyped-def]
    s, t, u, v = meet_four(rows, first, x)
    spread_four(rows, first, s, t, u, v, out)
    return s, t, u, v


@pytest.mark.parametrize("width", [LANES, 3 * LANES, 7 * LANES])
@pytest.mark.parametrize("first", [0, 2, 5])
def test_products_and_weighted_sums(width: int, first: int) -> None:
    """Only the four rows from ``first`` on are read, and what ``out`` held stays in the sum."""
    rng = np.random.default_rng(0)
    rows, x, out = (rng.normal(size=shape).astype(np.float32) for shape in ((9, width), width, width))
    four, before = rows[first : first + 4].astype(np.float64), out.copy()
    rows[:first], rows[first + 4 :] = np.nan, np.nan
    products = both(rows, first, x, out)
    np.testing.assert_allclose(products, four @ x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(out, before + (four @ x) @ four, rtol=1e-4, atol=1e-4)
