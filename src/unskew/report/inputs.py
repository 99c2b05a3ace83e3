"""The account of the inputs as a tree of names and texts: whatever it holds, it can be shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unskew import metrics
from unskew.report import numbers

_MEANS = {"mean": "mean guess of the seen pairs", "mean_outcome": "mean outcome of the seen pairs"}


@dataclass(frozen=True)
class Entry:
    """A name with a text, with entries below it, or with a grid of texts (things of one kind, side by side)."""

    name: str
    value: str = ""
    children: tuple[Entry, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its count, and its width in per cent of the widest."""

    name: str
    value: str
    width: str


def entries(inputs: Mapping[str, Any]) -> list[Entry]:
    """The inputs as a tree; a mapping of mappings becomes a grid, single values on top go under *other*."""
    left = {key: value for key, value in inputs.items() if key != "clicks_per_user" or not bars(value)}
    if isinstance(told := left.get("outcome"), Mapping):
        left["outcome"] = {_MEANS.get(key, key): value for key, value in told.items()}
    found = [_entry(key, value, top=True) for key, value in left.items() if isinstance(value, Mapping) and value]
    loose = tuple(_entry(key, value) for key, value in left.items() if not isinstance(value, Mapping) or not value)
    return found + ([Entry("Other", children=loose)] if loose else [])


def bars(counts: Any) -> list[Bar]:
    """Counts by name as bars."""
    if not isinstance(counts, Mapping):
        return []
    known = {str(key): float(value) for key, value in counts.items() if isinstance(value, (int, float))}
    widest = max(known.values(), default=0.0) or 1.0
    return [
        Bar(key.replace("-", "–"), numbers.count(value), f"{100 * value / widest:.1f}") for key, value in known.items()
    ]


def counted(settings: Mapping[str, Any]) -> str:
    """What the bars count: the seen pairs that count as relevant, in the words of the log."""
    feedback, relevant = settings.get("feedback", "implicit"), settings.get("relevant")
    if feedback == "implicit":
        return "Clicks per user"
    pairs = "Rated pairs" if feedback == "ratings" else "Clicked pairs"
    if not any(isinstance(metrics.make(name), metrics.RankingMetric) for name in settings.get("metrics", ())):
        return f"{pairs} per user"  # errors of predictions look at all of them
    if relevant is not None:
        return f"{pairs} per user, value {relevant}"
    return f"{pairs} per user" + ("" if feedback == "ratings" else ", of those that brought something")


def humanise(key: str) -> str:
    """``users_without_list`` as words."""
    return key.replace("_", " ").strip() or numbers.DASH


def _entry(key: str, value: Any, *, top: bool = False) -> Entry:
    name = humanise(key)
    name = name[:1].upper() + name[1:] if top else name
    if not isinstance(value, Mapping) or not value:
        return Entry(name, _text(value))
    if top and len(value) > 1 and all(isinstance(item, Mapping) and item for item in value.values()):
        return _grid(name, value)
    return Entry(name, children=tuple(_entry(str(inner), item) for inner, item in value.items()))


def _grid(name: str, value: Mapping[str, Mapping[str, Any]]) -> Entry:
    columns = list(dict.fromkeys(column for item in value.values() for column in item))
    rows = tuple((str(key), *(_text(item.get(column)) for column in columns)) for key, item in value.items())
    return Entry(name, columns=tuple(humanise(column) for column in columns), rows=rows)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return numbers.count(value)
    if isinstance(value, float):
        return f"{value:,.6g}".replace("-", numbers.MINUS) if math.isfinite(value) else numbers.DASH
    if isinstance(value, Mapping):
        return ", ".join(f"{humanise(str(key))}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_text(item) for item in value) or "none"
    return numbers.DASH if value is None else str(value) or numbers.DASH
