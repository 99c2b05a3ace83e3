"""What a number may be: each option says its range once, and what lies outside is refused with the reason.

    check(self, "adam_mf", dim=Whole(1, 10_000, "…"), rate=Number(above=0.0))

takes the options of a part as they were given, from a canonical string or by a Python caller, and leaves plain ``int``
and ``float`` behind: numpy's numbers are numbers, while truth values, texts and NaN are none. A range without an end of
its own ends where squares and sums would no longer be numbers.
"""

from __future__ import annotations

import numbers
import operator
from dataclasses import dataclass, replace
from math import inf

from unskew.core.errors import InputError
from unskew.core.text import plain

LARGEST = 1e30  # of any number, as of values in logs: sums of weights times squares stay numbers
SMALLEST = 1e-30  # above 0, as of propensities in logs: so do sums of powers of their inverses


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``, or one of some words; ``why`` it ends there, as a sentence."""

    low: int
    high: int
    why: str = ""
    words: tuple[str, ...] = ()

    def of(self, value: object, what: str) -> int | str:
        """The number as an ``int``; ``what`` is wrong otherwise."""
        if isinstance(value, str) and value in self.words:
            return value
        try:
            number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = None
        if number is None or number < self.low:
            code = "out-of-range" if number is not None else "not-an-integer"
            raise refused(what, _either(self.words) + f"a whole number of at least {self.low:,}", value, code)
        if number > self.high:
            raise refused(what, f"at most {_largest(self.high)}", value, "out-of-range", self.why)
        return number

    def __str__(self) -> str:
        return _either(self.words) + f"a whole number from {self.low:,} to {_largest(self.high)}"


@dataclass(frozen=True)
class Number:
    """A number from ``low`` to ``high``, or ``above`` and ``below`` limits that are themselves excluded."""

    low: float = -LARGEST
    high: float = LARGEST
    above: float = -inf
    below: float = inf
    why: str = ""
    words: tuple[str, ...] = ()

    def of(self, value: object, what: str) -> float | str:
        """The number as a ``float``; ``what`` is wrong otherwise."""
        if isinstance(value, str) and value in self.words:
            return value
        number = _float(value)
        if number is None or not (self.low <= number <= self.high and self.above < number < self.below):
            beyond = number is not None and (number > self.high or number < min(self.low, -1.0))
            code = "out-of-range" if number is not None else "not-a-number"
            raise refused(what, str(self), value, code, self.why if beyond else "")
        if self.above == 0.0 and number < SMALLEST:
            why = "One over it could not be reckoned with."
            raise refused(what, f"at least {SMALLEST:g}", value, "out-of-range", why)
        return number

    def __str__(self) -> str:
        return _either(self.words) + self._range

    @property
    def _range(self) -> str:
        if self.above > -inf and self.below < inf:
            return f"a number between {self.above:g} and {self.below:g} (both excluded)"
        if self.above > -inf:
            return f"a number above {self.above:g} and at most {self.high:g}"
        if self.low >= 0.0:
            return f"a number of at least {self.low:g} and at most {self.high:g}"
        return f"a finite number between {self.low:g} and {self.high:g}".replace("-", "−", 1)


Bound = Whole | Number


def check(part: object, name: str, **bounds: Bound) -> None:
    """Refuse the part called ``name`` unless every option keeps its bound; options that are ``None`` are left out."""
    for option, bound in bounds.items():
        if (value := getattr(part, option)) is not None:
            object.__setattr__(part, option, bound.of(value, f"'{name}': {option}"))


def word(value: object, words: tuple[str, ...], what: str) -> None:
    """Refuse what is none of these words."""
    if not (isinstance(value, str) and value in words):
        raise refused(what, any_of(words), value, "unknown-name")


def any_of(words: tuple[str, ...]) -> str:
    """Words as a sentence lists them: ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def shown(value: object) -> str:
    """A value that somebody gave, for a message: texts between quotes, endless numbers shortened."""
    if isinstance(value, str):
        return f"'{plain(value)}'"
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        return f"a number of about {int(abs(value).bit_length() * 0.30103) + 1:,} digits"
    try:
        if isinstance(value, bool | numbers.Number):
            return plain(value)
        return f"{plain(repr(value), 40)} ({type(value).__name__})"
    except (ValueError, RecursionError):  # endless numbers in it, or endless depths
        return f"a {type(value).__name__}"


DIGITS = 30
COUNTLESS = "More would take longer than anybody waits."
SEED = Whole(0, 2**63 - 1)
THREADS = Whole(1, 1024, "More would only wait for each other.")
FOLDS = Whole(2, 1000, "Every fold is a fit of its own.")
DIM = Whole(1, 1000, "More factors than that no log can tell.")
DIM_OR_NONE = replace(DIM, low=0)
ROUNDS = Whole(1, 100_000, COUNTLESS)
POSITIVE = Number(above=0.0)
NOT_NEGATIVE = Number(low=0.0)
SHARE = Number(above=0.0, below=1.0)
STRENGTH = Number(above=0.0, high=1e12, why="A stronger penalty leaves nothing.")


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf


def refused(what: str, wanted: object, value: object, code: str, why: str = "") -> InputError:
    """What is said of a value that is not what is wanted; ``what`` ends with the option, behind a colon if any."""
    text = f"{what} must be {wanted}, not {shown(value)}.{f' {why}' if why else ''}"
    return InputError(text, code=code, option=what.rpartition(": ")[2])


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words)} or " if words else ""


def _largest(number: int) -> str:
    return _POWERS.get(number, f"{number:,}")


_POWERS = {2**31 - 1: "2³¹ − 1", 2**63 - 1: "2⁶³ − 1", 2**64 - 1: "2⁶⁴ − 1"}
