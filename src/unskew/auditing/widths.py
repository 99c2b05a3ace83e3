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
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.auditing.looks import AuditPart
from unskew.auditing.spread import Floats, Ints
from unskew.auditing.weights import Rehearsal
from unskew.kernels.arrays import Hashes
from unskew.kernels.ranks import find_ranks
from unskew.kernels.topk import SEED, top_k_shared
from unskew.log.ids import Ids
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


@dataclass(frozen=True, eq=False)
class MeasuredUsers:
    """Held-out rows of the users who are measured: the least hashes of ids, up to the most rows.

    Of parts of the users, each brings those who could be among them: one user more than its own rows allow, so that
    the users behind are known not to be.

    Args:
        users: their ids, with ``hashes`` of these; ``held`` and ``train`` are their rows in both parts of the hold-out.
        gain, weights, popular: of each held-out row: y, y/P by propensity, and whether the list of the most popular
            items holds it. Rows of a user stand together, in the order of ``users``.
    """

    users: pl.Series
    hashes: Hashes
    held: Ints
    train: Ints
    gain: Floats
    weights: Mapping[str, Floats]
    popular: Mask

    @classmethod
    def of(cls, part: AuditPart, rehearsal: Rehearsal, counts: Ints) -> MeasuredUsers:
        """Of one part; ``counts`` are the relevant training rows of every item, of all parts."""
        log, rows = part.log, np.flatnonzero(rehearsal.test)
        held = np.bincount(log.user[rows], minlength=len(log.users))
        users = _least(log.users.hashes, held)
        place = np.full(len(log.users), -1, dtype=np.int64)
        place[users] = np.arange(len(users))
        kept = place[log.user[rows]] >= 0
        rows = rows[kept]
        return cls(
            log.users.values.gather(users),
            log.users.hashes[users],
            held[users],
            np.bincount(log.user[~part.held_out], minlength=len(log.users))[users],
            rehearsal.gain[kept],
            {name: weight[kept] for name, weight in rehearsal.weights.items()},
            _in_popular_lists(part, users, rows, held[users], counts.astype(np.float64)),
        )

    def merge(self, other: MeasuredUsers) -> MeasuredUsers:
        """Of both sets of users, as many as could be measured."""
        both = MeasuredUsers(
            pl.concat([self.users, other.users]),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.held, other.held]),
            np.concatenate([self.train, other.train]),
            np.concatenate([self.gain, other.gain]),
            {name: np.concatenate([self.weights[name], other.weights[name]]) for name in self.weights},
            np.concatenate([self.popular, other.popular]),
        )
        return both._only(_least(both.hashes, both.held))

    @property
    def measured(self) -> MeasuredUsers:
        """Those of all users who are measured, in the order of their ids."""
        order = np.argsort(self.hashes)
        within = order[np.cumsum(self.held[order]) <= MOST_ROWS]
        return self._only(within[np.argsort(Ids.code(self.users.gather(within))[1])])

    def _only(self, users: Ints) -> MeasuredUsers:
        """Some of the users, in this order."""
        starts = starts_of(self.held)[:-1][users]
        held = self.held[users]
        before = np.cumsum(held) - held
        rows = np.arange(held.sum()) + np.repeat(starts - before, held)
        return MeasuredUsers(
            self.users.gather(users),
            self.hashes[users],
            held,
            self.train[users],
            self.gain[rows],
            {name: weight[rows] for name, weight in self.weights.items()},
            self.popular[rows],
        )


def _least(hashes: Hashes, held: Ints) -> Ints:
    """Users with held-out rows by ascending hash, up to the one with whom there are too many rows; as codes ascend."""
    users, most = np.flatnonzero(held), MOST_ROWS + 1
    if held.sum() <= MOST_ROWS:
        return users
    if len(users) > most:  # each has a row, so that no more users can be chosen
        users = users[np.argpartition(hashes[users], most)[:most]]
    users = users[np.argsort(hashes[users])]
    rows = held[users]
    return np.sort(users[np.cumsum(rows) - rows <= MOST_ROWS])


def _in_popular_lists(part: AuditPart, users: Ints, rows: Ints, held: Ints, scores: Floats) -> Mask:
    """Which held-out rows of some users stand in their lists of the most popular items."""
    log = part.log
    ids = log.users.subset(users)
    mine = np.zeros(len(log.users), dtype=np.bool_)
    mine[users] = True
    indptr, excluded = exclusions(log.take(mine[log.user] & ~part.held_out), ids, log.items)
    size = min(K, len(log.items))
    listed = np.empty((len(ids), size), dtype=np.int32)
    order = np.argsort(-scores, kind="stable")
    top_k_shared(scores, order, size, ids.hashes, log.items.hashes, SEED, indptr, excluded, listed)
    there = listed >= 0
    rank = np.broadcast_to(np.arange(1, size + 1, dtype=np.int32), listed.shape)
    out = np.zeros(len(rows), dtype=np.int32)
    starts, lengths = starts_of(held), starts_of(np.count_nonzero(there, axis=1))
    find_ranks(starts, log.item[rows], lengths, listed[there], rank[there], 0, len(ids), out)
    return np.asarray(out > 0)


def widths(users: MeasuredUsers, items: int) -> tuple[Width, ...]:
    """Both kinds of lists under every propensity; nothing where only one user can be measured."""
    users = users.measured
    number = len(users.users)
    if number < 2:
        return ()
    found = []
    for name, lists in ((POPULAR, [users.popular]), (RANDOM, _random_lists(users, items))):
        plain = np.array([_estimate(users, users.gain, hit) for hit in lists])
        hits = int(np.median([np.count_nonzero(hit) for hit in lists]))
        for propensity, weight in users.weights.items():
            weighted = np.array([_estimate(users, weight, hit) for hit in lists])
            found.append(_width(name, propensity, number, hits, plain, weighted))
    return tuple(found)


def _random_lists(users: MeasuredUsers, items: int) -> list[Mask]:
    """Which rows stand in lists of random items, twenty times."""
    rng = np.random.default_rng(0)
    held, free = users.held, items - users.train
    starts = np.repeat(starts_of(held)[:-1], held)
    who = np.repeat(np.arange(len(held)), held)
    found = []
    for _ in range(LISTS):
        hits = rng.hypergeometric(held, free - held, np.minimum(K, free))
        order = np.lexsort((rng.random(len(who)), who))
        hit = np.empty(len(who), dtype=np.bool_)
        hit[order] = np.arange(len(order)) - starts < np.repeat(hits, held)
        found.append(hit)
    return found


def _estimate(users: MeasuredUsers, weight: Floats, hit: Mask) -> tuple[float, float]:
    """The share of the weight that is hit, and its standard error clustered by user."""
    weight, number = weight / weight.max(), len(users.held)
    total = float(weight.sum())
    value = float(weight[hit].sum() / total)
    who = np.repeat(np.arange(number), users.held)
    e = np.bincount(who, weights=weight * (hit - value), minlength=number) / total
    return value, math.sqrt(number / (number - 1) * float(e @ e))


def _width(listed: str, propensity: str, users: int, hits: int, naive: Floats, snips: Floats) -> Width:
    """Medians over lists (rows) of value and standard error (columns)."""
    spread = naive[:, 1] > 0.0
    if hits < FEW_HITS or not spread.any():
        return Width(listed, propensity, users, hits)
    ratio = np.quantile(snips[spread, 1] / naive[spread, 1], (0.5, 0.1, 0.9)).tolist()
    return Width(listed, propensity, users, hits, *np.median(naive, 0).tolist(), *np.median(snips, 0).tolist(), *ratio)
