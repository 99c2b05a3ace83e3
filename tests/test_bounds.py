"""Bounds of numbers: what is inside comes back as Python's own number, what is outside is refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.bounds import LARGEST, SHARE, SMALLEST, Number, Whole, shown, word
from unskew.errors import InputError

TEN = Whole(1, 10, "Nobody has more.", words=("all",))
ANY = Number(above=0.0, words=("auto",))


@given(st.integers(1, 10))
def test_whole_numbers_come_back_as_ints(number: int) -> None:
    """Also numpy's, which some interfaces would print otherwise."""
    for given_number in (number, np.int64(number), np.uint8(number)):
        found = TEN.of(given_number, "n")
        assert found == number and type(found) is int
    assert TEN.of("all", "n") == "all"


@given(st.floats(SMALLEST, LARGEST))
def test_numbers_come_back_as_floats(number: float) -> None:
    """Whole or not."""
    for given_number in (number, np.float64(number)):
        found = ANY.of(given_number, "x")
        assert found == number and type(found) is float
    assert ANY.of(3, "x") == 3.0 and ANY.of("auto", "x") == "auto"


@pytest.mark.parametrize(
    "value",
    [0, -1, 11, 2.0, True, np.bool_(True), None, "5", "auto", [1], 10**5000, float("nan")],
    ids=lambda value: shown(value)[:20],
)
def test_what_is_no_such_whole_number_is_refused(value: object) -> None:
    """Too small, too large, of another kind."""
    with pytest.raises(InputError, match=r"^n must be .*, not "):
        TEN.of(value, "n")


@pytest.mark.parametrize(
    "value",
    [0.0, -1.0, 1e31, 1e-31, float("nan"), float("inf"), True, None, "5", "all", [1.0], 1j, 10**5000],
    ids=lambda value: shown(value)[:20],
)
def test_what_is_no_such_number_is_refused(value: object) -> None:
    """NaN is none, and neither is what squares could not bear."""
    with pytest.raises(InputError, match=r"^x must be .*, not "):
        ANY.of(value, "x")


def test_the_reason_stands_where_it_belongs() -> None:
    """Behind what is too large, not behind what is too small or no number at all."""
    with pytest.raises(InputError, match=r"at most 10, not 11. Nobody has more."):
        TEN.of(11, "n")
    with pytest.raises(InputError, match=r"all or a whole number of at least 1, not 0.$"):
        TEN.of(0, "n")
    with pytest.raises(InputError, match=r"between 0 and 1 \(both excluded\), not 1.0.$"):
        SHARE.of(1.0, "share")


def test_values_are_shown_shortly() -> None:
    """An endless number, a frame, an escape code."""
    assert shown(10**5000) == "a number of about 5,001 digits"
    assert shown("\x1b[2J") == "'\\x1b[2J'"
    assert len(shown(np.arange(10_000))) < 120 and len(shown("x" * 10**6)) < 120


def test_words_are_words() -> None:
    """Anything that is none of them is refused, also what cannot be compared."""
    word("a", ("a", "b"), "x")
    for value in ("c", None, np.arange(3), ["a"]):
        with pytest.raises(InputError, match="x must be a or b, not "):
            word(value, ("a", "b"), "x")
