"""Four rows at a time against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.kernels.compiled import njit
from unskew.kernels.confidence import _multiply
from unskew.kernels.fours import LANES, fetch_four, squares_four, visit_four

SHIFT, SLOPE = np.float32(1.5), np.float32(-0.25)


@njit(cache=False)
def visited(rows, first, x, shift, slope, out):  # type: ignore[no-untyped-def]
    visit_four(rows, first, x, shift, slope, out)
    return squares_four(rows, first, x)


@njit(cache=False)
def fetched(source, index, at, rows, first, x, shift, slope, out):  # type: ignore[no-untyped-def]
    fetch_four(source, index, at, rows, first, x, shift, slope, out)


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


@pytest.mark.parametrize("width", [LANES, 5 * LANES])
def test_fetched_rows_are_copied_and_visited(width: int) -> None:
    """Rows in any order, one of them twice; the copies are those of the source, and the sum that of a visit."""
    rng = np.random.default_rng(1)
    source, x = rng.normal(size=(7, width)).astype(np.float32), rng.normal(size=width).astype(np.float32)
    index = np.array([6, 1, 5, 0, 5, 2], dtype=np.int32)
    rows, out, expected = np.zeros((6, width), np.float32), np.zeros(width, np.float32), np.zeros(width, np.float32)
    fetched(source, index, 1, rows, 2, x, SHIFT, SLOPE, out)
    assert np.array_equal(rows[2:], source[index[1:5]]) and not rows[:2].any()
    visited(rows, 2, x, SHIFT, SLOPE, expected)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("width", [LANES, 2 * LANES, 5 * LANES, 8 * LANES])
def test_four_vectors_times_a_matrix(width: int) -> None:
    """All columns, also where their number is no multiple of two registers."""
    rng = np.random.default_rng(2)
    matrix, vectors = (rng.normal(size=(n, width)).astype(np.float32) for n in (width, 4))
    out = np.full((4, width), np.nan, np.float32)
    _multiply(matrix, vectors, out)
    np.testing.assert_allclose(out, vectors.astype(np.float64) @ matrix, rtol=1e-4, atol=1e-4)
