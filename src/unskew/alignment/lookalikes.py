"""Ids that miss those of the logs only by how they are written: '007' and '7', 'é' in one sign or in two.

A spreadsheet takes zeros off, and pandas writes 7.0 for 7. Such lists miss hits, which looks like a worse model; such a
training log leaves out nothing, and such a catalogue has every item twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from unskew.log import Ids
from unskew.plain import plain


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
        unknown = theirs.values.filter(pl.Series(theirs.into(ours) < 0))
        if not len(unknown):
            continue
        known = pl.DataFrame({"log": ours.values.cast(pl.String), "alike": _alike(ours.values)}).unique("alike")
        found = pl.DataFrame({"list": unknown.cast(pl.String), "alike": _alike(unknown)}).join(known, on="alike")
        if len(found):
            listed, log = found.sort("list").select("list", "log").row(0)
            spellings.append(Respelled(what, len(found), len(theirs), plain(listed), plain(log)))
    return tuple(spellings)


def _alike(ids: pl.Series) -> pl.Series:
    """What is left of ids when leading zeros, '.0' at the end, case and the kind of composition do not count."""
    texts = ids.cast(pl.String).str.normalize("NFKC").str.to_lowercase()
    return texts.str.replace(r"\.0+$", "").str.replace("^0+(.)", "$1")
