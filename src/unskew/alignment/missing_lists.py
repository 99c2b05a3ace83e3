"""Users without a list: an empty list where a model serves nobody like them, a gap where nobody asked the model.

An estimator that adds up guesses over lists (direct, dr, sndr, switch, snips(over=list)) describes the whole
population, so it needs a list for everybody in it. Lists that were made for the users of the test log only leave out
exactly those who were silent: with 40 % of them dr came out at .59 of the truth. Estimators that look at hits only
(naive, ips) lose nothing, since silent users have no hits whatever their lists hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.alignment.lists import NOT_ASKED
from unskew.engine.data import EvaluationData

POINTS = 0.05  # by how much the shares of users without a list must differ
USERS = 10  # and how many silent users must be without one
ERRORS = 3.0  # and by how many standard errors, so that chance alone refuses nothing


def lists_for_some(lists: Mapping[str, Any], held: EvaluationData) -> str:
    """In words, which models have lists for users with held-out rows rather than for the others; empty if none."""
    scored = int(np.count_nonzero(np.diff(held.indptr)))
    silent = held.users - scored
    found = []
    for name, account in lists.items():
        missing = account[NOT_ASKED]
        if scored and silent and _uneven(missing["silent"], silent, missing["held_out"], scored):
            found.append(
                f"{name} has lists for {scored - missing['held_out']:,} of {scored:,} users with held-out interactions "
                f"but for {silent - missing['silent']:,} of {silent:,} users without"
            )
    return " and ".join(found)


def _uneven(missing: int, silent: int, missing_scored: int, scored: int) -> bool:
    """Whether silent users lack lists clearly more often than users with held-out rows."""
    excess = missing / silent - missing_scored / scored
    share = (missing + missing_scored) / (silent + scored)
    chance = math.sqrt(share * (1.0 - share) * (1.0 / silent + 1.0 / scored))
    return missing >= USERS and excess > max(POINTS, ERRORS * chance)
