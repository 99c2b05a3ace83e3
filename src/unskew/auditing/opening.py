"""The first sentence of an audit: how skewed the log is, and what that means for evaluating on it.

    skew = (share of the rows on the most popular ⌈10 %⌉ of the items) / (what chance alone would give them)

Chance alone gives the luckiest tenth of equally likely items more than a tenth of the rows (``spread.top_share``), a
fifth of them where items have three rows each, so the share is compared with that. The thresholds are conventions:
pairs drawn at random come out at 1.0 (Coat's random part), Coat's chosen part at 1.7, the shop of ``unskew demo``, in
which naive picks the wrong model, at 2.6, ML-100K at 3.5, MovieTweetings at 4.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unskew.auditing.contrast import Z

if TYPE_CHECKING:
    from unskew.auditing.contrast import Contrast
    from unskew.auditing.record import Audit
    from unskew.auditing.spread import Spread

MODERATELY, HEAVILY = 1.25, 2.5  # times what chance would give; below the first, hardly
NOUNS = {"implicit": "clicks", "conversions": "seen pairs", "ratings": "ratings"}
MEANING = {
    "hardly": "Popularity by itself hardly moves an evaluation on it.",
    "moderately": "Without correction, a model that leans towards popular items gains: close comparisons can mislead.",
    "heavily": "Without correction, a model that imitates popularity is rewarded.",
}


def percent(share: float) -> str:
    """A share in per cent, with one decimal below ten."""
    value = 100.0 * share
    if 0.0 < value < 0.05:
        return "< 0.1 %"
    return f"{value:.0f} %" if value >= 10.0 or value == 0.0 else f"{value:.1f} %"


def count(number: int, one: str, many: str = "") -> str:
    """A number and its noun, in the singular or plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Names with commas and an "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def skew(items: Spread) -> str:
    """``hardly``, ``moderately`` or ``heavily``."""
    times = items.top_10_percent / items.top_10_chance
    return "hardly" if times < MODERATELY else "moderately" if times < HEAVILY else "heavily"


def opening(audit: Audit) -> str:
    """How skewed the log is over items (and over values, where an MCAR log shows it), and what follows."""
    items = audit.items
    if items.number == 1:
        return "This log has one item only: no evaluation on it can tell recommenders apart."
    top = math.ceil(items.number / 10)
    noun = NOUNS.get(audit.feedback or "", "rows")
    who = (
        "most popular item takes" if top == 1 else f"most popular 10 % of the items ({top:,} of {items.number:,}) take"
    )
    level, share = skew(items), percent(items.top_10_percent)
    if level == "hardly":
        much = f"about what chance alone gives them ({percent(items.top_10_chance)})"
    else:
        much = f"{items.top_10_percent / (top / items.number):.1f} times what an even spread would give"
    said = f"This log is {level} skewed: the {who} {share} of the {noun}, {much}. {MEANING[level]}"
    if (c := audit.mcar) is None or not selected_by_value(c):
        return said
    return (
        f"{said} What was seen also depends on its value (mean {c.mean:.2f}, and {c.mean_mcar:.2f} among pairs drawn "
        "at random), so plain averages are biased."
    )


def selected_by_value(c: Contrast | None) -> bool:
    """Whether an MCAR log shows that what was seen depends on its value."""
    if c is None or c.se is None:
        return False
    return abs(c.difference) > Z * c.se or (c.p is not None and c.p < 0.01)
