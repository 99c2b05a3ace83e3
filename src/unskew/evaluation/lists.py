"""Every model's lists over the common vocabulary, and an account of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.evaluation.rules import Ledger, Rules, plain
from unskew.log import Log, Recommendations


def code_lists(
    lists: Mapping[str, Recommendations], test: Log, seen: Log | None, rules: Rules, ledger: Ledger
) -> tuple[tuple[Recommendations, ...], dict[str, Any]]:
    """The coded lists in the models' order, and what became of each: users without a list, training items, ties."""
    coded, accounts = [], {}
    scored = np.diff(test.indptr) > 0
    for name, given in lists.items():
        found, repeats = given.recode(test.users, test.items), 0
        if seen is not None and rules.drop_seen:
            found = found.drop_seen(seen)
        elif seen is not None:
            repeats = found.count_seen(seen)
        without = int(np.count_nonzero(scored & (np.diff(found.indptr) == 0)))
        accounts[name] = plain(found.account) | {
            "users_without_list": without,
            "training_items_in_lists": repeats,
            "tied_cut_offs": found.tied,
            "longest_rank": found.depth,
        }
        if without:
            ledger.warnings.append(f"{name}: {without:,} users with held-out interactions have no list and score 0.")
        if repeats and rules.unseen:
            ledger.warnings.append(
                f"{name}: {repeats:,} listed items are in the user's training data and cannot be hits. Remove them and "
                "close the ranks up with --drop-seen, or judge repeats too with --candidates all."
            )
        coded.append(found)
    return tuple(coded), accounts
