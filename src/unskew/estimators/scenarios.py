"""What the log cannot tell, as scenarios: an estimator that holds in none of them for sure is computed in all.

An answer is right within its interval if any scenario is right; a verdict needs every one of them (intersection–union:
each is tested at the full level, and no correction over scenarios is needed, since only the right one can err).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unskew.estimators.base import Estimator
    from unskew.estimators.target import Target


@dataclass(frozen=True)
class Axis:
    """One thing that the log cannot tell.

    Args:
        name: as in ``exposure``.
        label: of an axis of a chart.
        clause: words that go on after "if", with ``{}`` for an amount such as "less than 40 %".
        percent: whether values are shares.
        start: the least value.
    """

    name: str
    label: str
    clause: str
    percent: bool = False
    start: float = 0.0

    def shown(self, value: float) -> str:
        """A value as it is read."""
        if not self.percent:
            return f"{value:.3g}"
        percent = min(max(round(100.0 * value), 1), 99) if 0.0 < value < 1.0 else 100.0 * value
        return f"{percent:.0f} %"


@dataclass(frozen=True)
class Scenario:
    """One answer to what the log cannot tell: a value on every axis, and the estimator that is right there.

    Args:
        target: what the estimator is computed under, where that is another name for the same quantity.
    """

    at: tuple[float, ...]
    estimator: Estimator
    target: Target


@dataclass(frozen=True)
class Scenarios:
    """All scenarios of an estimator.

    Args:
        assumption: what holds in all of them, in words that go on after "if".
        not_covered: a sentence on what none of them covers.
    """

    axes: tuple[Axis, ...]
    points: tuple[Scenario, ...]
    assumption: str
    not_covered: str
