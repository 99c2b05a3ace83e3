"""Several logging policies in one log: how many rows each left, and how differently they chose.

    divergence = Jensen–Shannon divergence, in bits, between the items of two policies; ``chance`` is what it would be
                 if the same rows had been dealt to both at random

A policy's part of the log favours recommenders that resemble it (jeunen18), so policies that differ should be judged
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from unskew.auditing.looks import AuditPart, Look
from unskew.auditing.spread import Ints, divergence, jensen_shannon, jensen_shannon_chance
from unskew.auditing.values import ClusteredError, SideSums, influence
from unskew.auditing.weights import WeightSums
from unskew.inference.merging import Mergeable, merged_by
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


@dataclass(frozen=True, eq=False)
class PolicyRows:
    """Rows of every policy, and how many of the users have rows, and rows of several policies.

    ``names`` and ``rows`` belong together; names ascend.
    """

    names: pl.Series
    rows: Ints
    users: int
    shared: int

    @classmethod
    def of(cls, part: AuditPart) -> PolicyRows:
        """Of one part."""
        log = part.log
        if not len(log):
            return cls(present(log.policy).rename("id"), np.empty(0, dtype=np.int64), 0, 0)
        names, code = part.policies
        active = log.indptr[:-1][np.diff(log.indptr) > 0]
        shared = np.minimum.reduceat(code, active) != np.maximum.reduceat(code, active)
        rows = np.bincount(code, minlength=len(names))
        return cls(names.values, rows, len(active), int(np.count_nonzero(shared)))

    def merge(self, other: PolicyRows) -> PolicyRows:
        """Of both sets of users."""
        names = Ids.of(self.names, other.names)
        rows = np.zeros(len(names), dtype=np.int64)
        for each in (self, other):
            rows[names.encode(each.names)] += each.rows
        return PolicyRows(names.values, rows, self.users + other.users, self.shared + other.shared)


@dataclass(frozen=True, eq=False)
class PolicySums(Mergeable):
    """The rows of one policy.

    Args:
        items: rows of each item.
        weights: of 1/P.
    """

    rows: int
    users: int
    items: Ints
    values: SideSums | None
    weights: WeightSums | None
    least: float = merged_by(min)
    largest: float = merged_by(max)


@dataclass(frozen=True, eq=False)
class Several(Mergeable):
    """Of several policies."""

    each: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class AskPolicies:
    """Asks for the sums of some policies."""

    names: pl.Series

    def __call__(self, part: AuditPart) -> Several:
        """Of one part."""
        return Several(tuple(self._of(part.log, rows) for rows in rows_of(part, self.names)))

    def _of(self, log: Log, rows: Ints) -> PolicySums:
        user, p = log.user[rows], np.empty(0) if log.propensity is None else log.propensity[rows]
        return PolicySums(
            len(rows),
            int(np.count_nonzero(np.diff(user, prepend=-1))),  # rows ascend, so users come in groups
            np.bincount(log.item[rows], minlength=len(log.items)),
            None if log.value is None else SideSums.of(log.value[rows]),
            None if log.propensity is None else WeightSums.of(1.0 / p),
            float(p.min(initial=np.inf)),
            float(p.max(initial=0.0)),
        )


@dataclass(frozen=True, eq=False)
class AskPolicyErrors:
    """Asks for the errors of the mean values of some policies."""

    names: pl.Series
    sides: tuple[SideSums, ...]

    def __call__(self, part: AuditPart) -> Several:
        """Of one part."""
        log, users, found = part.log, len(part.log.users), []
        for rows, side in zip(rows_of(part, self.names), self.sides, strict=True):
            e = influence(present(log.value)[rows], side, log.user[rows], users)
            found.append(ClusteredError.of(e, np.bincount(log.user[rows], minlength=users) > 0))
        return Several(tuple(found))


def rows_of(part: AuditPart, names: pl.Series) -> list[Ints]:
    """The rows of each of some policies."""
    if not len(part.log):
        return [np.empty(0, dtype=np.int64)] * len(names)
    own, code = part.policies
    return [np.flatnonzero(code == mine) for mine in Ids(names).into(own)]


def policies() -> Look[Policies]:
    """The policies of a log with a column ``policy``."""
    rows: PolicyRows = yield PolicyRows.of
    largest = np.sort(np.argsort(-rows.rows, kind="stable")[:MOST])
    names = rows.names.gather(largest)
    sums: Several = yield AskPolicies(names)
    errors: Any = [None] * len(names)
    if sums.each[0].values is not None:
        several: Several = yield AskPolicyErrors(names, tuple(each.values for each in sums.each))
        errors = several.each
    found = [_policy(str(name), *each) for name, *each in zip(names, sums.each, errors, strict=True)]
    pairs = [
        Pair(one.name, other.name, jensen_shannon(a.items, b.items), jensen_shannon_chance(a.items, b.items))
        for (one, a), (other, b) in combinations(zip(found, sums.each, strict=True), 2)
    ]
    return Policies(len(rows.names), rows.shared / rows.users, tuple(found), tuple(pairs))


def _policy(name: str, sums: PolicySums, error: ClusteredError | None) -> Policy:
    seen, known = sums.items[sums.items > 0], sums.weights is not None
    return Policy(
        name=name,
        rows=sums.rows,
        users=sums.users,
        items=len(seen),
        effective_items=len(seen) / 2.0 ** divergence(seen),
        mean=None if sums.values is None else sums.values.mean,
        se=None if error is None else error.se,
        least_propensity=sums.least if known else None,
        largest_propensity=sums.largest if known else None,
        ess=None if sums.weights is None else sums.weights.ess,
    )
