"""One canonical string for every part: ``recall@10``, ``gs(strata=5)``, ``clipped(snips, at=0.01)``.

Metrics, estimators, propensities, targets and models are named by the same small grammar

    spec := name [ "(" argument ("," argument)* ")" ] [ "@" integer ]
    argument := [name "="] (spec | number | threshold | duration | date)    threshold := (">" | ">=" | …) number
                                                                            duration := integer letters    (6h, 1mo)

so that the command line, tables, files and cache keys agree on one spelling. A part that is built from a spec
prints back in full: ``str(parse(text))`` is the canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.core.text import plain

T = TypeVar("T")
LONGEST = 10_000  # characters: a name, its options and a path
DEEPEST = 20  # parts inside parts
DIGITS = 20  # of a whole number: as many as 2⁶⁴ has
_NAME = r"(?:[a-z][a-z0-9]*://|[A-Za-z_/~]|\.{1,2}/)[\w\-./~+*?]*"  # of a part, an option or a file; addresses too
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_THRESHOLD = rf"(?:[<>]=?|==){_NUMBER}"
_DURATION = r"[0-9]+[A-Za-z]+(?![\w.+\-])"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w.+\-])"  # ISO 8601
_AS_IT_IS = rf"{_THRESHOLD}|{_DATE}|{_DURATION}"  # values that parts read themselves
_TOKEN = re.compile(rf"\s*({_NAME}|{_AS_IT_IS}|{_NUMBER}|[(),=@])")


@dataclass(frozen=True)
class Spec:
    """A parsed name with its arguments; ``args`` are positional, ``options`` are named, ``at`` stands behind @."""

    name: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    at: int | None = None

    def __str__(self) -> str:
        inner = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.options.items()]
        return self.name + (f"({', '.join(inner)})" if inner else "") + ("" if self.at is None else f"@{self.at}")


def show(value: object) -> str:
    """Print an argument so that it parses back: whole floats lose their point, truth is small, all else is ``str``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return str(value)


def parse(text: str, kind: str = "canonical string") -> Spec:
    """Parse a canonical string; the error names the kind, and points at the first character that does not fit."""
    if not isinstance(text, str):
        raise InputError(
            f"{kind}: a canonical string such as 'gs(strata=5)' is expected, not {shown(text)}.", code="wrong-type"
        )
    return _Reader(text, kind).whole()


class _Reader:
    """Reads one text from its first token to its last."""

    def __init__(self, text: str, kind: str) -> None:
        self._text, self._kind, self._at, self._depth = text, kind, 0, 0
        if len(text) > LONGEST:
            raise self._error(f"it has {len(text):,} characters, and {LONGEST:,} are the most", "too-large")
        self._tokens: list[str] = []
        position, stripped = 0, text.strip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                raise self._error(f"unexpected {stripped[position]!r} at character {position + 1}")
            self._tokens.append(match.group(1))
            position = match.end()

    def whole(self) -> Spec:
        """The spec that the text is, with nothing behind it."""
        spec = self._spec()
        if self._at < len(self._tokens):
            raise self._error(f"unexpected '{plain(self._next)}' after {plain(spec)}")
        return spec

    @property
    def _next(self) -> str:
        """The token at hand, or nothing at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _skip(self, token: str) -> bool:
        found = self._next == token
        self._at += found
        return found

    def _spec(self) -> Spec:
        name = self._name()
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"it is nested deeper than {DEEPEST} levels", "too-deep")
        args, options = self._arguments() if self._skip("(") else ((), {})
        self._depth -= 1
        at = None
        if self._skip("@"):
            at = self._whole_number() if re.fullmatch("[0-9]+", self._next) else 0
            if at < 1:
                raise self._error("'@' must be followed by a whole number of at least 1")
        return Spec(name, args, options, at)

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What stands between brackets, the closing one included."""
        args: list[Any] = []
        options: dict[str, Any] = {}
        if self._skip(")"):
            return (), {}
        while True:
            if self._tokens[self._at + 1 : self._at + 2] == ["="]:
                key = self._name()
                if key in options:
                    raise self._error(f"'{plain(key)}' is given twice", "repeated-argument")
                self._at += 1
                options[key] = self._value()
            else:
                args.append(self._value())
            if self._skip(")"):
                return tuple(args), options
            if not self._next:
                raise self._error("a closing ')' is missing")
            if not self._skip(","):
                raise self._error(
                    f"expected ',' or ')' after '{plain(self._tokens[self._at - 1])}', not '{plain(self._next)}'"
                )

    def _name(self) -> str:
        if not re.match(_NAME, self._next):
            found = f"'{plain(self._next)}'" if self._next else "the end"
            raise self._error(f"expected a name, found {found}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _value(self) -> Any:
        token = self._next
        if not token:
            raise self._error("it ends in the middle of an argument")
        if re.fullmatch(r"[+-]?[0-9]+", token):
            return self._whole_number()
        if re.fullmatch(_NUMBER, token):
            self._at += 1
            if not isfinite(float(token)):
                raise self._error(f"{plain(token)} is no finite number")
            return float(token)
        if re.fullmatch(_AS_IT_IS, token):
            self._at += 1
            return token
        spec = self._spec()
        return spec if spec.args or spec.options or spec.at is not None else spec.name

    def _whole_number(self) -> int:
        token = self._next
        if len(token.lstrip("+-0")) > DIGITS:
            raise self._error(f"{plain(token, 30)} is too large a number")
        self._at += 1
        return int(token.lstrip("+-0") or "0") * (-1 if token.startswith("-") else 1)

    def _error(self, problem: str, code: str = "bad-string") -> InputError:
        return InputError(f"cannot read the {self._kind} '{plain(self._text)}': {problem}.", code=code)


def arguments(spec: Spec, unnamed: Sequence[str], known: Collection[str], cut: bool = False) -> dict[str, Any]:
    """The arguments of a spec by name; ``cut`` says whether it may have a cut-off."""
    if spec.at is not None and not cut:
        raise InputError(
            f"cannot read '{plain(spec)}': '{plain(spec.name)}' takes no cut-off '@{spec.at}'.", code="unknown-cut-off"
        )
    if len(spec.args) > len(unnamed):
        allowed = f"at most {len(unnamed)}" if unnamed else "no"
        raise InputError(
            f"cannot read '{plain(spec)}': '{plain(spec.name)}' takes {allowed} unnamed arguments.",
            code="too-many-arguments",
        )
    given = dict(zip(unnamed, spec.args, strict=False))
    for key, value in spec.options.items():
        if key in given:
            raise InputError(
                f"cannot read '{plain(spec)}': '{plain(key)}' is given twice.", code="repeated-argument", option=key
            )
        if key not in known:
            there = ", ".join(known) or "none"
            raise InputError(
                f"cannot read '{plain(spec)}': '{plain(spec.name)}' has no option '{plain(key)}' (known: {there}).",
                code="unknown-argument",
                option=key,
            )
        given[key] = value
    return given


def take(spec: Spec, positional: tuple[str, ...] = (), **kinds: type) -> dict[str, Any]:
    """Give back the arguments of a spec by name, each of the kind that was promised; anything else is an error."""
    given = arguments(spec, positional, kinds)
    for key, value in given.items():
        kind = kinds[key]
        if kind is float and isinstance(value, int):
            given[key] = float(value)
        if kind is not object and not isinstance(given[key], kind):
            raise InputError(
                f"cannot read '{plain(spec)}': '{plain(key)}' must be {_KINDS[kind]}, not '{plain(show(value))}'.",
                code="wrong-type",
                option=key,
            )
    return given


def find(kind: str, asked: str, known: Iterable[str], make: Callable[[str], object]) -> str:
    """The name that ``asked`` means among those that are there: names are parsed, and ``gs`` finds ``gs(strata=5)``."""
    there = list(dict.fromkeys(known))
    if not isinstance(asked, str):
        raise InputError(f"a {kind} is named by its canonical string, not by {plain(repr(asked))}.", code="wrong-type")
    if asked in there:
        return asked
    name = asked.split("(")[0].split("@")[0]
    alike = [text for text in there if text.split("(")[0].split("@")[0] == name]
    if asked == name and len(alike) == 1:
        return alike[0]
    try:
        canonical = str(make(asked)) if asked != name or not alike else asked
    except InputError as problem:
        raise InputError(
            f"{problem}\nHere there are: {', '.join(there)}.", code=problem.code, **problem.fields
        ) from None
    if canonical in there:
        return canonical
    choice = ", ".join(alike or there)
    raise InputError(
        f"there is no {kind} '{plain(asked)}' of that exact form here; there are: {choice}.",
        code="unknown-name",
        kind=kind,
    )


_KINDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a word"}
