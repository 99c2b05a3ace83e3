"""Numbers are written with the digits that their interval supports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.report import numbers

from .reading import matches

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [
        (0.020, 0.042, 3),
        (-0.004, 0.008, 3),
        (0.1, 0.9, 2),
        (10.0, 30.0, 0),
        (0.0001, 0.02, 4),
        (-0.0001, 0.02, 3),
        (0.5, 0.5, None),
    ],
)
def test_decimals_follow_the_width(low: float, high: float, places: int | None) -> None:
    """Two significant digits, one more where a bound would hide that 0 is left out; what is missing has no say."""
    assert numbers.decimals([(low, high), (NAN, NAN), (-INF, 1.0)]) == places


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_written_number_is_the_number(value: float, places: int) -> None:
    """What is written differs from the value by rounding only."""
    assert matches(numbers.number(value, places), value)


@pytest.mark.parametrize(
    ("write", "written"),
    [
        (lambda v: numbers.number(v, 3), {-0.0312: "−0.031", -0.0001: "0.000", NAN: "–", INF: "–", None: "–"}),
        (lambda v: numbers.number(v, 3, sign=True), {0.0312: "+0.031"}),
        (lambda v: numbers.interval(v[0], v[1], 1), {(NAN, 1.0): "–", (-INF, 1.0): "[−∞, 1.0]"}),
        (
            numbers.p_value,
            {0.0: "< 0.0001", 0.00042: "0.0004", 0.0123: "0.012", 0.27: "0.27", 0.999: "> 0.99", 1.0: "1", NAN: "–"},
        ),
        (numbers.gamma, {1.8: "1.80", INF: "none", None: "–"}),
        (numbers.about, {41_237: "41,000", 7: "7", 0: "0", 99_900: "100,000", 123: "120"}),
        (
            numbers.share,
            {0.0: "0\u00a0%", 0.0123: "1.2\u00a0%", 0.0001: "<\u00a00.1\u00a0%", 1.0: "100\u00a0%", None: "–"},
        ),
        (numbers.count, {1204.6: "1,205", 3.21: "3.2", 7: "7", NAN: "–"}),
        (lambda v: numbers.spread([*v], numbers.count), {(5.0, NAN, 5.0): "5", (5.0, 7.0): "5 to 7", (NAN,): "–"}),
        (
            lambda v: numbers.factors(*v),
            {(0.31, 0.93): "[0.31, 0.93]", (1e-9, 1e30): "[< 0.01, > 1,000]", (None, 2.0): "–"},
        ),
    ],
    ids=["number", "signed", "interval", "p", "gamma", "about", "share", "count", "spread", "factors"],
)
def test_kinds_of_numbers(write: Callable[[Any], str], written: dict[Any, str]) -> None:
    """Few digits, the minus of typography, no sign of a rounded 0, dashes for what there is not."""
    assert {value: write(value) for value in written} == written
