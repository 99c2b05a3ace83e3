"""Recorded results: compact JSON beside, one file for every theme, and how a result is held against them.

``estimates/`` are frozen; ``judgements/`` change where the test of a verdict does. Numbers are kept with 11 digits and
held to 1e-9. A column that is the same in every row is written once. A code that was not there yet (``""``) is any.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KINDS = ("estimates", "judgements")
RELATIVE, ABSOLUTE = 1e-9, 1e-13
CODES = ("code", "reason", "assumption", "trust", "no_margin", "not_covered", "skipped")


def read(kind: str, theme: str) -> dict[str, Any]:
    """What was recorded of all calls of a theme."""
    path = HERE / kind / f"{theme}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), object_hook=_long) if path.exists() else {}
    return found


@cache
def recorded(kind: str, theme: str) -> dict[str, Any]:
    """The same, read once."""
    return read(kind, theme)


def write(kind: str, theme: str, found: Mapping[str, Any]) -> None:
    """One line for every call, so that a difference names it."""
    (HERE / kind).mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}: {_text(_short(found[name]))}" for name in sorted(found)]
    (HERE / kind / f"{theme}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def plain(found: Any) -> Any:
    """A result as it reads once written."""
    return json.loads(_text(_rounded(found)))


def _text(found: Any) -> str:
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.11g}") if math.isfinite(value) else str(value)
    return value


def _short(value: Any) -> Any:
    """Columns of one and the same value as that value."""
    if not isinstance(value, dict):
        return value
    found = {name: item[0] if name != "of" and _one(item) else _short(item) for name, item in value.items()}
    if "of" in found:
        before = ["", *value["of"][:-1]]
        found["of"] = [_ditto(label, last) for label, last in zip(value["of"], before, strict=True)]
    return found


def _ditto(label: str, last: str) -> str:
    """A label without the first words that it shares with the one before: ``… tastes``."""
    words, known = label.split(" "), last.split(" ")
    same = 0
    while same < len(words) - 1 and words[same] == known[min(same, len(known) - 1)]:
        same += 1
    return " ".join(["…", *words[same:]]) if same and len(words) == len(known) else label


def _long(value: dict[str, Any]) -> dict[str, Any]:
    """A table with its labels in full."""
    labels: list[str] = []
    for label in value.get("of", ()):
        words = label.split(" ")[1:]
        labels.append(" ".join([*labels[-1].split(" ")[: -len(words)], *words]) if label.startswith("… ") else label)
    return value | {"of": labels} if "of" in value else value


def _one(column: Any) -> bool:
    """Whether a list of several holds one and the same number or word."""
    plain_ones = isinstance(column, list) and len(column) > 1 and not isinstance(column[0], list | dict)
    return plain_ones and all(type(item) is type(column[0]) and item == column[0] for item in column)


def differences(recorded: Any, found: Any, where: str = "", name: str = "") -> list[str]:
    """Where a result is not what was recorded, place by place."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        out = [f"{where}/{key}: new" for key in found.keys() - recorded.keys()]
        for key, item in recorded.items():
            place = f"{where}/{key}"
            out += differences(item, found[key], place, key) if key in found else [f"{place}: gone"]
        return out
    if isinstance(found, list) and len(found) > 1 and not isinstance(recorded, list | dict):
        recorded = [recorded] * len(found)
    if isinstance(recorded, list) and isinstance(found, list):
        if name in ("codes", "advice"):
            known = Counter(code for code in recorded if code)
            return [] if len(recorded) == len(found) and known <= Counter(found) else [_said(where, recorded, found)]
        if len(recorded) != len(found):
            return [_said(where, recorded, found)]
        pairs = enumerate(zip(recorded, found, strict=True))
        return [line for n, (a, b) in pairs for line in differences(a, b, f"{where}[{n}]", name)]
    if name in CODES and recorded == "" and isinstance(found, str):
        return []
    return [] if _same(recorded, found) else [_said(where, recorded, found)]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (a, b))
        return numbers and math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(a) is type(b) and bool(a == b)


def _said(where: str, recorded: Any, found: Any) -> str:
    return f"{where}: recorded {_text(recorded)[:120]}, found {_text(found)[:120]}"
