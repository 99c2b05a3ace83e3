"""Where a verdict turns: the scenarios in which one model is ahead, the other is, or the log cannot decide.

Over scenarios a verdict is an intersection–union test: each scenario is tested at the full level, and only what holds
in all of them is said of the pair. Where it holds in some, the edges of those are told along one axis; on the others it
must hold throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from unskew.inference.intervals import Interval


@dataclass(frozen=True)
class Difference:
    """The difference of two models in one scenario: its value, its interval, and whether that names a winner."""

    value: float
    low: float
    high: float
    decided: bool

    @property
    def sign(self) -> int:
        """1 where the first is ahead, −1 where the second is, 0 where nothing is decided."""
        return 0 if not self.decided else 1 if self.low > 0.0 else -1


@dataclass(frozen=True)
class Stretch:
    """A stretch of an axis on which the same model is ahead; ends are infinite where the axis ends.

    Args:
        sign: 1 for the first model, −1 for the second.
    """

    sign: int
    low: float
    high: float


def whole(signs: Sequence[int]) -> int:
    """What holds in all scenarios: 1, −1, or 0 where nothing does."""
    return signs[0] if signs and all(sign == signs[0] for sign in signs) else 0


def stretches(at: Sequence[float], found: Sequence[Sequence[Difference]]) -> list[Stretch]:
    """The stretches of an axis on which one model is ahead in all scenarios that share the value there.

    Args:
        at: the values of the axis, ascending.
        found: for each of them the differences in its scenarios.
    """
    signs = [whole([each.sign for each in several]) for several in found]
    out, place = [], 0
    for sign, group in groupby(signs):
        size = len(list(group))
        if sign:
            low = -math.inf if place == 0 else _edge(at, found, place - 1, place, sign)
            last = place + size - 1
            high = math.inf if last + 1 == len(at) else _edge(at, found, last + 1, last, sign)
            out.append(Stretch(sign, low, high))
        place += size
    return out


def _edge(at: Sequence[float], found: Sequence[Sequence[Difference]], outside: int, inside: int, sign: int) -> float:
    """Where a stretch ends, between a value of the axis where the model is ahead and the next one.

    Where the other model is ahead there, the difference crosses zero; else the nearer end of the interval does.
    """
    jumps = whole([each.sign for each in found[outside]]) == -sign
    there, here = _margin(found[outside], sign, jumps), _margin(found[inside], sign, jumps)
    if not -math.inf < there < 0.0 < here < math.inf:  # a check withheld the verdict: nothing to interpolate
        return at[inside]
    return at[inside] + here / (here - there) * (at[outside] - at[inside])


def _margin(several: Sequence[Difference], sign: int, jumps: bool) -> float:
    """How far the model is ahead, at least; by the values alone where the lead jumps to the other model."""
    if jumps:
        return sign * sum(each.value for each in several) / len(several)
    ends = [each.low if sign > 0 else -each.high for each in several]
    return math.nan if any(map(math.isnan, ends)) else min(ends)


def hull(intervals: Sequence[Interval]) -> tuple[float, float]:
    """The interval that holds in every scenario; missing where it is missing in one of them."""
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    if any(map(math.isnan, (*lows, *highs))):
        return math.nan, math.nan
    return min(lows), max(highs)
