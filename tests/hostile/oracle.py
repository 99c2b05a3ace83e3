"""The numbers that must come out, by loops over rows; and when nothing may come out.

A cell is good, bad, or in doubt (a careful person would read it, another would refuse it: ``+1``, ``.5``, ``3.0`` as a
rank). Bad cells are a refusal, or rows that are dropped and counted with ``--invalid drop``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.hostile.sheets import Refused, Sheet
from tests.hostile.worlds import CUTS

Numbers = dict[str, float]  # "model metric estimator target" → value
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_LENIENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST = 2**31 - 1


@dataclass
class Reading:
    """Rows of one input by our column names, what was dropped, and what was in doubt."""

    rows: list[dict[str, Any]]
    dropped: int = 0
    doubts: list[str] = field(default_factory=list)


class Bad(Exception):
    """A cell that no careful person would use."""


Cast = Callable[[Any, list[str]], Any]


def identity(cell: Any, doubts: list[str]) -> str:
    """An id is its text; whole floats are integers, as pandas makes them next to nulls."""
    if cell is None or cell == "":
        raise Bad("no id")
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        doubts.append("an id of a strange type")
        return str(cell)
    if isinstance(cell, float | Decimal):
        whole = float(cell)
        if not math.isfinite(whole) or whole != int(whole) or abs(whole) >= 2**63:
            raise Bad("an id that is not whole")
        return str(int(cell))
    text = str(cell)
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        raise Bad("an id that is no UTF-8")
    if not text.isprintable() or text != text.strip():
        doubts.append("an id with blanks or control characters")
    return text.strip() or text


def number(cell: Any, doubts: list[str]) -> float:
    """A finite number."""
    if isinstance(cell, bool):
        doubts.append("a truth value as a number")
        return float(cell)
    if isinstance(cell, str):
        text = cell.strip()
        if text != cell or (_LENIENT.fullmatch(text) and not _NUMBER.fullmatch(text)):
            doubts.append("an unusual number")
        if not _LENIENT.fullmatch(text):
            raise Bad("no number")
        cell = float(text)
    if not isinstance(cell, int | float | Decimal):
        raise Bad("no number")
    if not math.isfinite(cell):
        raise Bad("not finite")
    return float(cell)


def chance(cell: Any, doubts: list[str]) -> float:
    """A propensity; tiny ones may be refused, since sums of their inverses mean nothing."""
    value = number(cell, doubts)
    if not 0.0 < value <= 1.0 or value * 1e308 < 1.0:
        raise Bad("outside (0, 1], or its inverse is no number")
    if value < 1e-9:
        doubts.append("a tiny propensity")
    return value


def large(cell: Any, doubts: list[str]) -> float:
    """A rating or prediction; sums of huge ones overflow, which may be refused."""
    value = number(cell, doubts)
    if abs(value) > 1e100:
        doubts.append("a huge value")
    return value


def place(cell: Any, doubts: list[str]) -> int:
    """A rank."""
    value = number(cell, doubts)
    if value != int(value) or not 1 <= value <= LARGEST:
        raise Bad("no rank")
    if isinstance(cell, str) and not cell.strip().isdigit():
        doubts.append("a rank like 3.0")
    return int(value)


CLICKS: Mapping[str, Cast] = {"user": identity, "item": identity, "propensity": chance}
RATINGS: Mapping[str, Cast] = {"user": identity, "item": identity, "value": large, "propensity": chance}
LISTS: Mapping[str, Cast] = {"user": identity, "item": identity, "rank": place}
PREDICTIONS: Mapping[str, Cast] = {"user": identity, "item": identity, "prediction": large}


def read(sheet: Sheet, casts: Mapping[str, Cast], drop: bool) -> Reading:
    """The rows of a sheet under our names."""
    doubts = list(sheet.doubts)
    places = {}
    for name in casts:
        found = [at for at, column in enumerate(sheet.header) if column == name]
        if len(found) > 1:
            raise Refused(f"two columns are called {name}")
        if not found:
            found = [at for at, column in enumerate(sheet.header) if letters(column) == name]
            doubts.append("a column's name has capitals, blanks or signs")
        if len(found) != 1:
            raise Refused(f"no column {name}, or several")
        places[name] = found[0]
    if len(set(sheet.header)) < len(sheet.header):
        doubts.append("a column's name occurs twice")
    rows, dropped = [], 0
    for line in sheet.rows:
        try:
            rows.append({name: cast(line[places[name]], doubts) for name, cast in casts.items()})
        except Bad as problem:
            if not drop:
                raise Refused(str(problem)) from None
            dropped += 1
    if not rows:
        raise Refused("no rows are left")
    return Reading(rows, dropped, doubts)


def letters(name: str) -> str:
    """A column's name without what is written in many ways."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def first_of_pairs(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """A repeated pair of an implicit log says nothing new."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row["user"], row["item"]), row)
    return found


def ranks(reading: Reading, drop: bool) -> dict[tuple[str, str], int]:
    """Rank by pair; a list holds each item and each rank once, of two the better one stays."""
    found: dict[tuple[str, str], int] = {}
    last: dict[str, int] = {}
    for row in sorted(reading.rows, key=lambda row: row["rank"]):
        pair = row["user"], row["item"]
        if pair in found or last.get(row["user"]) == row["rank"]:
            if not drop:
                raise Refused("an item or a rank is there twice")
            reading.dropped += 1
            continue
        found[pair] = last[row["user"]] = row["rank"]
    return found


def recalls(log: Reading, lists: Mapping[str, dict[tuple[str, str], int]]) -> Numbers:
    """naive and snips, pooled and per user, for every model and cut-off."""
    clicks = first_of_pairs(log.rows)
    users = dict.fromkeys(user for user, _ in clicks)
    out: Numbers = {}
    for model, rank in lists.items():
        for k in CUTS:
            for estimator in ("naive", "snips"):
                sums = []
                for user in users:
                    hit = all_ = 0.0
                    for pair, row in clicks.items():
                        if pair[0] == user:
                            weight = 1.0 if estimator == "naive" else 1.0 / row["propensity"]
                            all_ += weight
                            hit += weight if rank.get(pair, LARGEST) <= k else 0.0
                    sums.append((hit, all_))
                key = f"{model} recall@{k} {estimator}"
                out[f"{key} pooled"] = sum(hit for hit, _ in sums) / sum(all_ for _, all_ in sums)
                out[f"{key} per_user"] = sum(hit / all_ for hit, all_ in sums) / len(sums)
    if not any(out.values()):
        raise Refused("no hits at all")
    return out


def errors(log: Reading, predictions: Mapping[str, Reading], drop: bool) -> Numbers:
    """mae, naive and snips, over the seen pairs, all of which need a prediction."""
    out: Numbers = {}
    rated = first_of_pairs(log.rows)
    if len(rated) < len(log.rows):
        raise Refused("a pair has two ratings")
    tables = {model: first_of_pairs(reading.rows) for model, reading in predictions.items()}
    for model, reading in predictions.items():
        if (again := len(reading.rows) - len(tables[model])) and not drop:
            raise Refused("a pair has two predictions")
        reading.dropped += again
    predicted = {pair: row for pair, row in rated.items() if all(pair in said for said in tables.values())}
    if not predicted or (len(predicted) < len(rated) and not drop):
        raise Refused("seen pairs have no prediction")
    log.dropped += len(rated) - len(predicted)
    rated = predicted
    for model, said in tables.items():
        for estimator in ("naive", "snips"):
            weights = {pair: 1.0 if estimator == "naive" else 1.0 / row["propensity"] for pair, row in rated.items()}
            costs = (w * abs(rated[pair]["value"] - said[pair]["prediction"]) for pair, w in weights.items())
            out[f"{model} mae {estimator} per_pair"] = sum(costs) / sum(weights.values())
    return out
