"""What a careful reader should know of the log's own column ``propensity``."""

from __future__ import annotations

from collections.abc import Iterator

from unskew.alignment.column import IMPLIED
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.evaluation.facts import Facts


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


def used(facts: Facts) -> Iterator[str]:
    """The test log's propensities are used although nobody asked for them."""
    if facts.asked.propensity is None and facts.request.propensity is not None:
        column = facts.inputs.test.account.columns.get("propensity", "propensity")
        yield (
            f"The test log has a column '{plain(column)}': pairs are weighed by it, as the chance that this user was "
            "shown this item at all (propensity='known'). Name another with propensity=…, or ask for "
            "estimators=['naive'] alone."
        )


def estimated(facts: Facts) -> Iterator[str]:
    """Nobody logged it: whatever tests it passes, it is somebody's model of what was shown."""
    by, column = facts.inputs.test.estimated_by, facts.inputs.test.account.columns.get("propensity", "propensity")
    if by and facts.aligned.column is not None:
        yield Notice(
            f"Column '{plain(column)}' of the test log was estimated by {by}, and not logged when pairs were shown: "
            "verdicts by it are ahead at most, if it is right.",
            code="estimated-column",
            by=by,
        )


def alarms(facts: Facts) -> Iterator[str]:
    """The column fails a test of it."""
    column = facts.aligned.column
    level = facts.aligned.level
    if column is not None and column.wrong and not (level is not None and level.wrong):
        text = column.wrong[:1].upper() + column.wrong[1:]
        yield f"{text}. Nothing is decided by the column."


def implies_much(facts: Facts) -> Iterator[str]:
    """The column makes more pairs relevant than anybody would believe."""
    column = facts.aligned.column
    if column is not None and not column.wrong and column.implied is not None and column.implied > IMPLIED:
        yield (
            f"By the column of propensities, {min(column.implied, 1.0):.0%} of all pairs are relevant (Σ y/P ÷ pairs). "
            "That is a lot: columns that are the chance of one impression, or of a choice among few candidates, look "
            "like this."
        )
