"""D^π: the part of a log that each logging policy wrote (jeunen18 §3.4), over disjoint users.

Tests between policies take their parts as independent, which they are if nobody is in two of them: users with rows of
several policies are left out of all parts, and counted. A model learns better from more rows, so that parts of
different sizes differ even if policies do not matter: by default all parts have as many users as the smallest, drawn by
a hash of their ids.

The folds are those of the whole log, each cut down to the users of a part: all policies are judged in the same windows.
A fold in which some policy has too few users to judge is skipped for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.kernels.arrays import Bools, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids, Log
from unskew.log.ids import stream_of
from unskew.split import Skipped, Split, Splits
from unskew.split.rows import Masked


@dataclass(frozen=True)
class PolicyGroup:
    """The users and rows of one policy; ``left_out`` users were drawn out so that all policies have as many."""

    policy: str
    users: int
    rows: int
    left_out: int


@dataclass(frozen=True, eq=False)
class PolicyParts:
    """The parts of a log.

    Args:
        groups: of every policy, what was kept; ``rows``, where its rows stand in the log; ``logs``, its part.
        shared_users, shared_rows: users with rows of several policies, who are left out.
    """

    log: Log
    groups: tuple[PolicyGroup, ...]
    rows: tuple[Ints64, ...]
    logs: tuple[Log, ...]
    shared_users: int
    shared_rows: int

    def folds(self, splits: Splits, min_users: int) -> list[Splits]:
        """The folds of the whole log, cut down to every part."""
        kept: list[list[Split]] = [[] for _ in self.groups]
        skipped = list(splits.skipped)
        for fold in splits:
            parts = [(fold.held_out[rows], fold.kept[rows]) for rows in self.rows]
            users = [_users(log, test) for log, (test, _) in zip(self.logs, parts, strict=True)]
            least = int(np.argmin(users))
            if users[least] < min_users or not all(train.any() for _, train in parts):
                who = f"policy {self.groups[least].policy} has {users[least]:,} users to judge"
                reason = Notice(f"{who}, and min_users is {min_users:,}", code="few-users", users=users[least])
                skipped.append(Skipped(fold.label, reason, users[least], fold.test_count, fold.window))
                continue
            for out, log, (test, train), number in zip(kept, self.logs, parts, users, strict=True):
                out.append(cut(fold, log, test, train, number))
        if not kept[0]:
            raise InputError(
                f"{self.log.account.source}: in no fold of {splits.splitter} has every policy {min_users:,} users to "
                f"judge ({skipped[-1].reason}).\nUse wider windows, or judge fewer users with min_users=….",
                code="few-users",
                users=min_users,
            )
        return [
            Splits(log, splits.splitter, tuple(out), tuple(skipped), splits.notes)
            for log, out in zip(self.logs, kept, strict=True)
        ]


def _users(log: Log, rows: Bools) -> int:
    return len(np.unique(log.user[rows]))


def cut(fold: Split, log: Log, test: Bools, train: Bools, users: int | None = None) -> Split:
    """A fold with the rows of a part of its log."""
    return Split(
        log,
        test,
        fold.share,
        Masked(train),
        label=fold.label,
        window=fold.window,
        users=users,
        chosen_by=fold.chosen_by,
        sampled_by=fold.sampled_by,
    )


def policy_parts(log: Log, *, equal: bool, seed: int) -> PolicyParts:
    """Divide a log by its column ``policy``."""
    source = log.account.source
    if log.policy is None:
        raise InputError(
            f"{source}: there is no column 'policy', which says what policy showed each row.\nSay which column it is "
            "with columns={'policy': '...'}.",
            code="missing-column",
            column="policy",
        )
    names, code = Ids.code(log.policy)
    if len(names) < 2:
        raise InputError(
            f"{source}: column 'policy' has one value only, '{names.values[0]}': nothing can be compared.",
            code="one-policy",
        )
    starts, active = log.indptr[:-1], np.diff(log.indptr) > 0
    first, last = np.full((2, len(log.users)), -1, dtype=np.int64)
    first[active] = np.minimum.reduceat(code, starts[active])
    last[active] = np.maximum.reduceat(code, starts[active])
    shared = active & (first != last)
    own = np.where(shared, -1, first)
    counts = np.array([np.count_nonzero(own == p) for p in range(len(names))])
    if not counts.all():
        missing = names.values[int(np.argmin(counts))]
        raise InputError(
            f"{source}: no user has rows of the policy '{missing}' alone. Policies are compared over different users: "
            f"{np.count_nonzero(shared):,} of {np.count_nonzero(active):,} users have rows of several.\nGive a log in "
            "which users keep their policy, as in an A/B test.",
            code="shared-users",
            policy=missing,
        )
    kept = _drawn(log, own, int(counts.min()), seed) if equal else own
    groups, rows, logs = [], [], []
    for p, name in enumerate(names.values):
        places = np.flatnonzero(kept[log.user] == p)
        users = int(np.count_nonzero(kept == p))
        groups.append(PolicyGroup(str(name), users, len(places), int(counts[p]) - users))
        rows.append(places)
        logs.append(log.take(places))
    lost = int(np.diff(log.indptr)[shared].sum())
    return PolicyParts(log, tuple(groups), tuple(rows), tuple(logs), int(np.count_nonzero(shared)), lost)


def _drawn(log: Log, own: Ints64, size: int, seed: int) -> Ints64:
    """As many users of every policy, those with the least hashes."""
    stream = stream_of(f"policy users {seed}")
    draw = pair_uniform(stream, log.users.hashes, np.zeros(len(log.users), dtype=np.uint64))
    out = np.full(len(own), -1, dtype=np.int64)
    for p in range(int(own.max()) + 1):
        users = np.flatnonzero(own == p)
        out[users[np.argsort(draw[users], kind="stable")[:size]]] = p
    return out
