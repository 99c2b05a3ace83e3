"""One short sentence per verdict: why it was withheld, or what should make a reader doubt it."""

from __future__ import annotations

from collections.abc import Sequence

from unskew.core.notice import Notice, made_of

DOUBT = "Little trust: "
NO_VALUE = "no value"
MIN_ESS = 30.0
MAX_SHARE = 0.25
MIN_USERS = 50
MAX_GAP = 0.1


def withheld(reasons: Sequence[str]) -> str:
    """Why there is no verdict; empty where nothing but chance stands in the way."""
    return made_of(f"Undecided because {reasons[0]}.", reasons[0]) if reasons else ""


def doubts(
    *,
    users: int,
    ess: float | None,
    max_weight_share: float,
    support_gap: float | None,
    note: str = "",
) -> str:
    """What should make a reader doubt a verdict; empty if nothing does.

    Args:
        users: users that count.
        ess: effective number of users that tell the models apart; ``None`` where nothing that was seen enters.
        max_weight_share: the largest share of a value that one interaction carries.
        support_gap: share of held-out interactions on items without training support; ``None`` if unknown or unused.
        note: what else there is to say.
    """
    found = [note] if note else []
    if ess is None:
        found.append(Notice("no observation corrects the outcome model", code="not-corrected"))
    elif ess < MIN_ESS:
        found.append(Notice(f"it rests on the equivalent of {ess:,.0f} users", code="low-ess", ess=ess))
    if users < MIN_USERS:
        few = f"only {users:,} {'user counts' if users == 1 else 'users count'}"
        found.append(Notice(few, code="few-users", users=users))
    if max_weight_share > MAX_SHARE:
        one = f"one interaction carries {max_weight_share:.0%} of a value"
        found.append(Notice(one, code="heavy-row", share=max_weight_share))
    if support_gap is not None and support_gap > MAX_GAP:
        gap = f"{support_gap:.0%} of the held-out interactions are on items that training never showed"
        found.append(Notice(gap, code="gap-in-support", share=support_gap))
    return made_of(f"{DOUBT}{'; '.join(found[:2])}.", *found[:2]) if found else ""


def doubt(note: str) -> str:
    """The sentence of a verdict that names nobody, and that there is a reason to doubt all the same."""
    return made_of(f"{DOUBT}{note}.", note) if note else ""


def no_value(reason: str) -> str:
    """The sentence of an estimate whose value is refused; empty where there is one."""
    return made_of(f"{NO_VALUE}: {reason}.", reason) if reason else ""


def has_no_value(trust: str) -> bool:
    """Whether an estimate's sentence says that there is no value, in some scenarios at least."""
    return trust.startswith(NO_VALUE)


def is_doubt(trust: str) -> bool:
    """Whether a verdict's sentence is a doubt, and not why nothing was decided."""
    return trust.startswith(DOUBT)
