"""One canonical string for every part: ``recall@10``, ``gs(strata=5)``, ``clipped(snips, at=0.01)``.

Metrics, estimators, propensities, targets and models are named by the same small grammar

    spec := name [ "(" argument ("," argument)* ")" ] [ "@" integer ]        argument := [name "="] (spec | number)

so that the command line, tables, files and cache keys agree on one spelling. A part that is built from a spec
prints back in full: ``str(parse(text))`` is the canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import isfinite
from typing import Any, TypeVar

from unskew.errors import InputError

T = TypeVar("T")
_TOKEN = re.compile(
    r"\s*(?:((?:[A-Za-z_/~]|\.{1,2}/)[\w\-./~+*?]*)|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([(),=@]))"
)


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
    """Print an argument so that it parses back: whole floats lose their point, everything else is ``str``."""
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return str(value)


def parse(text: str) -> Spec:
    """Parse a canonical string; the error points at the first character that does not fit."""
    tokens: list[str] = []
    position, stripped = 0, text.strip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise InputError(f"cannot read {text!r}: unexpected {stripped[position]!r} at character {position + 1}.")
        tokens.append(match.group(0).strip())
        position = match.end()
    spec, rest = _spec(tokens, text)
    if rest:
        raise InputError(f"cannot read {text!r}: unexpected {rest[0]!r} after {spec}.")
    return spec


def _spec(tokens: list[str], text: str) -> tuple[Spec, list[str]]:
    if not tokens or not re.match(r"[A-Za-z_/~]|\.{1,2}/", tokens[0]):
        found = repr(tokens[0]) if tokens else "the end"
        raise InputError(f"cannot read {text!r}: expected a name, found {found}.")
    name, rest = tokens[0], tokens[1:]
    args: list[Any] = []
    options: dict[str, Any] = {}
    if rest[:1] == ["("]:
        rest = rest[1:]
        while rest[:1] != [")"]:
            if len(rest) > 1 and rest[1] == "=":
                key, rest = rest[0], rest[2:]
                if key in options:
                    raise InputError(f"cannot read {text!r}: '{key}' is given twice.")
                options[key], rest = _value(rest, text)
            else:
                value, rest = _value(rest, text)
                args.append(value)
            if rest[:1] == [","]:
                rest = rest[1:]
            elif rest[:1] != [")"]:
                raise InputError(f"cannot read {text!r}: a closing ')' is missing.")
        rest = rest[1:]
    at = None
    if rest[:1] == ["@"]:
        if len(rest) < 2 or not rest[1].isdigit() or int(rest[1]) < 1:
            raise InputError(f"cannot read {text!r}: '@' must be followed by a whole number of at least 1.")
        at, rest = int(rest[1]), rest[2:]
    return Spec(name, tuple(args), options, at), rest


def _value(tokens: list[str], text: str) -> tuple[Any, list[str]]:
    if not tokens:
        raise InputError(f"cannot read {text!r}: it ends in the middle of an argument.")
    token = tokens[0]
    if re.fullmatch(r"[+-]?\d+", token):
        return int(token), tokens[1:]
    if re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", token):
        return float(token), tokens[1:]
    spec, rest = _spec(tokens, text)
    return spec if spec.args or spec.options or spec.at is not None else spec.name, rest


def build(kind: str, text: str, makers: Mapping[str, Callable[[Spec], T]]) -> T:
    """Build the part called ``text`` from a table of makers; unknown names get the nearest known one."""
    spec = parse(text)
    maker = makers.get(spec.name)
    if maker is None:
        near = get_close_matches(spec.name.lower(), makers, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InputError(f"there is no {kind} called '{spec.name}'.{hint} Known: {', '.join(sorted(makers))}.")
    return maker(spec)


def take(spec: Spec, positional: tuple[str, ...] = (), **kinds: type) -> dict[str, Any]:
    """Give back the arguments of a spec by name, each of the kind that was promised; anything else is an error."""
    if spec.at is not None:
        raise InputError(f"cannot read '{spec}': '{spec.name}' takes no cut-off '@{spec.at}'.")
    given = dict(zip(positional, spec.args, strict=False))
    if len(spec.args) > len(positional):
        allowed = f"at most {len(positional)}" if positional else "no"
        raise InputError(f"cannot read '{spec}': '{spec.name}' takes {allowed} unnamed arguments.")
    for key, value in spec.options.items():
        if key in given:
            raise InputError(f"cannot read '{spec}': '{key}' is given twice.")
        given[key] = value
    for key, value in given.items():
        kind = kinds.get(key)
        if kind is None:
            known = ", ".join(kinds) or "none"
            raise InputError(f"cannot read '{spec}': '{spec.name}' has no option '{key}' (known: {known}).")
        if kind is float and isinstance(value, int):
            given[key] = float(value)
        if isinstance(given[key], float) and not isfinite(given[key]):
            raise InputError(f"cannot read '{spec.name}': '{key}' must be a finite number.")
        if kind is not object and not isinstance(given[key], kind):
            raise InputError(f"cannot read '{spec}': '{key}' must be {_KINDS[kind]}, not '{show(value)}'.")
    return given


def find(kind: str, asked: str, known: Iterable[str], make: Callable[[str], object]) -> str:
    """The name that ``asked`` means among those that are there: names are parsed, and ``gs`` finds ``gs(strata=5)``."""
    there = list(dict.fromkeys(known))
    if asked in there:
        return asked
    name = asked.split("(")[0].split("@")[0]
    alike = [text for text in there if text.split("(")[0].split("@")[0] == name]
    if asked == name and len(alike) == 1:
        return alike[0]
    try:
        canonical = str(make(asked)) if asked != name or not alike else asked
    except InputError as problem:
        raise InputError(f"{problem}\nHere there are: {', '.join(there)}.") from None
    if canonical in there:
        return canonical
    choice = ", ".join(alike or there)
    raise InputError(f"there is no {kind} '{asked}' of that exact form here; there are: {choice}.")


_KINDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a word"}
