"""How much wider do intervals get by weighting? Measured on two kinds of lists, because it depends on the list.

    recall@10, pooled:  R = Σ w·hit / Σ w over the held-out relevant rows, w = y (naive) or y/P (snips)
    se² = m/(m−1) · Σ_u e_u²,  e_u = Σ over the user's rows of w·(hit − R) / Σ w

The hold-out is that of ``weights``. One list is that of the model ``most_popular``: the ten most popular items that the
user has no training row of. The others hold ten random such items, twenty times. Of a user's c candidates, t of them
held out, such a list hits a hypergeometric number, and any of the t alike, so that no list need be made.

An effective sample size cannot say this: it knows nothing of what is hit. On ML-100K popularity(gamma=1) leaves a tenth
of the rows. Intervals of the most popular items, whose hits weigh little, are then 0.37 times as wide as naive ones;
of random lists some three times, less where a list hits none of the few rows that weigh most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.auditing.spread import Floats, Ints
from unskew.auditing.weights import Rehearsal
from unskew.kernels.ranks import find_ranks
from unskew.kernels.topk import SEED, top_k_shared
from unskew.log import Ids, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import exclusions

K = 10
METRIC = f"recall@{K}"
LISTS = 20  # random lists
MOST_ROWS = 50_000  # held-out rows that are measured; of larger logs a part of the users, by the hash of their ids
FEW_HITS = 10  # with fewer, a standard error says nothing (MATHS §13)
POPULAR, RANDOM = "most popular items", "random items"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Width:
    """recall@10 by naive and by snips, with standard errors; of random lists the medians over twenty.

    Args:
        listed: ten of which items, that a user has no training row of.
        propensity: by which snips weighs.
        users, hits: users with held-out relevant rows who were measured, and how many of these rows their lists hold.
        naive, naive_se, snips, snips_se: the estimates; ``None`` with fewer than 10 hits.
        ratio: ``snips_se`` over ``naive_se``.
        ratio_low, ratio_high: between which eight tenths of the random lists lie; both are ``ratio`` for one list.
    """

    listed: str
    propensity: str
    users: int
    hits: int
    naive: float | None = None
    naive_se: float | None = None
    snips: float | None = None
    snips_se: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


def widths(log: Log, rehearsal: Rehearsal) -> tuple[Width, ...]:
    """Both kinds of lists under every propensity of the rehearsal; nothing where only one user can be measured."""
    rows = np.flatnonzero(rehearsal.test)
    users = _chosen(log, np.bincount(log.user[rows], minlength=len(log.users)))
    if len(users) < 2:
        return ()
    place = np.full(len(log.users), -1, dtype=np.int64)
    place[users] = np.arange(len(users))
    kept = place[log.user[rows]] >= 0
    rows = rows[kept]
    part = _Part(log, rehearsal, users, rows, place[log.user[rows]])
    found = []
    for name, lists in ((POPULAR, [part.popular()]), (RANDOM, part.random())):
        plain = np.array([part.estimate(rehearsal.gain[kept], hit) for hit in lists])
        hits = int(np.median([np.count_nonzero(hit) for hit in lists]))
        for propensity, weight in rehearsal.weights.items():
            weighted = np.array([part.estimate(weight[kept], hit) for hit in lists])
            found.append(_width(name, propensity, len(users), hits, plain, weighted))
    return tuple(found)


def _width(listed: str, propensity: str, users: int, hits: int, naive: Floats, snips: Floats) -> Width:
    """Medians over lists (rows) of value and standard error (columns)."""
    spread = naive[:, 1] > 0.0
    if hits < FEW_HITS or not spread.any():
        return Width(listed, propensity, users, hits)
    ratio = np.quantile(snips[spread, 1] / naive[spread, 1], (0.5, 0.1, 0.9)).tolist()
    return Width(listed, propensity, users, hits, *np.median(naive, 0).tolist(), *np.median(snips, 0).tolist(), *ratio)


def _chosen(log: Log, rows: Ints) -> Ints:
    """Users with held-out rows: all, or as many as have the most rows that are measured, by the hash of their ids."""
    users, most = np.flatnonzero(rows), MOST_ROWS
    if rows.sum() <= most:
        return users
    first = log.users.hashes[users]
    if len(users) > most:  # each has a row, so that no more users can be chosen
        users = users[np.argpartition(first, most)[:most]]
        first = log.users.hashes[users]
    order = np.argsort(first)
    return np.sort(users[order[np.cumsum(rows[users[order]]) <= most]])


class _Part(NamedTuple):
    """The held-out rows that are measured, and who they belong to (codes into ``users``)."""

    log: Log
    rehearsal: Rehearsal
    users: Ints
    rows: Ints
    who: Ints

    def popular(self) -> Mask:
        """Which rows stand in the lists of the most popular items."""
        log, scores = self.log, self.rehearsal.counts
        ids = Ids(log.users.values[self.users])
        mine = np.zeros(len(log.users), dtype=np.bool_)
        mine[self.users] = True
        indptr, excluded = exclusions(log.take(mine[log.user] & ~self.rehearsal.held_out), ids, log.items)
        size = min(K, len(log.items))
        listed = np.empty((len(ids), size), dtype=np.int32)
        order = np.argsort(-scores, kind="stable")
        top_k_shared(scores, order, size, ids.hashes, log.items.hashes, SEED, indptr, excluded, listed)
        there = listed >= 0
        rank = np.broadcast_to(np.arange(1, size + 1, dtype=np.int32), listed.shape)
        out = np.zeros(len(self.rows), dtype=np.int32)
        starts, lengths = starts_of(self._held()), starts_of(np.count_nonzero(there, axis=1))
        find_ranks(starts, log.item[self.rows], lengths, listed[there], rank[there], 0, len(ids), out)
        return np.asarray(out > 0)

    def random(self) -> list[Mask]:
        """Which rows stand in lists of random items, twenty times."""
        rng = np.random.default_rng(0)
        train = np.bincount(self.log.user[~self.rehearsal.held_out], minlength=len(self.log.users))[self.users]
        held, free = self._held(), len(self.log.items) - train
        starts = np.repeat(starts_of(held)[:-1], held)
        found = []
        for _ in range(LISTS):
            hits = rng.hypergeometric(held, free - held, np.minimum(K, free))
            order = np.lexsort((rng.random(len(self.rows)), self.who))
            hit = np.empty(len(self.rows), dtype=np.bool_)
            hit[order] = np.arange(len(order)) - starts < np.repeat(hits, held)
            found.append(hit)
        return found

    def estimate(self, weight: Floats, hit: Mask) -> tuple[float, float]:
        """The share of the weight that is hit, and its standard error clustered by user."""
        weight = weight / weight.max()
        total, users = float(weight.sum()), len(self.users)
        value = float(weight[hit].sum() / total)
        e = np.bincount(self.who, weights=weight * (hit - value), minlength=users) / total
        return value, math.sqrt(users / (users - 1) * float(e @ e))

    def _held(self) -> Ints:
        return np.bincount(self.who, minlength=len(self.users))
