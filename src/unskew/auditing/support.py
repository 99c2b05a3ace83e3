"""Which estimators and targets a log supports: the same rules that decide an evaluation's refusals.

Asked of recall@10, which stands for all additive metrics. With a column ``propensity`` these are taken as known
(absolute); without one, popularity counted on a training part is what is left (relative). The exposure path counts how
often items were seen in such a part, whatever the column says. The number of relevant items of each user is not part of
a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unskew import estimators, metrics
from unskew.estimators import Target
from unskew.estimators.validity import Evidence, refusal
from unskew.log import Feedback

METRIC = "recall@10"
ESTIMATORS = ("naive", "snips", "gs(strata=5)", "ips", "stratified(strata=5)", "exposure_path")
TARGETS = (Target.PER_USER, Target.POOLED, Target.PER_USER_SUM)


@dataclass(frozen=True)
class Support:
    """Whether an estimate can be had: ``refused`` is ``None`` if so, else the reason and what to use instead.

    ``reading`` says what a row is taken to mean.
    """

    reading: str
    propensity: str
    estimator: str
    target: str
    refused: str | None

    @property
    def supported(self) -> bool:
        """Whether an evaluation would compute it."""
        return self.refused is None


def supports(
    feedback: Feedback | None, relevant: str | None, *, known: bool, negative: bool, zeros: bool
) -> tuple[Support, ...]:
    """Every estimator under every target, for each way in which a log may be read.

    Args:
        known: it has propensities.
        negative: some values are below 0.
        zeros: some rows would bring nothing if they were conversions.
    """
    name = "known" if known else "popularity(gamma=1)"
    metric = metrics.make(METRIC)
    found = []
    for reading, told, thresholded in _readings(feedback, relevant, negative):
        told_zeros = told is not Feedback.CONVERSIONS or zeros
        evidence = Evidence(
            told, thresholded=thresholded, propensity=True, absolute=known, zeros=told_zeros, counts=True
        )
        for text in ESTIMATORS:
            for target in TARGETS:
                reason = refusal(metric, estimators.make(text), target, evidence)
                found.append(Support(reading, name, text, target, reason))
    return tuple(found)


def _readings(feedback: Feedback | None, relevant: str | None, negative: bool) -> Sequence[tuple[str, Feedback, bool]]:
    """What a row may mean: as told; else as conversions (values of at least 0) and as ratings behind a threshold."""
    thresholded = relevant is not None
    if feedback is not None:
        return [(f"{feedback}, relevant {relevant}" if thresholded else str(feedback), feedback, thresholded)]
    ratings = ("ratings with a threshold", Feedback.RATINGS, True)
    return [ratings] if negative else [("conversions", Feedback.CONVERSIONS, False), ratings]
