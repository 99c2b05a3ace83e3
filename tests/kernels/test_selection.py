"""The value at one place of the sorted order, against sorted()."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.kernels.selection import smallest


@pytest.mark.parametrize("kind", [np.float64, np.uint64])
@settings(deadline=None)
@given(numbers=st.lists(st.integers(0, 5) | st.integers(0, 2**40), min_size=1, max_size=60), place=st.integers(0, 59))
def test_every_place(kind: type, numbers: list[int], place: int) -> None:
    """Many equal values, and few; −∞ and ∞ are values as others are."""
    place %= len(numbers)
    values: npt.NDArray[Any] = np.array(numbers).astype(kind)
    if kind is np.float64:
        values[values == 1.0], values[values == 2.0] = -np.inf, np.inf
    assert smallest(values.copy(), place) == np.sort(values)[place]
