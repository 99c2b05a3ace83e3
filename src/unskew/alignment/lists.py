"""Every model's lists over the common vocabulary, and an account of each.

Ids may miss those of the logs only by how they are written: '007' and '7', 'é' in one sign or in two. A spreadsheet
takes zeros off, and pandas writes 7.0 for 7. Such lists miss hits, which looks like a worse model; such a training log
leaves out nothing, and such a catalogue has every item twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unskew.alignment.account import as_values
from unskew.alignment.inputs import Rules
from unskew.errors import InputError
from unskew.kernels.arrays import Bools
from unskew.log import Ids, Log, Recommendations
from unskew.plain import plain

NOT_ASKED = "users_outside_the_lists"  # in the account of a model's lists: users who occur in none of them
PLACES_BEYOND = "places_beyond_the_catalogue"  # in the account of a model's lists
TRAINING_ITEMS = "training_items_in_lists"


class StrangeIds(NamedTuple):
    """Ids of lists of which more than half occur in no log: a share, and how either side writes its ids."""

    what: str
    share: float
    listed: str
    logged: str


class CodedLists(NamedTuple):
    """One model's lists over the common vocabulary.

    Args:
        account: what became of them, as plain values for the result.
        strange, respelled: ids that look like those of other files, or are written otherwise than in the logs.
    """

    lists: Recommendations
    account: dict[str, Any]
    strange: tuple[StrangeIds, ...]
    respelled: tuple[Respelled, ...]


def code_lists(
    lists: Mapping[str, Recommendations], test: Log, train: Log | None, logged: Ids, rules: Rules
) -> dict[str, CodedLists]:
    """The coded lists by model, and what became of each: users without a list, training items, ties."""
    coded = {}
    scored = np.diff(test.indptr) > 0
    for name, given in lists.items():
        found, repeats = given.recode(test.users, test.items), 0
        theirs, ours = {"user": given.users, "item": given.items}, {"user": test.users, "item": logged}
        outside, strange = _strangers(plain(name), given, test.users, logged)
        _refuse_silence(plain(name), given, found, scored)
        if train is not None and rules.drop_seen:
            found = found.drop_seen(train)
        elif train is not None:
            repeats = found.count_seen(train)
        inside = np.append(test.items.into(logged) >= 0, True)  # −1, an item without a code, reads the end
        beyond = len(found.item) - int(np.count_nonzero(inside[found.item]))
        without = int(np.count_nonzero(scored & (np.diff(found.indptr) == 0)))
        unasked = test.users.into(given.users) < 0  # an empty list is a list; nobody asked the model about these
        account = as_values(found.account) | {
            "rows": given.account.rows or len(given.item),
            "users_without_list": without,
            NOT_ASKED: {"held_out": _count(unasked & scored), "silent": _count(unasked & ~scored)},
            "silent_users_without_list": _count(~scored & (np.diff(found.indptr) == 0)),
            "lists_outside_the_population": _count(outside),
            TRAINING_ITEMS: repeats,
            PLACES_BEYOND: beyond,
            "tied_cut_offs": found.tied,
            "longest_rank": found.depth,
        }
        coded[name] = CodedLists(found, account, strange, respelled(theirs, ours))
    return coded


def _count(mask: Bools) -> int:
    return int(np.count_nonzero(mask))


def _strangers(name: str, given: Recommendations, users: Ids, logged: Ids) -> tuple[Bools, tuple[StrangeIds, ...]]:
    """Which lists are of users outside the population, and ids that look mixed up: that is no bad model.

    Lists of which the logs know no user, or no item, would score 0, and are refused.
    """
    filled = np.diff(given.indptr) > 0
    outside = filled & (given.users.into(users) < 0)
    mark = np.zeros(len(given.items) + 1, dtype=np.bool_)
    mark[given.item] = True  # −1, an item without a code, marks the place at the end
    listed = np.flatnonzero(mark[:-1])
    found = []
    for what, theirs, ours, unknown in (
        ("user", given.users, users, outside[filled]),
        ("item", given.items, logged, given.items.into(logged)[listed] < 0),
    ):
        if len(given.item) and unknown.all():
            raise InputError(
                f"{name}: not one of its {what}s occurs in any log, so that every score would be 0. They look like "
                f"'{plain(theirs.values[0])}', those of the logs like '{plain(ours.values[0])}'.\n"
                "Write the same ids in lists and logs, or say which column holds them with "
                f"columns={{'{what}': 'NAME'}}."
            )
        share = float(unknown.mean()) if len(unknown) else 0.0
        if share > 0.5:
            found.append(StrangeIds(what, share, plain(theirs.values[0]), plain(ours.values[0])))
    return outside, tuple(found)


def _refuse_silence(name: str, given: Recommendations, found: Recommendations, scored: Bools) -> None:
    """A model without a list for anybody with held-out interactions scores 0, whatever it recommends."""
    if len(given.item) and scored.any() and not (scored & (np.diff(found.indptr) > 0)).any():
        raise InputError(
            f"{name}: its {int(np.count_nonzero(np.diff(given.indptr))):,} lists are for other users than the "
            f"{int(scored.sum()):,} with held-out interactions, so that every score would be 0.\n"
            "Make lists for the users of the test log. Are the test log and the training log swapped?"
        )


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
