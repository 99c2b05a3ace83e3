"""Several logging policies in one log: how many rows each left, and how differently they chose.

    divergence = Jensen–Shannon divergence, in bits, between the items of two policies; ``chance`` is what it would be
                 if the same rows had been dealt to both at random

A policy's part of the log favours recommenders that resemble it (jeunen18), so policies that differ should be judged
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unskew.auditing.spread import Ints, divergence, jensen_shannon, jensen_shannon_chance
from unskew.auditing.values import mean_with_error
from unskew.kernels.arrays import present
from unskew.log import Ids, Log

MOST = 8


@dataclass(frozen=True)
class Policy:
    """The rows of one policy; ``effective_items`` is entropy-based, ``ess`` that of its logged propensities."""

    name: str
    rows: int
    users: int
    items: int
    effective_items: float
    mean: float | None
    se: float | None
    least_propensity: float | None
    largest_propensity: float | None
    ess: float | None


@dataclass(frozen=True)
class Pair:
    """How differently two policies chose items."""

    a: str
    b: str
    js_bits: float
    js_chance: float


@dataclass(frozen=True)
class Policies:
    """The policies with the most rows (at most 8 of ``number``), and each pair of them.

    ``shared_users`` is the share of the users who have rows of more than one policy.
    """

    number: int
    shared_users: float
    policies: tuple[Policy, ...]
    pairs: tuple[Pair, ...]


def compare(log: Log) -> Policies:
    """The policies of a log with a column ``policy``."""
    names, code = Ids.code(present(log.policy))
    rows = np.bincount(code, minlength=len(names))
    order = np.argsort(code.astype(np.int16) if len(names) < 2**15 else code, kind="stable")
    starts = np.append(0, np.cumsum(rows))
    largest = np.argsort(-rows, kind="stable")[:MOST]
    found, counts = [], []
    for place in sorted(largest.tolist()):
        policy, items = _policy(log, str(names.values[place]), order[starts[place] : starts[place + 1]])
        found.append(policy)
        counts.append(items)
    pairs = [
        Pair(one.name, other.name, jensen_shannon(a, b), jensen_shannon_chance(a, b))
        for (one, a), (other, b) in combinations(zip(found, counts, strict=True), 2)
    ]
    active = log.indptr[:-1][np.diff(log.indptr) > 0]
    shared = np.minimum.reduceat(code, active) != np.maximum.reduceat(code, active)
    return Policies(len(names), float(np.mean(shared)), tuple(found), tuple(pairs))


def _policy(log: Log, name: str, rows: Ints) -> tuple[Policy, Ints]:
    """One policy, and its rows per item; the rows ascend, so users come in groups."""
    user, items = log.user[rows], np.bincount(log.item[rows], minlength=len(log.items))
    mean, se = (None, None) if log.value is None else mean_with_error(log.value[rows], user, len(log.users))
    least = largest = ess = None
    if log.propensity is not None:
        p = log.propensity[rows]
        r = p.min() / p
        least, largest, ess = float(p.min()), float(p.max()), float(r.sum() ** 2 / (r @ r))
    seen = items[items > 0]
    policy = Policy(
        name=name,
        rows=len(rows),
        users=int(np.count_nonzero(np.diff(user))) + 1,
        items=len(seen),
        effective_items=len(seen) / 2.0 ** divergence(seen),
        mean=mean,
        se=se,
        least_propensity=least,
        largest_propensity=largest,
        ess=ess,
    )
    return policy, items
