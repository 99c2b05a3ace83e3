"""What a careful reader should know of the numbers themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unskew.estimators import Target
from unskew.evaluation.facts import Facts
from unskew.inference.trust import NO_VALUE
from unskew.metrics import RankingMetric
from unskew.result import Estimate


def refused_cells(facts: Facts) -> Iterator[str]:
    """Cells that were asked for and are not there."""
    if count := len(facts.refusals):
        cells, them = ("1 cell is", "it") if count == 1 else (f"{count} cells are", "them")
        yield f"{cells} not shown because the log cannot support {them}; inputs['refused'] says why."


def sums_of_shares(facts: Facts) -> Iterator[str]:
    """A share of the relevant items is a number of them where nothing divides."""
    every = [metric for run in facts.runs(Target.PER_USER_SUM) for metric in run.metrics]
    shares = [metric for metric in every if isinstance(metric, RankingMetric) and metric.of_relevant]
    if shares:
        yield (
            f"Under per_user_sum, {shares[0].name}@k is the number of relevant items among the first k, and can exceed "
            "1."
        )


def segments_lacking(facts: Facts) -> Iterator[str]:
    """What segments of interactions cannot give."""
    yield from facts.segments_lack


def outside_own_interval(facts: Facts) -> Iterator[str]:
    """Refitted intervals lie around the corrected estimate, which may be far from the value."""
    estimates = facts.answers[0].estimates
    found = [e for e in estimates if e.value < e.low or e.value > e.high]
    if facts.request.refit and found:
        yield (
            f"{len(found)} of {len(estimates)} estimates lie outside their own interval ({_first(found)}): the "
            "propensities come from so few training rows that fitting them is expected to move the estimate by more "
            "than chance does, and the interval has that taken off. Trust the interval, not the value, or give more "
            "training data."
        )


def lost_replicates(facts: Facts) -> Iterator[str]:
    """Bootstrap replicates without a number."""
    if lost := max(answer.lost_replicates for answer in facts.answers):
        yield (
            f"Up to {lost:,} bootstrap replicates of an estimate had an empty divisor, or a propensity that could not "
            "be fitted, and were dropped."
        )


def _first(estimates: list[Estimate]) -> str:
    e = estimates[0]
    return f"{e.model}, {e.metric} × {e.estimator} × {e.target}{', …' if len(estimates) > 1 else ''}"


def no_numbers(facts: Facts) -> Iterator[str]:
    """Estimates that are no numbers."""
    every = [e for answer in facts.answers for e in answer.estimates]
    refused = [e for e in every if e.trust.startswith(NO_VALUE)]
    if refused:
        yield f"{_first(refused)}: {refused[0].trust}"
    values = np.array([e.value for e in every if e not in refused])
    if np.isnan(values).any():
        yield "Some estimates do not exist because no user counts for them; they are shown as NaN."
    if np.isinf(values).any():
        yield "Some estimates are beyond what numbers can hold, and shown as infinite: values are too large."
