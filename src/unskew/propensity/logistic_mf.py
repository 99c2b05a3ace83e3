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

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unskew.bounds import DIM_OR_NONE, ROUNDS, SEED, STRENGTH, THREADS, Number, Whole, check
from unskew.errors import InputError
from unskew.kernels import factors, pairs
from unskew.kernels.hashing import mix, pair_uniform
from unskew.log import Feedback, Ids, Log
from unskew.log.expected import a_log
from unskew.log.ids import Codes
from unskew.memory import require
from unskew.parts import option
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored
from unskew.propensity.two_way import Link
from unskew.threads import Threads

ALL_PAIRS = 2**25  # as many pairs (4 bytes, twice) are all taken unless told otherwise; beyond it, 10 unseen per seen
RIDGE = 1.0  # of offsets, where none is measured
LOOSEST, TIGHTEST = 0.1, 1e6  # ridges that measurements may ask for
WARM_UP = 3  # rounds of offsets alone
PATIENCE = 2  # rounds without a better held-out likelihood
GAIN = 1e-4  # what counts as better, relatively
STEPS = 8  # of subspace iteration for the first factors
BLOCK = 256  # rows that one thread updates at a time
NOT_TOLD = np.empty(0)  # every pair weighs 1

Pairs = tuple[npt.NDArray[np.int64], Codes]


NEGATIVES = Whole(1, 1_000_000, "negatives=all takes all there are.", words=("auto", "all"))
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
                "pairs of users and items were seen. Give a training log over the whole catalogue."
            )
        weight = np.ones(len(log.users)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not weight[log.user].any():
            raise InputError("logistic_mf: no user with training rows has a weight above 0.")
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
                "logistic_mf propensities are fitted on a training log. Give train=…, or call .fit(train)."
            )
        user, item = log.users.into(found.users)[log.user], log.items.into(found.items)[log.item]
        z = np.empty(len(log))
        pairs.predict(user, item, found.user, found.item, found.level, z)
        np.clip(z, -factors.LIMIT, factors.LIMIT, out=z)
        known = (user >= 0) & (item >= 0)
        known[known] = found.user_seen[user[known]] & found.item_seen[item[known]]
        return Scored(found.share / (1.0 + np.exp(-z)), floored=int(np.count_nonzero(~known)))


@dataclass(frozen=True, eq=False)
class LogisticFactors:
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
    return _within(1.0 / max(float(np.log1p(excess / (mean * rest) ** 2)), 1e-12))


def _within(ridge: float) -> float:
    return float(min(max(ridge, LOOSEST), TIGHTEST))


@dataclass(frozen=True, eq=False)
class Task:
    """Pairs to fit by user and by item, pairs to judge by, how often users and items count, what each pair weighs.

    ``link`` says how the probability of a pair follows from its logit.
    """

    kept: Pairs
    turned: Pairs
    held: Pairs
    users: Floats
    items: Floats
    pulls: tuple[Floats, Floats, Floats] = (NOT_TOLD, NOT_TOLD, NOT_TOLD)
    link: Link = field(default_factory=Link)


def alternate(
    task: Task,
    penalties: tuple[Floats, Floats],
    level: float,
    first: Callable[[Floats, Floats, float], Floats],
    epochs: int,
    threads: int | None = None,
    ridges: tuple[float, float] = (RIDGE, RIDGE),
    measure: bool = False,
) -> tuple[Floats, Floats, float, tuple[float, ...]]:
    """Offsets alone, then factors and offsets until held-out pairs say stop, then offsets once more.

    Args:
        penalties: of the factors of every user and of every item.
        first: the first item factors, given the offsets; as many as there shall be.
        ridges: penalties of the offsets of users and of items, at the start if they are measured.
        measure: whether the ridges follow the offsets: one over mean of a² and its error, a step of EM.

    Gives back factors of users and items with their offset last, c, and the held-out losses.
    """

    def sweep(user: Floats, item: Floats, level: float, settled: bool = False) -> float:
        """All users, then all items; the mean of the offsets goes into the level, where no penalty holds it."""
        how = settled, task.link.lift, task.link.share
        by_user = (*task.kept, task.pulls[0], user, item, task.items, level, penalties[0], ridges[0], *how)
        by_item = (*task.turned, task.pulls[1], item, user, task.users, level, penalties[1], ridges[1], *how)
        _each(pool, len(user), lambda a, b: factors.ascend(a, b, *by_user))
        _each(pool, len(item), lambda a, b: factors.ascend(a, b, *by_item))
        means = float(np.average(user[:, -1], weights=task.users)), float(np.average(item[:, -1], weights=task.items))
        user[:, -1] -= means[0]
        item[:, -1] -= means[1]
        return level + sum(means)

    def measured(user: Floats, item: Floats, level: float) -> tuple[float, float]:
        link, known = (task.link.lift, task.link.share), (np.empty(len(user)), np.empty(len(item)))
        by_user = (*task.kept, user, item, task.items, level, *link, known[0])
        by_item = (*task.turned, item, user, task.users, level, *link, known[1])
        _each(pool, len(user), lambda a, b: factors.information(a, b, *by_user))
        _each(pool, len(item), lambda a, b: factors.information(a, b, *by_item))
        sides = ((user, task.users, known[0], ridges[0]), (item, task.items, known[1], ridges[1]))
        spread = [np.average(own[:, -1] ** 2 + 1.0 / (ridge + info), weights=w) for own, w, info, ridge in sides]
        return _within(1.0 / spread[0]), _within(1.0 / spread[1])

    def judge(user: Floats, item: Floats, level: float) -> float:
        link = task.link.lift, task.link.share
        total, loss = factors.log_loss(*task.held, task.pulls[2], user, item, task.users, level, *link)
        return loss / total if total > 0.0 else np.nan

    user, item = np.zeros((len(task.users), 1)), np.zeros((len(task.items), 1))
    with Threads(threads) as pool:
        for _ in range(WARM_UP):
            level = sweep(user, item, level)
            ridges = measured(user, item, level) if measure else ridges
        losses = [judge(user, item, level)]
        start = first(user, item, level)
        dim = start.shape[1]
        user = np.hstack([np.zeros((len(user), dim)), user])
        best = user.copy(), np.hstack([np.zeros((len(item), dim)), item]), level
        item = np.hstack([start, item])
        for _ in range(epochs if dim else 0):
            level = sweep(user, item, level)
            losses.append(judge(user, item, level))
            if not losses[-1] >= min(losses[:-1]):  # better, or nothing is held out
                best = user.copy(), item.copy(), level
            if len(losses) > PATIENCE and min(losses[-PATIENCE:]) > min(losses[:-PATIENCE]) * (1.0 - GAIN):
                break
        user, item, level = best
        stretch = np.sqrt(_stretch(task, user, item, level))
        user[:, :-1] *= stretch
        item[:, :-1] *= stretch
        for _ in range(WARM_UP):
            level = sweep(user, item, level, settled=True)
    return user, item, level, (*losses, judge(user, item, level))


def _start(model: LogisticMF, pairs: Pairs, weight: Floats, items: int, link: Link) -> tuple[float, float]:
    """λ, and c as if all pairs were alike."""
    by_row = np.repeat(weight, np.diff(pairs[0]))
    share = min(max(float(by_row @ (pairs[1] & 1) / by_row.sum()), 1e-6), 1.0 - 1e-6)
    level = link.start(share)
    spread = float(by_row.sum()) * share * (1.0 - share) * float(link.slope(np.asarray(level))) ** 2
    penalty = model.penalty * (np.sqrt(spread / items) + np.sqrt(spread / weight.sum()))
    return float(penalty), level


def _stretch(task: Task, user: Floats, item: Floats, level: float) -> float:
    """The factor by which v·w should be longer, so that held-out pairs are likeliest: what the penalty shrank."""
    held, pull = task.held, task.pulls[2]
    who, seen = np.repeat(np.arange(len(user)), np.diff(held[0])), held[1] & 1
    left, right = user[who], item[held[1] >> 1]
    offset, inner = level + left[:, -1] + right[:, -1], np.einsum("ij,ij->i", left[:, :-1], right[:, :-1])
    factor, weight = 1.0, task.users[who] * pull if len(pull) else task.users[who]
    for _ in range(20 if (inner * weight).any() else 0):
        eta = np.clip(offset + factor * inner, -factors.LIMIT, factors.LIMIT)
        p, turn = 1.0 / (1.0 + np.exp(-task.link.logit(eta))), task.link.slope(eta)
        slope, bend = weight @ (inner * turn * (seen - p)), weight @ ((inner * turn) ** 2 * p * (1.0 - p))
        factor = min(max(factor + float(slope / max(bend, 1e-9)), 0.5), 2.0)
    return factor


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


def _each(pool: Threads, rows: int, work: Callable[[int, int], None]) -> None:
    """Do the work on blocks of rows, side by side."""
    bounds = [*range(0, rows, BLOCK), rows]
    list(pool.map(work, bounds[:-1], bounds[1:]))
