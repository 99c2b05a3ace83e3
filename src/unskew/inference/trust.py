"""When not to trust a number: plain sentences for weights, clicks and support that are too poor."""

from __future__ import annotations

from unskew.inference.tally import Tally

MIN_ESS = 100.0
MAX_SHARE = 0.1
MIN_USERS = 50
MAX_GAP = 0.1
FEW_CLICKS = 0.5


def trust(
    tally: Tally | None,
    users: int,
    support_gap: float | None,
    single_clicks: float | None,
    instead: str = "target pooled",
) -> str:
    """What should make a reader doubt this estimate; empty if nothing does.

    Args:
        tally: the weights; ``None`` where nothing is weighed.
        users: users that count.
        support_gap: share of held-out interactions on items without training support; ``None`` if unknown or unused.
        single_clicks: share of users with one seen relevant item, where ratios are taken inside each user.
        instead: what does not suffer from such users.
    """
    doubts = []
    if users < MIN_USERS:
        doubts.append(f"only {users:,} {'user counts' if users == 1 else 'users count'}")
    if tally is None:
        doubts.append("no observation corrects the outcome model")
    elif tally.ess < MIN_ESS:
        doubts.append(f"the weights leave an effective sample of {tally.ess:,.0f} interactions")
    if tally is not None and tally.max_weight_share > MAX_SHARE:
        doubts.append(f"one interaction carries {tally.max_weight_share:.0%} of the weight")
    if support_gap is not None and support_gap > MAX_GAP:
        doubts.append(f"{support_gap:.0%} of the held-out interactions are on items that training never showed")
    if single_clicks is not None and single_clicks > FEW_CLICKS:
        doubts.append(
            f"{single_clicks:.0%} of the users have a single held-out pair that counts, for whom this is the naive "
            f"estimate ({instead} does not suffer from that)"
        )
    return f"Little trust: {'; '.join(doubts)}." if doubts else ""
