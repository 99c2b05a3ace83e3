"""What a careful reader should know of the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unskew.alignment.answers import IN_LOG
from unskew.alignment.rows import IN_TRAINING
from unskew.core.text import plain
from unskew.evaluation.facts import Facts
from unskew.judging.measure import answered_metrics


def asked_and_answered(facts: Facts) -> Iterator[str]:
    """What was asked and is not used, and what nobody answered."""
    answers = facts.aligned.account.get("answers")
    if answers is None:
        return
    if lost := answers["dropped"].get(IN_LOG, 0):
        yield f"{lost:,} answers are about pairs of the held-out log, which are known already: they were dropped."
    if lost := answers["dropped"].get(IN_TRAINING, 0):
        yield f"{lost:,} answers are about training items, which are no candidates: they were dropped."
    if silent := answers["unanswered"]:
        yield (
            f"{silent:,} of {answers['asked']:,} questions were not answered. Intervals and verdicts of anchored allow "
            "for the worst that they could hide; the values take them to be as the guesses say."
        )
    if barred := answers["barred"]:
        yield (
            f"{barred:,} pairs where lists differ could not be asked about (users or items that the plan excludes): of "
            "them only the guesses speak, and no interval of anchored knows how far off these are."
        )
    if (rounds := answers["rounds"]) > 1:
        level = facts.request.level
        yield (
            f"Answers are drawn over {rounds} declared rounds and may be looked at after each: intervals and verdicts "
            f"of anchored hold at {1.0 - (1.0 - level) / rounds:.4g} each, so that all looks together keep {level:g}."
        )
    joined = facts.aligned.joined
    if joined is not None and not joined.census:
        yield (
            "The log holds positives only, which were selected on success: it enters anchored through the guesses "
            "alone, and the answers must be drawn from all candidates, logged ones too. If a logged pair would be "
            "answered as it was logged, say fixed_relevance=True."
        )


def learnt_from_answers(facts: Facts) -> Iterator[str]:
    """Lists that may have learnt from the answers by which they are judged."""
    joined, metrics = facts.aligned.joined, answered_metrics(facts.plan)
    if joined is None or not metrics:
        return
    deepest = max(metric.k or math.inf for metric in metrics)
    new = [name for name, depth in zip(facts.request.models, joined.known, strict=True) if deepest > depth]
    if new:
        yield (
            f"Nothing shows that the lists of {' and '.join(map(plain, new))} were made before these answers came: the "
            "questions were not drawn for them, as deep as they are judged (column drawn_for of the answers). If they "
            "learnt from the answers, they list what was answered well, and these answers cannot judge them: ask anew, "
            "by a plan for these lists."
        )


def held_against_answers(facts: Facts) -> Iterator[str]:
    """What answers say against the propensities, or the exposure path; what they leave of it."""
    checked, path = facts.against
    if checked is not None and checked.contradiction():
        yield checked.sentence
    if path is not None and (path.refuted or path.narrows):
        yield path.sentence
