"""What logs may offer, the smallest inputs that offer just this, and the estimators that are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

import unskew as us
from unskew.estimators import Strata, Stratified

TARGETS = ("per_user", "pooled", "per_user_sum")
GIVEN = "stratified(given)"
ESTIMATORS = (
    "naive", "ips", "snips", "gs(strata=2)", "clipped(snips, quantile=0.1)", "clipped(snips, at=0.1)",
    "clipped(ips, at=0.1)", "stratified(strata=2)", GIVEN,
)  # fmt: skip
LISTS = {"m": pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})}
SHARES = {"1": 0.5, "2": 0.5}


@dataclass(frozen=True)
class Known:
    """What a log offers."""

    feedback: str = "implicit"
    threshold: bool = False
    level: str | None = "absolute"
    n_u: bool = True

    def __str__(self) -> str:
        threshold = " with threshold" if self.threshold else ""
        return f"{self.feedback}{threshold}, {self.level or 'no'} P, n_u {'known' if self.n_u else 'unknown'}"

    def inputs(self, *, binary: bool = False) -> dict[str, Any]:
        """The held-out rows as ``test``, and arguments of ``us.evaluate``."""
        test = pl.DataFrame({"user": [1, 1, 2, 2], "item": [10, 20, 30, 10]})
        train = pl.DataFrame({"user": [1, 2, 3, 3], "item": [30, 20, 10, 20]})
        bad = 0.0 if self.feedback == "conversions" or binary else 1.0  # conversions know of pairs that brought nothing
        if self.feedback != "implicit":
            test = test.with_columns(value=pl.Series([1.0, bad, 1.0, bad] if binary else [5.0, bad, 4.0, 2.0]))
            train = train.with_columns(value=pl.Series([1.0, bad, 1.0, 1.0] if binary else [5.0, 1.0, 4.0, 4.0]))
        given: dict[str, Any] = {"feedback": self.feedback}
        if self.threshold:
            given["relevant"] = ">=1" if binary else ">=4"
        if self.level == "absolute":
            test = test.with_columns(propensity=pl.Series([0.5, 0.2, 0.7, 0.9]))
            train = train.with_columns(propensity=pl.Series([0.5, 0.6, 0.2, 0.9]))
        if self.level is not None:
            given["propensity"] = "known(part=test)" if self.level == "absolute" else "popularity(gamma=2)"
        if self.n_u:
            given["users"] = pl.DataFrame({"user": [1, 2, 3], "relevant": [9.0, 9.0, 1.0]})
        return {"test": test, "train": train, **given}

    def evaluated(self, models: Any, *, binary: bool = False, **asked: Any) -> us.Result:
        """With what is refused listed."""
        inputs = self.inputs(binary=binary)
        asked["estimators"] = [made(estimator) for estimator in asked["estimators"]]
        return us.evaluate(inputs.pop("test"), models, refused="skip", **inputs, **asked)


LOGS = [
    Known(feedback, threshold, level, n_u)
    for (feedback, threshold), level, n_u in product(
        [("implicit", False), ("conversions", False), ("ratings", False), ("ratings", True)],
        [None, "relative", "absolute"],
        [False, True],
    )
]


def made(estimator: str) -> Any:
    return Stratified(Strata(count=2), SHARES) if estimator == GIVEN else us.estimators.make(estimator)
