"""Rows per user and per item, of a log in memory or of files that exceed memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.core.threads import ahead
from unskew.kernels.arrays import Floats, Ints64
from unskew.log import Ids, Log
from unskew.log.columns import UNPAD, padded_id
from unskew.log.key_counts import KeyCounts
from unskew.log.stream import Stream
from unskew.sampling.base import Counts, Sampler, checked


@dataclass(frozen=True, eq=False)
class Tally:
    """How many rows each id has; some ids may have none."""

    ids: Ids
    rows: Ints64

    def of(self, ids: Ids) -> Ints64:
        """The rows of some ids, 0 for one that is not there."""
        place = ids.into(self.ids)
        return np.where(place >= 0, self.rows[place], 0)

    def present(self) -> Ids:
        """The ids that have a row."""
        return self.ids if self.rows.all() else Ids(self.ids.values.filter(self.rows > 0))


@dataclass(frozen=True, eq=False)
class Tallies:
    """The rows of a log by user and by item; ``source`` is what messages call it."""

    users: Tally
    items: Tally
    source: str

    def __post_init__(self) -> None:
        if not self.total:
            raise InputError(f"{self.source}: there are no rows.\nGive a log with at least one row.", code="empty-log")

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.users.rows.sum())

    @classmethod
    def of_log(cls, log: Log) -> Tallies:
        """Those of a log in memory."""
        users = Tally(log.users, np.diff(log.indptr).astype(np.int64))
        items = Tally(log.items, np.bincount(log.item, minlength=len(log.items)).astype(np.int64))
        return cls(users, items, log.account.source)

    @classmethod
    def of_stream(cls, stream: Stream) -> Tallies:
        """Those of files, a piece at a time."""
        found = {"user": KeyCounts(), "item": KeyCounts()}
        for _, piece in ahead(stream.pieces()):
            for name, counts in found.items():
                counts.add(piece[name])
        users, items = (tally(stream.source, name, counts.result()) for name, counts in found.items())
        return cls(users, items, stream.source)


def tally(source: str, name: str, found: pl.DataFrame) -> Tally:
    """That of counted keys: columns ``key`` and ``rows``."""
    ids = Ids.of(found["key"])
    if (padded := padded_id(ids)) is not None:
        raise InputError(
            f"{source}: {name} '{plain(padded)}' has blanks around it, or a line end inside.\n{UNPAD}",
            code="padded-id",
            column=name,
        )
    rows = np.zeros(len(ids), dtype=np.int64)
    rows[ids.encode(found["key"])] = found["rows"].to_numpy()
    return Tally(ids, rows)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each user and of each item of the sampled log; that of a row is their product."""

    user: Floats
    item: Floats

    @classmethod
    def by(cls, sampler: Sampler, log: Tallies, train: Tallies | None, random: Tallies | None) -> Weights:
        """What a sampler makes of the counts."""
        if sampler.needs_train and train is None:
            raise InputError(
                f"'{sampler}' counts the rows of users and items in the training log, and there is none.\n"
                "Give train=… (to sample a training set, the set itself), or sample with strategy='reg'.",
                code="no-training-log",
            )
        if sampler.needs_random and random is None:
            raise InputError(
                f"'{sampler}' takes its target from a log of pairs drawn at random, and there is none.\n"
                "Give mcar=…, or sample towards even users and items: strategy='wtd_h'.",
                code="no-random-sample",
            )
        return cls(
            checked(sampler.user_weight(_counts("users", log, train, random)), sampler, "user", len(log.users.ids)),
            checked(sampler.item_weight(_counts("items", log, train, random)), sampler, "item", len(log.items.ids)),
        )


def _counts(side: str, log: Tallies, train: Tallies | None, random: Tallies | None) -> Counts:
    own: Tally = getattr(log, side)
    seen = own if train is None else getattr(train, side)
    at_random: Tally | None = None if random is None else getattr(random, side)
    return Counts(
        train=seen.of(own.ids).astype(np.float64),
        train_rows=log.total if train is None else train.total,
        random=None if at_random is None else at_random.of(own.ids).astype(np.float64),
        random_rows=0 if random is None else random.total,
        number=len(Ids.of(own.present().values, seen.present().values)),
    )
