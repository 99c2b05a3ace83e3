"""Listed items outside the catalogue: what estimators make of them, in plain words.

A catalogue that is made of logs lacks the items that nobody happened to see. What is listed beyond it may be such an
item, or no item at all: naive and ips cannot count it either way, a guess counts it, a number of pairs lacks it.
"""

from __future__ import annotations

from unskew.alignment.align import Aligned
from unskew.alignment.lists import PLACES_BEYOND
from unskew.engine.plan import Plan
from unskew.estimators import Need


def warnings(aligned: Aligned, plan: Plan) -> list[str]:
    """A word about them, where it matters to some cell of the plan, and about logs that show more than was named."""
    return [*_unnamed(aligned), *_listed(aligned, plan)]


def _unnamed(aligned: Aligned) -> list[str]:
    items = aligned.account["items"]
    if not items["only_in_logs"]:
        return []
    return [
        f"{items['only_in_logs']:,} of the {items['catalogue']:,} items are in the logs and not in the catalogue "
        "(--items): they were seen, so they count as candidates all the same."
    ]


def _listed(aligned: Aligned, plan: Plan) -> list[str]:
    places = sum(account.get(PLACES_BEYOND, 0) for account in aligned.account["models"].values())
    if not places:
        return []
    listed = sum(len(lists.item) for lists in aligned.held.lists)
    share = f"{places:,} of {listed:,} listed places ({places / listed:.1%})"
    if aligned.closed:
        return [f"{share} hold items outside the catalogue (--items): they are no candidates and count as 0."]
    asking = {need: _estimators(plan, need) for need in (Need.LISTS, Need.CANDIDATES)}
    parts = []
    if asking[Need.LISTS]:
        parts.append(f"{asking[Need.LISTS]} count them as candidates")
    if any(arm.target.normalised for arm in plan.arms):
        parts.append("normalised targets leave them out")
    if asking[Need.CANDIDATES]:
        parts.append(f"{asking[Need.CANDIDATES]} count the pairs of the other items only, which may be too few")
    if not parts:
        return []
    return [
        f"{share} hold items that no log shows: {'; '.join(parts)}. Name all items there are with --items FILE "
        "(items=…)."
    ]


def _estimators(plan: Plan, need: Need) -> str:
    return ", ".join(dict.fromkeys(str(a.estimator) for a in plan.arms if need in a.estimator.needs(a.target)))
