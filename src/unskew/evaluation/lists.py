"""Every model's lists over the common vocabulary, and an account of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError
from unskew.evaluation.lookalikes import written_otherwise
from unskew.evaluation.rules import Ledger, Rules, plain
from unskew.log import Ids, Log, Recommendations
from unskew.plain import plain as shortened

Mask = npt.NDArray[np.bool_]
NOT_ASKED = "users_outside_the_lists"  # in the account of a model's lists: users who occur in none of them
PLACES_BEYOND = "places_beyond_the_catalogue"  # in the account of a model's lists
TRAINING_ITEMS = "training_items_in_lists"


def code_lists(
    lists: Mapping[str, Recommendations], test: Log, seen: Log | None, logged: Ids, rules: Rules, ledger: Ledger
) -> tuple[tuple[Recommendations, ...], dict[str, Any]]:
    """The coded lists in the models' order, and what became of each: users without a list, training items, ties."""
    coded, accounts = [], {}
    scored = np.diff(test.indptr) > 0
    for name, given in lists.items():
        found, repeats, told = given.recode(test.users, test.items), 0, shortened(name)
        outside = _recognise(told, given, test.users, logged, ledger)
        _refuse_silence(told, given, found, scored)
        theirs, ours = {"user": given.users, "item": given.items}, {"user": test.users, "item": logged}
        ledger.warnings.extend(written_otherwise(told, theirs, ours, "they cannot be hits as it is"))
        if seen is not None and rules.drop_seen:
            found = found.drop_seen(seen)
        elif seen is not None:
            repeats = found.count_seen(seen)
        inside = np.append(test.items.into(logged) >= 0, True)  # −1, an item without a code, reads the end
        beyond = len(found.item) - int(np.count_nonzero(inside[found.item]))
        without = int(np.count_nonzero(scored & (np.diff(found.indptr) == 0)))
        unasked = test.users.into(given.users) < 0  # an empty list is a list; nobody asked the model about these
        accounts[name] = plain(found.account) | {
            "rows": given.account.rows or len(given.item),
            "users_without_list": without,
            NOT_ASKED: {"held_out": _count(unasked & scored), "silent": _count(unasked & ~scored)},
            "silent_users_without_list": _count(~scored & (np.diff(found.indptr) == 0)),
            "lists_outside_the_population": outside,
            TRAINING_ITEMS: repeats,
            PLACES_BEYOND: beyond,
            "tied_cut_offs": found.tied,
            "longest_rank": found.depth,
        }
        if without:
            ledger.warnings.append(f"{told}: {without:,} users with held-out interactions have no list and score 0.")
        if repeats and rules.unseen:
            ledger.warnings.append(
                f"{told}: {repeats:,} listed items are in the user's training data and cannot be hits. Remove them and "
                "close the ranks up with --drop-seen, or judge repeats too with --candidates all."
            )
        coded.append(found)
    return tuple(coded), accounts


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))


def _recognise(told: str, given: Recommendations, users: Ids, logged: Ids, ledger: Ledger) -> int:
    """Count lists of users outside the population, and say so where ids look mixed up: that is no bad model."""
    filled = np.diff(given.indptr) > 0
    outside = filled & (given.users.into(users) < 0)
    mark = np.zeros(len(given.items) + 1, dtype=np.bool_)
    mark[given.item] = True  # −1, an item without a code, marks the place at the end
    listed = np.flatnonzero(mark[:-1])
    strange = given.items.into(logged)[listed] < 0
    _refuse_strangers(told, given, users, logged, filled & ~outside, ~strange)
    for what, theirs, ours, share in (
        ("user", given.users, users, outside.sum() / max(filled.sum(), 1)),
        ("item", given.items, logged, strange.mean() if len(listed) else 0.0),
    ):
        if share > 0.5:
            ledger.warnings.append(
                f"{told}: {share:.0%} of its {what}s occur in no log. They look like '{shortened(theirs.values[0])}', "
                f"those of the logs like '{shortened(ours.values[0])}': are these the same ids, written the same way?"
            )
    return int(outside.sum())


def _refuse_strangers(
    told: str, given: Recommendations, users: Ids, logged: Ids, users_known: Mask, items_known: Mask
) -> None:
    """Lists of which the logs know no user, or no item, would score 0: that is no bad model but other ids."""
    if not len(given.item):
        return
    for what, theirs, ours, known in (
        ("user", given.users, users, users_known),
        ("item", given.items, logged, items_known),
    ):
        if not known.any():
            raise InputError(
                f"{told}: not one of its {what}s occurs in any log, so that every score would be 0. They look like "
                f"'{shortened(theirs.values[0])}', those of the logs like '{shortened(ours.values[0])}'.\n"
                f"Write the same ids in lists and logs, or say which column holds them with --columns {what}=NAME."
            )


def _refuse_silence(told: str, given: Recommendations, found: Recommendations, scored: Mask) -> None:
    """A model without a list for anybody with held-out interactions scores 0, whatever it recommends."""
    if len(given.item) and scored.any() and not (scored & (np.diff(found.indptr) > 0)).any():
        raise InputError(
            f"{told}: its {int(np.count_nonzero(np.diff(given.indptr))):,} lists are for other users than the "
            f"{int(scored.sum()):,} with held-out interactions, so that every score would be 0.\n"
            "Make lists for the users of the test log. Are the test log and the training log swapped?"
        )
