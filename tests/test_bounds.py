"""Bounds: what is inside comes back as Python's own, what is outside is refused, whatever part and option it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.said import refusal, refuses
from unskew import estimators, metrics, models, outcome, propensity, sampling, split
from unskew.core.bounds import LARGEST, SMALLEST, Number, Whole, shown, word
from unskew.core.parts import Flag, Words, options_of

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


def wrong(kind: object) -> list[object]:
    """Values just outside of what an option may be."""
    if isinstance(kind, Whole):
        return [kind.low - 1, kind.high + 1, 2.5]
    if isinstance(kind, Number):
        low = kind.low - max(1.0, abs(kind.low)) if kind.above < -LARGEST else kind.above
        return [low, kind.below if kind.below < LARGEST else 2.0 * kind.high, "nan"]
    return ["nonsense"] if isinstance(kind, Words | Flag) else []


def impossible() -> Iterator[tuple[Any, str, str]]:
    """Every option of every part, as a string in which it is what it cannot be."""
    for room in (metrics, estimators, propensity, outcome, models, split, sampling):
        for name in room.FAMILY.names():
            rules = options_of(room.FAMILY.class_of(name))
            inner = [str(getattr(rule.kind, "example", "")) for entry, rule in rules if entry.default is MISSING]
            start = "".join(f"{example}, " for example in inner if example)
            for entry, rule in rules:
                for value in () if rule.cut else wrong(rule.kind):
                    text = f"{name}({start}{entry.name}={value})" + "@5" * any(other.cut for _, other in rules)
                    yield room, entry.name, text


@pytest.mark.parametrize(("room", "option", "text"), list(impossible()))
def test_impossible_options_of_every_part_are_named(room: Any, option: str, text: str) -> None:
    """Too small, too large, no number, no word of theirs."""
    assert refusal(room.make, text).fields["option"] == option
