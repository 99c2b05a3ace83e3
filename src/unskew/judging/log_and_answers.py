"""The rows of the log beside the answers: what both say of the same pairs, each by its own probabilities.

    of the log        h / P        P = Pr(a pair is in the log)
    of the answers    h / π        π = Pr(it was drawn); where logged pairs are known (a census), these with h

h weighs pairs alike on both sides: 1 where some list holds the pair, and outside the lists the ratio of the two rates
at which pairs were drawn. Any h that no outcome enters is right; this one keeps the few pairs that were drawn outside
the lists, which stand for nearly all pairs there are, from drowning what was drawn inside. Questions that nobody
answered are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.alignment.align import Aligned
from unskew.engine.answers import ANSWERED, ASKED, LOGGED
from unskew.engine.data import EvaluationData
from unskew.inference.profiles import WeighedRows
from unskew.kernels.arrays import Bools, Floats, Ints64, present
from unskew.kernels.ranks import find_ranks
from unskew.log import Log


@dataclass(frozen=True, eq=False)
class LogAndAnswers:
    """Rows of the log, and answers (with the logged pairs where these are known), over the same users and items.

    Args:
        user, item, value, weight: of the log; ``weight`` is h.
        propensity: P of its rows, where there is any.
        asked_user, asked_item, asked_value, asked_weight: of the other side; the weight is h/π.
        drawn: which of the other side were drawn and answered.
        users: how many there are.
        zeros: whether the log shows what was seen and not relevant.
    """

    user: Ints64
    item: Ints64
    value: Floats
    weight: Floats
    propensity: Floats | None
    asked_user: Ints64
    asked_item: Ints64
    asked_value: Floats
    asked_weight: Floats
    drawn: Bools
    users: int
    zeros: bool

    @classmethod
    def of(cls, aligned: Aligned, depth: int) -> LogAndAnswers:
        """The rows of an evaluation with answers; lists count down to ``depth``."""
        joined, held = present(aligned.joined), aligned.held
        rows = joined.rows
        origin, pi = joined.origin, present(rows.propensity)
        inside, listed = (_listed(held, log, depth) for log in (aligned.rows, rows))
        ours = origin != LOGGED
        outside = _outside(pi[ours & listed], pi[ours & ~listed])
        told = origin != ASKED
        h = np.where(listed, 1.0, outside)[told]
        return cls(
            user=aligned.rows.user.astype(np.int64),
            item=aligned.rows.item.astype(np.int64),
            value=held.value,
            weight=np.where(inside, 1.0, outside),
            propensity=held.propensity,
            asked_user=rows.user[told].astype(np.int64),
            asked_item=rows.item[told].astype(np.int64),
            asked_value=present(rows.gain)[told],
            asked_weight=h / pi[told],
            drawn=origin[told] == ANSWERED,
            users=len(rows.users),
            zeros=bool((held.value == 0.0).any()),
        )

    def of_log(self, weight: Floats, value: Floats, kept: Bools | None = None) -> WeighedRows:
        """Rows of the log with h times these weights."""
        found = WeighedRows(self.user, self.weight * weight, value)
        return found if kept is None else WeighedRows(found.user[kept], found.weight[kept], value[kept])

    def of_answers(self, weight: Floats, value: Floats, kept: Bools | None = None) -> WeighedRows:
        """Rows of the other side with h/π times these weights."""
        found = WeighedRows(self.asked_user, self.asked_weight * weight, value)
        return found if kept is None else WeighedRows(found.user[kept], found.weight[kept], value[kept])

    def positive(self, kept: Bools | None = None) -> float:
        """The effective number of positive answers."""
        there = self.drawn if kept is None else self.drawn & kept
        weight = (self.asked_weight * self.asked_value)[there]
        squares = float(weight @ weight)
        return float(weight.sum()) ** 2 / squares if squares > 0.0 else 0.0


def _outside(inside: Floats, others: Floats) -> float:
    """h outside the lists: the rate at which pairs were drawn there over that in the lists, at most 1."""
    if not len(others):
        return 0.0
    if not len(inside):
        return 1.0
    rates = [len(pi) / float((1.0 / pi).sum()) for pi in (others, inside)]
    return min(1.0, rates[0] / rates[1])


def _listed(held: EvaluationData, rows: Log, depth: int) -> Bools:
    """Which rows some list holds."""
    found, rank = np.zeros(len(rows), dtype=np.bool_), np.empty(len(rows), dtype=np.int32)
    for lists in held.lists:
        find_ranks(rows.indptr, rows.item, lists.indptr, lists.item, lists.rank, 0, held.users, rank)
        found |= (rank > 0) & (rank <= depth)
    return found


def activity(train: Log, users: Ints64, rows: Ints64, groups: int = 3) -> Ints64:
    """Groups of users by their training rows, with about equal numbers of held-out rows each.

    Args:
        users: the code of each user in the training log, −1 where there is none.
        rows: the user of each held-out row.
    """
    number = np.append(np.bincount(train.user, minlength=len(train.users)), 0)[users]
    edges = np.unique(np.quantile(number[rows], np.arange(1, groups) / groups)) if len(rows) else np.empty(0)
    return np.searchsorted(edges, number, side="left").astype(np.int64)
