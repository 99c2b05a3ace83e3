"""What a careful reader should know of a column ``propensity`` that is the same in every row."""

from __future__ import annotations

from collections.abc import Iterator

from unskew.evaluation.facts import Facts
from unskew.plain import plain


def corrects_nothing(facts: Facts) -> Iterator[str]:
    """It may be a placeholder: it is not used unless asked for, and where it was asked for it changes nothing."""
    extremes, asked = facts.inputs.propensities, facts.request
    if extremes is None or not extremes.constant:
        return
    name = plain(facts.inputs.test.account.columns.get("propensity", "propensity"))
    told = f"Column '{name}' of the test log is {extremes.low:g} in every row: it corrects nothing"
    if asked.propensity is None and (asked.weighs or not asked.chosen):
        yield (
            f"{told}, and is not used, since a placeholder looks the same. If every pair really was equally likely to "
            "be shown, say propensity='known' or propensity='uniform'; else log how likely each pair was to be shown."
        )
    elif asked.propensity is not None and asked.propensity.reads == ("propensity",):
        yield f"{told}. What is said here holds if every pair really was equally likely to be shown."
