"""Ids of lists that miss those of the logs only by how they are written: '007' and '7', 'é' in one sign or in two.

A spreadsheet takes zeros off, and pandas writes 7.0 for 7. Such lists miss hits, which looks like a worse model.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from unskew.log import Ids, Recommendations
from unskew.plain import plain


@dataclass(frozen=True)
class Respelled:
    """Ids of lists that the logs know under another spelling.

    Args:
        what: ``user`` or ``item``.
        count, total: how many there are, of how many ids.
        listed, logged: an example, as lists and as logs write it.
    """

    what: str
    count: int
    total: int
    listed: str
    logged: str


def respelled(lists: Recommendations, users: Ids, items: Ids) -> tuple[Respelled, ...]:
    """Users and items that the logs know under another spelling."""
    spellings = []
    for what, theirs, ours in (("user", lists.users, users), ("item", lists.items, items)):
        unknown = theirs.values.filter(pl.Series(theirs.into(ours) < 0))
        if not len(unknown):
            continue
        known = pl.DataFrame({"log": ours.values.cast(pl.String), "alike": _alike(ours.values)}).unique("alike")
        found = pl.DataFrame({"list": unknown.cast(pl.String), "alike": _alike(unknown)}).join(known, on="alike")
        if len(found):
            listed, logged = found.sort("list").select("list", "log").row(0)
            spellings.append(Respelled(what, len(found), len(theirs), plain(listed), plain(logged)))
    return tuple(spellings)


def _alike(ids: pl.Series) -> pl.Series:
    """What is left of ids when leading zeros, '.0' at the end, case and the kind of composition do not count."""
    texts = ids.cast(pl.String).str.normalize("NFKC").str.to_lowercase()
    return texts.str.replace(r"\.0+$", "").str.replace("^0+(.)", "$1")
