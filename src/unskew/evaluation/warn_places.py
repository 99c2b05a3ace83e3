"""What a careful reader should know where items were shown at several places of the page (MATHS §19)."""

from __future__ import annotations

from collections.abc import Iterator

from unskew.core.text import plain
from unskew.evaluation.facts import Facts
from unskew.log.position import OURS, several_places


def looked_at_alike(facts: Facts) -> Iterator[str]:
    """No propensity of being on the page knows how many people look at each of its places."""
    if not several_places(facts.aligned.facts.rows.places):
        return
    name = plain(facts.inputs.test.account.columns.get(OURS, OURS))
    other = " If the column is something else, say columns={'position': ''}."
    yield (
        f"Column '{name}' of the test log says that items were shown at several places of the page. Clicks at lower "
        "places are rarer because fewer people look there, and nothing here corrects for that: lists that resemble the "
        "old order look too good, and what is said holds if people look at all places alike. Log for each row the "
        "probability of the item at its place, and leave some chance in the order."
        + ("" if facts.request.columns.of_test.get(OURS) else other)
    )
