"""What a value can be at all: beyond it, something else than what is assumed made the numbers.

    pooled, per_user, normalised    0 to the largest worth of a rank
    per_user_sum, gains of pairs    0 to y · Σ worth of the ranks, y the largest outcome that was seen
    metrics that are no sums        0 to 1
    errors of predictions           0 to the largest that a pair can cost
    from answers                    Σ_L yλ to Σ_L yλ + y · Σ λ of what a list holds outside the log

An unbiased estimate may lie beyond by chance: its interval is cut there, and it says so. Where the whole interval lies
beyond, chance does not explain it: there is no value, and no verdict. A model that learnt from the answers by which it
was judged came to 7.5 relevant items in lists of 5.
"""

from __future__ import annotations

from typing import NamedTuple

from unskew.core.notice import Notice
from unskew.estimators import Target
from unskew.metrics import Metric, RankingMetric, Shape

SHARES = (Target.PER_USER, Target.POOLED, Target.SUM_POOLED, Target.SUM_PER_USER)
ROUNDING = 1e-9


class Possible(NamedTuple):
    """The least and the most that a value, or a difference, can be."""

    low: float
    high: float

    @classmethod
    def of(cls, metric: Metric, target: Target, depth: int, outcome: float) -> Possible:
        """Of a value.

        Args:
            depth: ranks 1 … depth may be worth something.
            outcome: the largest that there is.
        """
        if not isinstance(metric, RankingMetric):
            return cls(0.0, metric.largest)
        if metric.shape is not Shape.ADDITIVE:
            return cls(0.0, 1.0)
        worth = metric.table(depth)
        if target in SHARES:
            return cls(float(worth.min(initial=0.0)), float(worth.max(initial=0.0)))
        return cls(outcome * float(worth[worth < 0.0].sum()), outcome * float(worth[worth > 0.0].sum()))

    @property
    def difference(self) -> Possible:
        """Of two such values."""
        return Possible(self.low - self.high, self.high - self.low)

    def within(self, other: Possible) -> Possible:
        """Inside other limits as well."""
        return Possible(max(self.low, other.low), min(self.high, other.high))

    def cut(self, low: float, high: float) -> tuple[float, float]:
        """As much of an interval as can be."""
        return min(max(low, self.low), self.high), max(min(high, self.high), self.low)

    def note(self, value: float) -> str:
        """That a value lies where none can be, in words; empty where it does not."""
        if not self.beyond("", value, value):
            return ""
        limit = f"more than it can be, {self.high:.3g}" if value > self.high else f"less than it can be, {self.low:.3g}"
        return Notice(f"the value is {limit}: its interval is cut there, the value is not.", code="out-of-range")

    def beyond(self, what: str, low: float, high: float, why: str = "") -> str:
        """Why an interval cannot be, in words; empty where some of it can.

        Args:
            what: as in "recall@5 of new".
            why: what may have made such numbers.
        """
        if low > self.high + ROUNDING * abs(self.high):
            limit = f"more than {self.high:.3g}"
        elif high < self.low - ROUNDING * abs(self.low):
            limit = f"less than {self.low:.3g}"
        else:
            return ""
        hint = f", such as {why}" if why else ""
        return Notice(
            f"{what} would be {low:.3g} to {high:.3g}, and cannot be {limit} here: something else than what is assumed "
            f"made these numbers{hint}",
            code="impossible-value",
        )
