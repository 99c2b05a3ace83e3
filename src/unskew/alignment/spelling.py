"""Ids of a file that the logs know under another spelling.

Ids may miss those of the logs only by how they are written: '007' and '7', 'é' in one sign or in two. A spreadsheet
takes zeros off, and pandas writes 7.0 for 7. Such lists miss hits, which looks like a worse model; such a training log
leaves out nothing, and such a catalogue has every item twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from unskew.core.text import plain
from unskew.log import Ids
from unskew.log.spelling import alike


@dataclass(frozen=True)
class Respelled:
    """Ids of a file that the logs know under another spelling.

    Args:
        what: ``user`` or ``item``.
        count, total: how many there are, of how many ids.
        listed, logged: an example, as the file and as the logs write it.
    """

    what: str
    count: int
    total: int
    listed: str
    logged: str


def respelled(given: Mapping[str, Ids], logged: Mapping[str, Ids]) -> tuple[Respelled, ...]:
    """Users and items that the logs know under another spelling, by what they are ids of: ``user``, ``item``."""
    spellings = []
    for what, theirs in given.items():
        ours = logged[what]
        if theirs.values.dtype.is_integer() and ours.values.dtype.is_integer():
            continue  # a number is written in one way only
        missing = theirs.into(ours) < 0
        if not missing.any():
            continue
        unknown = theirs.values.filter(pl.Series(missing))
        known = pl.DataFrame({"log": ours.values.cast(pl.String), "alike": alike(ours.values)}).unique("alike")
        found = pl.DataFrame({"list": unknown.cast(pl.String), "alike": alike(unknown)}).join(known, on="alike")
        if len(found):
            listed, log = found.sort("list").select("list", "log").row(0)
            spellings.append(Respelled(what, len(found), len(theirs), plain(listed), plain(log)))
    return tuple(spellings)


@dataclass(frozen=True)
class RespelledUsers:
    """Users of a file that the logs write otherwise, of some of the users; those of others are added.

    Users who are written alike must be in the same part of the users, or neither is found.

    Args:
        total: users of the file.
        first: of those that are written otherwise, if there are any.
    """

    total: int = 0
    first: Respelled | None = None

    @classmethod
    def of(cls, theirs: Ids, ours: Ids) -> RespelledUsers:
        """Of the users of a file, against those of the logs."""
        return cls(len(theirs), next(iter(respelled({"user": theirs}, {"user": ours})), None))

    def merge(self, other: RespelledUsers) -> RespelledUsers:
        """Those of both parts of the users."""
        total, both = self.total + other.total, [one for one in (self.first, other.first) if one is not None]
        if not both:
            return RespelledUsers(total)
        least = min(both, key=lambda one: one.listed)
        count = sum(one.count for one in both)
        return RespelledUsers(total, Respelled("user", count, total, least.listed, least.logged))

    @property
    def found(self) -> tuple[Respelled, ...]:
        """What there is to say."""
        if self.first is None:
            return ()
        one = self.first
        return (Respelled("user", one.count, self.total, one.listed, one.logged),)
