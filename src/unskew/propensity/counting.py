"""Counts of a training log that exceeds memory: rows stream through, only the counts stay.

``popularity`` needs nothing of a training log but the positives of each item, ``naive_bayes`` nothing but the rows of
each value and how many users and items there are. ``count_items`` and ``count_values`` take them from a file, a folder
or a pattern, for ``Popularity.from_counts`` and ``NaiveBayes.from_counts``; memory grows with the number of users and
items, not with the rows. Unlike ``read_log`` this does not look for repeated pairs of user and item, which would need
all pairs at once: each row counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log import Ids
from unskew.log.columns import UNPAD, padded_id
from unskew.log.key_counts import KeyCounts
from unskew.log.stream import Stream
from unskew.propensity.base import Floats

MOST_VALUES = 100  # different values; more are measurements rather than ratings


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How many rows have each value, and among how many users and items.

    Args:
        values: ascending, each once.
        counts: rows (or their weight) of each.
        users, items: how many there are; a log in memory may know some without rows.
        source: what messages call the log.
        user_ids, item_ids: who they are, if more may have to be counted beside them.
    """

    values: Floats
    counts: Floats
    users: float
    items: int
    source: str = "counts"
    user_ids: Ids | None = None
    item_ids: Ids | None = None

    def __post_init__(self) -> None:
        values, counts = np.asarray(self.values, dtype=np.float64), np.asarray(self.counts, dtype=np.float64)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "counts", counts)
        fine = values.shape == counts.shape and np.isfinite(values).all() and (np.diff(values) > 0.0).all()
        if not fine or not (np.isfinite(counts) & (counts >= 0.0)).all():
            raise InputError(
                f"{self.source}: there must be one count per value, none negative, and values must ascend.\n"
                "Take them from count_values, or sort and add them up first.",
                code="bad-counts",
            )
        if counts.any() and not (self.users > 0 and self.items > 0):
            raise InputError(
                f"{self.source}: rows have at least one user and one item, and there are none.", code="bad-counts"
            )

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Those of both sets of users, over the same items."""
        values = np.union1d(self.values, other.values)
        if len(values) > MOST_VALUES:
            raise too_many(self.source, f"at least {len(values):,}")
        return ValueCounts(
            values, self.of(values) + other.of(values), self.users + other.users, self.items, self.source
        )

    def among(self, users: Ids, items: Ids) -> ValueCounts:
        """The same rows among more users and items: those of a population and a catalogue."""
        if self.user_ids is None or self.item_ids is None:
            return self
        people, things = Ids.of(self.user_ids.values, users.values), Ids.of(self.item_ids.values, items.values)
        return replace(self, users=len(people), items=len(things))

    def of(self, values: Floats) -> Floats:
        """The counts of some values, 0 for one that is not there."""
        if not len(self.values):
            return np.zeros(len(values))
        place = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
        return np.where(self.values[place] == values, self.counts[place], 0.0)


def count_items(
    path: str | PathLike[str], *, columns: Mapping[str, str] | None = None, above: float | None = None
) -> tuple[Ids, Floats]:
    """The items of some files and the rows of each.

    Args:
        path: a file (.parquet, .csv, .tsv), a folder of them, or a pattern such as ``train/*.parquet``.
        columns: our column names (``item``, ``value``) → theirs.
        above: count only rows whose value is above this (0 for conversions); by default all rows.
    """
    stream = Stream.open(path, ("item",) if above is None else ("item", "value"), columns)
    tally = KeyCounts()
    for _, piece in stream.pieces():
        tally.add(piece["item"] if above is None else piece.filter(pl.col("value") > above)["item"])
    found = tally.result()
    if not len(found):
        raise InputError(
            f"{stream.source}: there is nothing to count.\nGive a file with at least one row (that counts).",
            code="empty-log",
        )
    items = _ids(stream.source, "item", found["key"])
    counts = np.zeros(len(items))
    counts[items.encode(found["key"])] = found["rows"].to_numpy()
    return items, counts


def count_values(path: str | PathLike[str], *, columns: Mapping[str, str] | None = None) -> ValueCounts:
    """The values of files (as in ``count_items``), the rows of each, and how many users and items there are."""
    stream = Stream.open(path, ("user", "item", "value"), columns)
    users, items, found = KeyCounts(), KeyCounts(), Counter[float]()
    for part, piece in stream.pieces():
        each = piece.group_by("value").len()
        if len(each) <= MOST_VALUES:
            found.update(dict(each.iter_rows()))
        if (different := max(len(each), len(found))) > MOST_VALUES:
            raise too_many(part.source, f"at least {different:,}")
        users.add(piece["user"])
        items.add(piece["item"])
    if not found:
        raise InputError(
            f"{stream.source}: there is nothing to count.\nGive a file with at least one row.", code="empty-log"
        )
    values = np.array(sorted(found))
    counts = np.array([found[value] for value in values], dtype=np.float64)
    people, things = (
        _ids(stream.source, name, tally.result()["key"]) for name, tally in (("user", users), ("item", items))
    )
    return ValueCounts(values, counts, len(people), len(things), stream.source, people, things)


def _ids(source: str, name: str, keys: pl.Series) -> Ids:
    ids = Ids.of(keys)
    if (padded := padded_id(ids)) is not None:
        raise InputError(
            f"{source}: {name} '{plain(padded)}' has blanks around it, or a line end inside.\n{UNPAD}",
            code="padded-id",
            column=name,
        )
    return ids


def too_many(source: str, different: str) -> InputError:
    """Values that hardly repeat have no shares to compare."""
    return InputError(
        f"{source}: naive_bayes has one propensity per value, and there are {different} different values (at most "
        f"{MOST_VALUES}).\nPut them into bins first (whole numbers, or five quantiles), alike in all logs, or use "
        "logistic, which needs no values.",
        code="too-many-values",
        values=different,
    )
