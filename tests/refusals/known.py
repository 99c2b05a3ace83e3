"""What logs may offer, the estimators that are asked for, and why one is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

from unskew import estimators, metrics
from unskew.estimators import Strata, Stratified, Target
from unskew.estimators.validity import Evidence, refusal
from unskew.log import Feedback

TARGETS = ("per_user", "pooled", "per_user_sum")
GIVEN = "stratified(given)"
ESTIMATORS = (
    "naive",
    "ips",
    "snips",
    "gs(strata=2)",
    "clipped(snips, quantile=0.1)",
    "clipped(snips, at=0.1)",
    "clipped(ips, at=0.1)",
    "stratified(strata=2)",
    GIVEN,
)


@dataclass(frozen=True)
class Known:
    """What a log offers."""

    feedback: str
    threshold: bool
    level: str | None
    n_u: bool

    def __str__(self) -> str:
        threshold = " with threshold" if self.threshold else ""
        return f"{self.feedback}{threshold}, {self.level or 'no'} P, n_u {'known' if self.n_u else 'unknown'}"

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            Feedback(self.feedback),
            thresholded=self.threshold,
            propensity=self.level is not None,
            absolute=self.level == "absolute",
            relevant=self.n_u,
        )


LOGS = [
    Known(feedback, threshold, level, n_u)
    for (feedback, threshold), level, n_u in product(
        [("implicit", False), ("conversions", False), ("ratings", False), ("ratings", True)],
        [None, "relative", "absolute"],
        [False, True],
    )
]


def made(estimator: str) -> Any:
    if estimator == GIVEN:
        return Stratified(Strata(count=2), "shares.csv")
    return estimators.make(estimator)


def reason_for(estimator: str, target: str, metric: str = "recall@5", **known: Any) -> str:
    log = replace(Known("implicit", False, "absolute", True), **known)
    found = refusal(metrics.make(metric), made(estimator), Target.make(target), log.evidence)
    assert found is not None
    return found


LISTS = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})}
