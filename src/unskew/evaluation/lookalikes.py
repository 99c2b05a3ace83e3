"""Ids that miss those of the logs only by how they are written: '007' and '7', 'é' in one sign or in two.

A spreadsheet takes zeros off, and pandas writes 7.0 for 7. Such lists miss hits, which looks like a worse model; such a
training log leaves out nothing, and such a catalogue has every item twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from unskew.log import Ids
from unskew.plain import plain


def written_otherwise(name: str, given: Mapping[str, Ids], logged: Mapping[str, Ids], harm: str) -> Iterator[str]:
    """A sentence for users and items that the logs know under another spelling.

    Args:
        name: of the model or the file.
        given, logged: its ids and those of the logs, by what they are ids of: ``user``, ``item``.
        harm: what comes of it, to the end of the sentence.
    """
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
            theirs_first, ours_first = found.sort("list").select("list", "log").row(0)
            yield (
                f"{name}: {len(found):,} of its {len(theirs):,} {what}s occur in no log as they are written, such as "
                f"'{plain(theirs_first)}', where the logs have '{plain(ours_first)}'. If they are the same, write them "
                f"alike: {harm}."
            )


def _alike(ids: pl.Series) -> pl.Series:
    """What is left of ids when leading zeros, '.0' at the end, case and the kind of composition do not count."""
    texts = ids.cast(pl.String).str.normalize("NFKC").str.to_lowercase()
    return texts.str.replace(r"\.0+$", "").str.replace("^0+(.)", "$1")
