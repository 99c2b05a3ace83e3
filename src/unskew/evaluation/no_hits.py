"""Where no list of any model hits anything, every score is 0: that is an input to look at again, not an answer.

Such zeros come from ids that mean something else, from lists of what users already had, or from cut-offs above the
first hit. A table of zeros with the verdict "equal" would hide all of that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unskew.alignment.align import Aligned
from unskew.engine.data import EvaluationData
from unskew.engine.plan import EvaluationPlan
from unskew.errors import InputError
from unskew.kernels.ranks import find_ranks
from unskew.metrics import RankingMetric
from unskew.result import Estimate


class NoHitsError(InputError):
    """Every score of every model is 0."""


def refuse_no_hits(aligned: Aligned, plan: EvaluationPlan, estimates: Sequence[Estimate]) -> None:
    """Raise where all that was asked are ranks, and every score of every model is 0."""
    if not all(isinstance(metric, RankingMetric) for run in plan.runs for metric in run.metrics):
        return  # errors of predictions say something, and show that the ids match
    if not estimates or any(estimate.value != 0.0 for estimate in estimates):
        return
    rows = int(np.count_nonzero(aligned.held.value > 0.0))
    raise NoHitsError(
        f"no list holds any of the {rows:,} relevant held-out interactions where it counts: every score of every model "
        f"is 0, which says nothing of the models.\n{_what_to_check(aligned)}"
    )


def _what_to_check(aligned: Aligned) -> str:
    """The likely remedy first: a larger k, lists without training items, else the ids."""
    first = _first_hit(aligned.held)
    if first:
        return f"The first hit stands at rank {first}: ask for a larger k, such as metrics=['recall@{max(first, 10)}']."
    repeats = sum(account.get("training_items_in_lists", 0) for account in aligned.account["models"].values())
    again = aligned.account["test"]["dropped"].get("already in training", 0)
    found = []
    if repeats or again:
        found.append(
            f"{repeats:,} listed items and {again:,} held-out interactions repeat training items, which are no "
            "candidates: judge them with candidates='all', or close the lists up with drop_seen=True."
        )
    items = aligned.items.values
    found.append(
        "Check that lists and logs mean the same items by the same ids (items of the logs look like "
        f"'{items[int(aligned.held.item[0])]}'), that lists are long enough, and that they were made for these users."
    )
    return " ".join(found)


def _first_hit(held: EvaluationData) -> int:
    """The best rank at which any model lists any relevant held-out item; 0 where none does."""
    best, rank = 0, np.empty(len(held.item), dtype=np.int32)
    for lists in held.lists:
        find_ranks(held.indptr, held.item, lists.indptr, lists.item, lists.rank, 0, held.users, rank)
        hits = rank[(rank > 0) & (held.value > 0.0)]
        if len(hits):
            best = min(best or int(hits.min()), int(hits.min()))
    return best
