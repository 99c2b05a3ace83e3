"""Student's t against scipy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from unskew.inference.student import critical, two_sided

DF = (0.3, 1.0, 1.7, 3.0, 9.5, 30.0, 200.0, 1e4, 1e6, 1e9)


@pytest.mark.parametrize("df", DF)
def test_tails_are_those_of_scipy(df: float) -> None:
    """Both sides, from the middle far into the tail; from ten million degrees of freedom on the normal curve serves."""
    for t in (0.0, 1e-6, 0.1, 0.9, 1.96, 3.0, 8.0, 30.0):
        expected = 2.0 * stats.t.sf(t, df)
        assert two_sided(t, df) == pytest.approx(expected, rel=1e-7 if df < 1e7 else 1e-5, abs=1e-20)
        assert two_sided(-t, df) == two_sided(t, df)
    assert two_sided(math.inf, df) == 0.0


@pytest.mark.parametrize("df", DF)
def test_critical_values_undo_tails(df: float) -> None:
    """The t of a tail, from one half to one in a million; none without degrees of freedom."""
    for tail in (0.5, 0.05, 0.01, 1e-4, 1e-6):
        assert critical(tail, df) == pytest.approx(stats.t.isf(tail / 2.0, df), rel=1e-7)
    assert critical(0.05, 0.0) == critical(0.05, -1.0) == math.inf
    assert np.isfinite(critical(0.999, df))
