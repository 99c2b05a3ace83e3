"""Factors and offsets by turns: all users given the items, then all items given the users (``kernels/factors.py``).

Held-out pairs say when to stop. In the end factors are stretched by the one number that held-out pairs ask for, which
makes up for what the penalty shrank, and offsets are fitted once more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unskew.core.threads import by_blocks
from unskew.kernels import factors
from unskew.log.ids import Codes
from unskew.propensity.base import Floats
from unskew.propensity.two_way import Link

RIDGE = 1.0  # of offsets, where none is measured
LOOSEST, TIGHTEST = 0.1, 1e6  # ridges that measurements may ask for
WARM_UP = 3  # rounds of offsets alone
PATIENCE = 2  # rounds without a better held-out likelihood
GAIN = 1e-4  # what counts as better, relatively
EQUAL = np.empty(0)  # every pair weighs 1

Pairs = tuple[npt.NDArray[np.int64], Codes]


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
    pulls: tuple[Floats, Floats, Floats] = (EQUAL, EQUAL, EQUAL)
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
        each(len(user), lambda a, b: factors.ascend(a, b, *by_user))
        each(len(item), lambda a, b: factors.ascend(a, b, *by_item))
        means = float(np.average(user[:, -1], weights=task.users)), float(np.average(item[:, -1], weights=task.items))
        user[:, -1] -= means[0]
        item[:, -1] -= means[1]
        return level + sum(means)

    def measured(user: Floats, item: Floats, level: float) -> tuple[float, float]:
        link, known = (task.link.lift, task.link.share), (np.empty(len(user)), np.empty(len(item)))
        by_user = (*task.kept, user, item, task.items, level, *link, known[0])
        by_item = (*task.turned, item, user, task.users, level, *link, known[1])
        each(len(user), lambda a, b: factors.information(a, b, *by_user))
        each(len(item), lambda a, b: factors.information(a, b, *by_item))
        sides = ((user, task.users, known[0], ridges[0]), (item, task.items, known[1], ridges[1]))
        spread = [np.average(own[:, -1] ** 2 + 1.0 / (ridge + info), weights=w) for own, w, info, ridge in sides]
        return within(1.0 / spread[0]), within(1.0 / spread[1])

    def judge(user: Floats, item: Floats, level: float) -> float:
        link = task.link.lift, task.link.share
        total, loss = factors.log_loss(*task.held, task.pulls[2], user, item, task.users, level, *link)
        return loss / total if total > 0.0 else np.nan

    user, item = np.zeros((len(task.users), 1)), np.zeros((len(task.items), 1))
    with by_blocks(threads) as each:
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


def within(ridge: float) -> float:
    """The ridge, if it is neither looser nor tighter than measurements may ask for."""
    return float(min(max(ridge, LOOSEST), TIGHTEST))
