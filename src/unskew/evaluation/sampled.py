"""Evaluating on rows that were drawn with unequal chances (``us.sample``, ``leave_one_out``): they describe themselves.

Propensities and training counts speak of the log that was sampled. The sampling has changed how likely each row is to
be here, by factors that are not known exactly (inclusion grows with the weight, but not in proportion to it), so that
weighing its rows by propensities would correct the same skew a second time. Only the naive estimate is left. Of
leave-one-out, a row's chance is one over the number of its user's rows, which no share of the whole can say; a user has
one row then, for which per-user estimates of all kinds are the naive one.
"""

from __future__ import annotations

from dataclasses import replace

from unskew import estimators
from unskew.core.errors import RefusedError
from unskew.estimators import Standing
from unskew.evaluation.request import Request
from unskew.log import Log
from unskew.log.log import WEIGHT

UNKNOWN = "a strategy with unequal chances"


def marked(log: Log) -> Log:
    """A log that was read with weights which differ: it was drawn with unequal chances, by whatever strategy."""
    weights = log.columns.get(WEIGHT)
    if log.sampled_by or weights is None or weights.n_unique() < 2:
        return log
    return replace(log, sampled_by=UNKNOWN)


def for_samples(request: Request, test: Log, train: Log | None) -> Request:
    """The request with the naive estimator only, where a log is such a sample; others are refused if asked for."""
    drawn = next((log for log in (test, train) if log is not None and log.sampled_by), None)
    if drawn is None:
        return request
    debiased = [e for e in request.estimators if any(e.standing(t) is not Standing.NAIVE for t in e.valid)]
    if request.propensity is not None or request.outcome is not None or (request.chosen and debiased):
        which = "test" if drawn is test else "training"
        asked = f"'{debiased[0]}'" if request.chosen and debiased else f"'{request.propensity or request.outcome}'"
        raise RefusedError(
            f"the {which} log is a sample ({drawn.sampled_by}), and {asked} speaks of the log that was sampled: rows "
            "were drawn with unequal chances, and would be weighed wrongly by factors that differ between them.\n"
            "Evaluate the sample with estimators=['naive'] alone, or the whole log with propensities.",
            code="sampled-already",
        )
    return replace(request, estimators=(estimators.make("naive"),), chosen=True)
