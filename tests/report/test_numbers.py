"""Numbers are written with the digits that their interval supports."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.report import numbers

from .reading import matches


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
    """Two significant digits of the width, one more where a bound would hide that zero is left out."""
    assert numbers.decimals([(low, high)]) == places


def test_decimals_ignore_missing_intervals() -> None:
    """An interval that does not exist has no say."""
    assert numbers.decimals([(math.nan, math.nan), (0.0, 0.2), (-math.inf, 1.0)]) == 2


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_written_number_is_the_number(value: float, places: int) -> None:
    """What is written differs from the value by rounding only."""
    assert matches(numbers.number(value, places), value)


def test_signs_are_typographic_and_zero_has_none() -> None:
    """The minus is U+2212, the plus appears on request, and a rounded zero carries no sign."""
    assert numbers.number(-0.0312, 3) == "−0.031"
    assert numbers.number(0.0312, 3, sign=True) == "+0.031"
    assert numbers.number(-0.0001, 2) == "0.00"


def test_missing_numbers_are_dashes() -> None:
    """NaN, infinity and None are shown as a dash, an interval with an open end keeps it."""
    assert numbers.number(math.nan) == numbers.number(None) == numbers.number(math.inf) == "–"
    assert numbers.interval(math.nan, 1.0) == numbers.count(math.nan) == numbers.share(None) == "–"
    assert numbers.p_value(math.nan) == numbers.gamma(None) == "–"
    assert numbers.interval(-math.inf, 1.0, 1) == "[−∞, 1.0]"


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "< 0.0001"), (0.00042, "0.0004"), (0.0123, "0.012"), (0.27, "0.27"), (0.999, "> 0.99"), (1.0, "1")],
)
def test_p_values(p: float, text: str) -> None:
    """Two significant digits, at most four decimals."""
    assert numbers.p_value(p) == text


def test_tipping_points() -> None:
    """Two decimals; infinity is none."""
    assert (numbers.gamma(1.8), numbers.gamma(math.inf)) == ("1.80", "none")


@pytest.mark.parametrize(("value", "text"), [(41_237, "41,000"), (7, "7"), (0, "0"), (99_900, "100,000"), (123, "120")])
def test_about(value: int, text: str) -> None:
    """Counts in sentences are rounded to two digits."""
    assert numbers.about(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0, "0 %"), (0.0123, "1.2 %"), (0.0001, "< 0.1 %"), (1.0, "100 %")])
def test_shares(value: float, text: str) -> None:
    """Shares are per cent with one decimal, and small is not zero."""
    assert numbers.share(value).replace("\u00a0", " ") == text


def test_counts_and_ranges() -> None:
    """Thousands are separated, small effective sizes keep a decimal, a range is written once if it is one value."""
    assert (numbers.count(1204.6), numbers.count(3.21), numbers.count(7)) == ("1,205", "3.2", "7")
    assert numbers.spread([5.0, math.nan, 5.0], numbers.count) == "5"
    assert numbers.spread([5.0, 7.0], numbers.count) == "5 to 7"
    assert numbers.spread([math.nan], numbers.count) == "–"
