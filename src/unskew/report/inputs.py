"""The account of the inputs as trees, bars and tables: whatever it holds, it can be shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unskew.report import numbers
from unskew.report.document import Bars, Entry, Table, columns

_MEANS = {"mean": "mean guess of the seen pairs", "mean_outcome": "mean outcome of the seen pairs"}
_COUNTED = "clicks_per_user"


def cards(inputs: Mapping[str, Any], ranked: bool) -> tuple[Bars | Entry, ...]:
    """Clicks per user as bars, and a tree for each input; single values on top go under *other*."""
    bars = _bars(inputs.get(_COUNTED))
    left = _left(inputs)
    trees = [_entry(key, value, top=True) for key, value in left.items() if _is_tree(value) and not _is_grid(value)]
    loose = tuple(_entry(key, value) for key, value in left.items() if not _is_tree(value))
    counted = (Bars(_what_is_counted(inputs.get("settings", {}), ranked), bars),) if bars else ()
    return (*counted, *trees, *((Entry("Other", children=loose),) if loose else ()))


def tables(inputs: Mapping[str, Any]) -> tuple[Table, ...]:
    """Things of one kind side by side: a mapping of mappings, such as the models."""
    return tuple(_grid(_humanise(key, top=True), value) for key, value in _left(inputs).items() if _is_grid(value))


def _left(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is not shown as bars; the account of the outcome model in words."""
    left = {key: value for key, value in inputs.items() if key != _COUNTED or not _bars(value)}
    if isinstance(outcome := left.get("outcome"), Mapping):
        left["outcome"] = {_MEANS.get(key, key): value for key, value in outcome.items()}
    return left


def _is_tree(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _is_grid(value: Any) -> bool:
    return _is_tree(value) and len(value) > 1 and all(_is_tree(item) for item in value.values())


def _bars(counts: Any) -> tuple[tuple[str, str, str], ...]:
    """Name, count, and width in per cent of the widest."""
    if not isinstance(counts, Mapping):
        return ()
    known = {str(key): float(value) for key, value in counts.items() if isinstance(value, (int, float))}
    widest = max(known.values(), default=0.0) or 1.0
    return tuple(
        (key.replace("-", "–"), numbers.count(value), f"{100 * value / widest:.1f}") for key, value in known.items()
    )


def _what_is_counted(settings: Mapping[str, Any], ranked: bool) -> str:
    """What the bars count: the seen pairs that count as relevant, in the words of the log."""
    feedback, relevant = settings.get("feedback", "implicit"), settings.get("relevant")
    if feedback == "implicit":
        return "Clicks per user"
    pairs = "Rated pairs" if feedback == "ratings" else "Clicked pairs"
    if not ranked:
        return f"{pairs} per user"  # errors of predictions look at all of them
    if relevant is not None:
        return f"{pairs} per user, value {relevant}"
    return f"{pairs} per user" + ("" if feedback == "ratings" else ", of those that brought something")


def _humanise(key: str, *, top: bool = False) -> str:
    """``users_without_list`` as words."""
    name = key.replace("_", " ").strip() or numbers.DASH
    return name[:1].upper() + name[1:] if top else name


def _entry(key: str, value: Any, *, top: bool = False) -> Entry:
    name = _humanise(key, top=top)
    if not _is_tree(value):
        return Entry(name, _text(value))
    return Entry(name, children=tuple(_entry(str(inner), item) for inner, item in value.items()))


def _grid(name: str, value: Mapping[str, Mapping[str, Any]]) -> Table:
    keys = list(dict.fromkeys(key for item in value.values() for key in item))
    rows = tuple((str(key), *(_text(item.get(column)) for column in keys)) for key, item in value.items())
    return Table(name, "", columns(("name", *map(_humanise, keys)), ()), rows, "inputs")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return numbers.count(value)
    if isinstance(value, float):
        return f"{value:,.6g}".replace("-", numbers.MINUS) if math.isfinite(value) else numbers.DASH
    if isinstance(value, Mapping):
        return ", ".join(f"{_humanise(str(key))}: {_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_text(item) for item in value) or "none"
    return numbers.DASH if value is None else str(value) or numbers.DASH
