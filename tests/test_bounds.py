"""Bounds of numbers: what is inside comes back as Python's own number, what is outside is refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.said import refusal, refuses
from unskew.core.bounds import LARGEST, SMALLEST, Number, Whole, shown, word

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
    ("bound", "code", "values"),
    [
        (TEN, "out-of-range", [0, -1, 11, 10**5000]),
        (TEN, "not-an-integer", [2.0, True, np.bool_(True), None, "5", "auto", [1], float("nan")]),
        (ANY, "out-of-range", [0.0, -1.0, 1e31, 1e-31, float("nan"), float("inf"), 10**5000]),
        (ANY, "not-a-number", [True, None, "5", "all", [1.0], 1j]),
    ],
)
def test_what_is_no_such_number_is_refused(bound: Whole | Number, code: str, values: list[object]) -> None:
    """Too small, too large, of another kind; NaN is none, and neither is what squares could not bear."""
    for value in values:
        with refuses(code, option="n") as said:
            bound.of(value, "'part': n")
        assert shown(value) in str(said.value)


def test_the_reason_stands_where_it_belongs() -> None:
    """Behind what is too large, not behind what is too small or no number at all."""
    for value, explained in ((11, True), (0, False), (None, False)):
        assert (TEN.why in str(refusal(TEN.of, value, "n"))) == explained


def test_words_are_words() -> None:
    """Anything that is none of them is refused, also what cannot be compared."""
    word("a", ("a", "b"), "x")
    for value in ("c", None, np.arange(3), ["a"]):
        assert refusal(word, value, ("a", "b"), "x").code == "unknown-name"
