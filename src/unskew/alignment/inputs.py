"""The rules of one evaluation, and the ledger in which everything dropped or doubtful is written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unskew.log import Account, Feedback


@dataclass(frozen=True)
class Rules:
    """What counts as relevant, as a candidate, as wrong.

    Args:
        feedback: what a row says.
        relevant: the threshold on values.
        unseen: only items outside the user's training rows are candidates.
        drop_seen: remove training items from lists.
        drop_invalid: drop (and count) rows of users outside the population.
        train_share: the share of the whole log that the training log is, where its split says so.
        train_cut: the training log was cut by time, so that it is no random share of anything.
        by_users: training and test hold different users: propensities carry over as they are.
        share: the test log is a random part of the whole log with this share, where its split does not say so.
        ranks: whether anything asks for ranks; if not, every seen pair counts alike, whatever its value.
        rates: whether anything asks for predictions.
    """

    feedback: Feedback
    relevant: str | None = None
    unseen: bool = False
    drop_seen: bool = False
    drop_invalid: bool = False
    share: float | None = None
    by_users: bool = False
    train_share: float | None = None
    train_cut: bool = False
    ranks: bool = True
    rates: bool = False


@dataclass
class Ledger:
    """Held-out rows dropped by reason, and warnings in plain words."""

    dropped: dict[str, int]
    warnings: list[str] = field(default_factory=list)


def plain(account: Account) -> dict[str, Any]:
    """An account as plain values, for the result."""
    return {
        "source": account.source,
        "rows": account.rows,
        "dropped": {reason: count for reason, count in account.dropped.items() if count},
        "notes": list(account.notes),
    }
