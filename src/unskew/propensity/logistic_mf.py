"""Logistic matrix factorisation of what was seen (saito20 Eq. 6, with its minus sign; Johnson 2014).

    P_ui = σ(v_u·w_i + a_u + b_i + c),   maximising   Σ_ui [ O log P + (1 − O) log(1 − P) ] − ½ λ (Σ|v_u|² + Σ|w_i|²)

over all pairs, or over all seen and a share f of the unseen pairs, where the sample's odds are 1/f times too high:
logit P = logit P̃ + log f. Fitted by Newton steps for all users given the items, then for all items given the users
(``kernels/factors.py``), until the likelihood of held-out pairs (a hash of user and item, seen or not) stops rising.

The penalty is told in units of chance: λ = penalty · (√(S/I) + √(S/U)), S = Σ P(1 − P), which is how large the largest
singular value of O − P comes out when there is no structure at all. At 1 factors must beat chance to be there; what
suits does not depend on the size of the log. When factors are settled they are stretched by the one number that
held-out pairs ask for (what the penalty shrank), and offsets are fitted once more.

Offsets are held by a ridge, one over their variance, which is measured: numbers of rows vary by chance and by as much
more as offsets differ; a few steps of EM set right what that leaves. A constant would be far off: with a ridge of 1,
users who are all alike and have a row or none came out as busy and idle ones, and ips at 1.3 of the truth. P̂ of a user
with few rows is then about what such users may expect, which is what keeps weights right on average.

A training log that is a random part of a whole log, with the share t, is fitted as t·σ(…).

Conversions and ratings logs show what was seen, and P is absolute. An implicit log shows what was seen *and* liked: P̂
then follows taste as much as exposure, its level means nothing (relative), and debiasing by it takes taste out, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unskew.core.bounds import DIM_OR_NONE, ROUNDS, SEED, STRENGTH, THREADS, Number, check
from unskew.core.errors import InputError
from unskew.core.memory import require
from unskew.core.parts import option
from unskew.kernels import factors, pairs
from unskew.kernels.hashing import mix, pair_uniform
from unskew.log import Feedback, Ids, Log
from unskew.log.expected import a_log
from unskew.propensity.alternating import Pairs, Task, alternate, within
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored
from unskew.propensity.two_way import NEGATIVES, Link

ALL_PAIRS = 2**25  # as many pairs (4 bytes, twice) are all taken unless told otherwise; beyond it, 10 unseen per seen
STEPS = 8  # of subspace iteration for the first factors

RIDGES = replace(STRENGTH, words=("auto",))


@dataclass(frozen=True)
class LogisticMF(Propensity):
    """Factors and offsets of users and items.

    Args:
        penalty: of factors, in units of what chance alone would bring.
        epochs: rounds (all users, all items) at most; the held-out likelihood mostly stops earlier.
        negatives: ``all`` unseen pairs, so many per seen pair, or ``auto``: all in small logs, 10 in large ones.
        held_out: share of the pairs that is kept aside to know when to stop; 0 runs all epochs.
        ridge: penalty of offsets; ``auto`` measures how much users and items differ.
        threads: by default one per core; the numbers do not depend on it.
    """

    dim: int = option(10, DIM_OR_NONE, "factors; 0: offsets only")
    penalty: float = option(0.7, STRENGTH, "on factors")
    epochs: int = option(30, ROUNDS, "at most so many rounds")
    negatives: int | str = option("auto", NEGATIVES, "unseen pairs per seen pair")
    held_out: float = option(0.05, Number(low=0.0, high=0.5), "share of pairs that say when to stop")
    seed: int = option(0, SEED, "of start and draws")
    ridge: float | str = option("auto", RIDGES, "on offsets", changed=True)
    threads: int | None = field(default=None, compare=False, repr=False)
    found: LogisticFactors | None = field(default=None, compare=False, repr=False)

    name = "logistic_mf"
    learnt = "found"
    estimated = True
    models_presence = True
    knows_users = True
    assumption = "whether a pair was seen depends on the factors of the model alone"

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, self.name, threads=THREADS)

    @property
    def level(self) -> Level:
        """Absolute where the training log showed what was seen, zeros included."""
        return Level.ABSOLUTE if self.found is not None and self.found.absolute else Level.RELATIVE

    @property
    def held_out_loss(self) -> tuple[float, ...]:
        """Mean log-loss of the held-out pairs: with offsets alone, after every round, and in the end."""
        return () if self.found is None else self.found.losses

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Fit to all rows of the training log; users and items of its vocabularies without rows count as unseen."""
        total = len(a_log(log).users) * len(log.items)
        if not 0 < len(log) < total:
            raise InputError(
                f"{log.account.source}: logistic_mf needs seen and unseen pairs, and {len(log):,} of {total:,} "
                "pairs of users and items were seen. Give a training log over the whole catalogue.",
                code="no-unseen-pairs",
            )
        weight = np.ones(len(log.users)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not weight[log.user].any():
            raise InputError("logistic_mf: no user with training rows has a weight above 0.", code="no-weights")
        many = self.negatives if self.negatives != "auto" else "all" if total <= ALL_PAIRS else 10
        rate = 1.0 if isinstance(many, str) else min(1.0, many * len(log) / (total - len(log)))
        sides, drawn = len(log.users) + len(log.items), rate * (total - len(log)) + len(log)
        size = int(16 * drawn + 64 * sides * (min(self.dim, len(log.users), len(log.items)) + 1))
        require(size, f"'{self}' over {drawn:,.0f} pairs", "Take a smaller dim, or fewer negatives: negatives=10.")
        return self.remember(found=_factorise(self, log, weight, rate))

    def of(self, log: Log) -> Scored:
        """P of every row; unknown users and items have the average offset, and no factors."""
        found = self.found
        if found is None:
            raise InputError(
                "logistic_mf propensities are fitted on a training log. Give train=…, or call .fit(train).",
                code="no-training-log",
            )
        user, item = log.users.into(found.users)[log.user], log.items.into(found.items)[log.item]
        z = np.empty(len(log))
        pairs.predict(user, item, found.user, found.item, found.level, z)
        np.clip(z, -factors.LIMIT, factors.LIMIT, out=z)
        known = (user >= 0) & (item >= 0)
        known[known] = found.user_seen[user[known]] & found.item_seen[item[known]]
        return Scored(found.share / (1.0 + np.exp(-z)), floored=int(np.count_nonzero(~known)))


class LogisticFactors(NamedTuple):
    """What was found; the last column of ``user`` and ``item`` is the offset, ``level`` is c.

    Args:
        user_seen, item_seen: whether there was a training row.
        absolute: whether the training log showed what was seen.
        share: of the whole log that the training log is, 1 if that is not known.
        losses: held-out log-loss of offsets alone, of every round, and in the end.
    """

    users: Ids
    items: Ids
    user: Floats
    item: Floats
    level: float
    user_seen: npt.NDArray[np.bool_]
    item_seen: npt.NDArray[np.bool_]
    absolute: bool
    share: float
    losses: tuple[float, ...]


def _factorise(model: LogisticMF, train: Log, weight: Floats, rate: float) -> LogisticFactors:
    """Which pairs, how strong a penalty, and the factors that suit them."""
    kept, held = _pairs(train, model, rate)
    share = 1.0 if train.share is None else train.share
    link = Link() if share >= 1.0 else Link(-float(np.log(rate)), share)  # alone, the lift of a sample moves the level
    task = Task(kept, _turn(kept, len(train.items)), held, weight, np.ones(len(train.items)), link=link)
    penalty, level = _start(model, kept, weight, len(train.items), link)
    ridges = _ridges(train, weight) if isinstance(model.ridge, str) else (model.ridge, model.ridge)

    def first(user: Floats, item: Floats, level: float) -> Floats:
        return _first(train, kept, weight, min(model.dim, len(user), len(item)), model.seed)

    penalties = np.full(len(train.users), penalty), np.full(len(train.items), penalty)
    measure = isinstance(model.ridge, str)
    user, item, level, losses = alternate(task, penalties, level, first, model.epochs, model.threads, ridges, measure)
    return LogisticFactors(
        train.users,
        train.items,
        user,
        item,
        level + (float(np.log(rate)) if share >= 1.0 else 0.0),
        user_seen=np.diff(train.indptr) > 0,
        item_seen=np.bincount(train.item, minlength=len(train.items)) > 0,
        absolute=train.feedback is not Feedback.IMPLICIT and train.value is not None,
        share=share,
        losses=losses,
    )


def _ridges(train: Log, weight: Floats) -> tuple[float, float]:
    """One over the variance of the offsets of users and of items."""
    users, items = float(weight.sum()), float(len(train.items))
    by_user = np.diff(train.indptr).astype(np.float64)
    by_item = np.bincount(train.item, weights=weight[train.user], minlength=len(train.items)).astype(np.float64)
    of_user, of_item = by_user / items, by_item / users
    chance = float(np.sum(of_item * (1.0 - of_item))), float(np.sum(weight * of_user * (1.0 - of_user)))
    return _ridge(by_user, weight, chance[0], items), _ridge(by_item, np.ones(len(by_item)), chance[1], users)


def _ridge(rows: Floats, often: Floats, chance: float, others: float) -> float:
    """Of one side, from its rows n, whose variance is ``chance`` = Σ p(1 − p) over the other side where all are alike.

    Rows of users who differ vary by τ n̄² more, and on the scale of log-odds their offsets by log(1 + τ/(1 − p̄)²).
    """
    mean = max(float(np.average(rows, weights=often)), 1e-12)
    rest = max(1.0 - mean / others, 1e-6)
    excess = max(float(np.average((rows - mean) ** 2, weights=often)) - chance, 0.0)
    return within(1.0 / max(float(np.log1p(excess / (mean * rest) ** 2)), 1e-12))


def _start(model: LogisticMF, pairs: Pairs, weight: Floats, items: int, link: Link) -> tuple[float, float]:
    """λ, and c as if all pairs were alike."""
    by_row = np.repeat(weight, np.diff(pairs[0]))
    share = min(max(float(by_row @ (pairs[1] & 1) / by_row.sum()), 1e-6), 1.0 - 1e-6)
    level = link.start(share)
    spread = float(by_row.sum()) * share * (1.0 - share) * float(link.slope(np.asarray(level))) ** 2
    penalty = model.penalty * (np.sqrt(spread / items) + np.sqrt(spread / weight.sum()))
    return float(penalty), level


def _pairs(train: Log, model: LogisticMF, rate: float) -> tuple[Pairs, Pairs]:
    """Pairs to fit on and pairs to judge by: 2·item + seen, by user."""
    ends = tuple(np.zeros(len(train.users) + 1, dtype=np.int64) for _ in range(2))
    lists = tuple(np.empty(0, dtype=np.int32) for _ in range(2))
    log = train.indptr, train.item, train.users.hashes, train.items.hashes
    draws = np.uint64(mix(np.uint64(model.seed))), rate, model.held_out
    for _ in range(2):  # count, then list
        factors.gather(*log, *draws, ends[0], lists[0], ends[1], lists[1])
        if not len(lists[0]):
            lists = tuple(np.empty(int(end[-1]), dtype=np.int32) for end in ends)
    return (ends[0], lists[0]), (ends[1], lists[1])


def _turn(pairs: Pairs, items: int) -> Pairs:
    """The same pairs by item: 2·user + seen."""
    at, out = np.zeros(items + 1, dtype=np.int64), np.empty_like(pairs[1])
    factors.transpose(*pairs, at, out)
    return at, out


def _first(train: Log, kept: Pairs, weight: Floats, dim: int, seed: int) -> Floats:
    """First item factors: correspondence analysis, the singular vectors of (O − n_u n_i / |O|) / √(n_u n_i).

    A few steps of subspace iteration on the seen pairs, begun with hashes of (seed, item, number of the factor).
    """
    items, seen = len(train.items), np.flatnonzero(kept[1] & 1)
    user, item = np.searchsorted(kept[0], seen, side="right") - 1, kept[1][seen] >> 1
    rows, columns = np.bincount(user, minlength=len(weight)), np.bincount(item, weight[user], items)
    total = max(float(columns.sum()), 1.0)
    out, back = 1.0 / np.sqrt(np.maximum(rows, 1)), 1.0 / np.sqrt(np.maximum(columns, 1.0))
    matrix = sparse.csr_array((out[user] * back[item], (user, item)), (len(weight), items))
    trivial = np.sqrt(columns / total)
    numbers = np.arange(dim, dtype=np.uint64)
    basis = pair_uniform(seed, np.repeat(train.items.hashes, dim), np.tile(numbers, items)).reshape(items, dim) - 0.5
    for _ in range(STEPS):
        basis = matrix.T @ (weight[:, None] * (matrix @ basis))
        basis, triangle = np.linalg.qr(basis - np.outer(trivial, trivial @ basis))
    size = np.abs(np.diag(triangle)) ** 0.25  # the root of the singular value
    return np.asarray(basis * size * np.sqrt(total / (columns + total / items))[:, None])
