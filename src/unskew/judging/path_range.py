"""Which part of the exposure path answers leave (MATHS §14, §16): the shares a at which weights n^−a agree with them.

    θ(a) = mean of log n over the log's positives, weighed by h (n + (1+a)/2)^−a, less the same over the answers' (h/π)

θ falls in a (its slope is minus the weighted variance of log n), so that the a which a test does not reject make an
interval. It is widened to the points of the path; no point is left where even a = 0 weighs popular items too little, or
a = 1 too much. The path's assumption is then refuted, as it is where at every point left the shares of rare, middle and
popular items are off.

The path leaves out how much each user is shown, and users who are shown more may like other items. So they are compared
inside groups of like activity. Activity is known from a few training rows only, and such groups take off a part of what
sets users apart: a point is rejected only if it also is after as much again is taken off, 2 θ(in groups) − θ(together).

Weights and log n must not share the chance of the counts, or rare items would look too heavy: n in the weights counts
one half of the training rows (by a hash of the pair), n in log n the other, and only items with 5 rows or more there
enter. The chance of the first adds Σ_i (item's part of θ)² a²/(n + ½) to the error.

The level: the interval errs in a fifth of the error that verdicts may have (in each declared round), and verdicts over
it in the rest. A wrong verdict needs either the right a outside the interval, or an error at the right a itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.core.notice import Notice, made_of
from unskew.estimators.exposure_path import STEPS, ExposurePath
from unskew.inference import student
from unskew.inference.profiles import NOTHING, Gap, compare
from unskew.judging.log_and_answers import LogAndAnswers
from unskew.judging.propensity_check import ERROR, FEWEST, OFF
from unskew.kernels.arrays import Bools, Floats, Ints64

SPLIT = 0.2  # the share of the error that the interval of a may have
RARE = 5  # training rows of the other half: fewer say nothing of how popular an item is
POINTS = tuple(step / STEPS for step in range(STEPS + 1))


@dataclass(frozen=True)
class PathRange:
    """The shares of popularity that answers leave to exposure.

    Args:
        low, high: ends, on points of the path.
        error: how often the right share lies outside.
        positive: effective number of positive answers that tell it.
        refuted: what is wrong with the path, in words; empty where nothing is.
        unasked: why the whole path is left, in words; empty where answers say something.
        statistics: θ and its standard error at every point.
    """

    low: float
    high: float
    error: float
    positive: float = 0.0
    refuted: str = ""
    unasked: str = ""
    statistics: tuple[tuple[float, float, float], ...] = ()

    @property
    def narrows(self) -> bool:
        """Whether less than the whole path is left."""
        return not self.refuted and (self.low > 0.0 or self.high < 1.0)

    def keeps(self, at: float) -> bool:
        """Whether a point of the path is left."""
        return self.low - 1e-9 <= at <= self.high + 1e-9

    @property
    def sentence(self) -> str:
        """What a reader should know."""
        if self.unasked:
            return made_of(f"The answers leave the whole exposure path: {self.unasked}.", self.unasked)
        if self.refuted:
            told = f"The answers refute the exposure path: {self.refuted}. Its verdicts are withheld."
            return made_of(told, self.refuted)
        if not self.narrows:
            told = "The answers leave the whole exposure path: any share of popularity may come from exposure."
            return Notice(told, code="whole-exposure-range")
        return Notice(
            f"The answers leave {100 * self.low:.0f} to {100 * self.high:.0f} % of popularity to exposure (the right "
            f"share is outside in {self.error:.2%} of all cases at most): values and verdicts of exposure_path are put "
            "together over that range alone.",
            code="exposure-range",
            low=self.low,
            high=self.high,
        )

    def plain(self) -> dict[str, Any]:
        """As plain values for the result."""
        return {
            "low": None if self.refuted else self.low,
            "high": None if self.refuted else self.high,
            "error": self.error,
            "effective_positive_answers": self.positive,
            "refuted": bool(self.refuted),
            "said": self.sentence,
            "difference_in_log_popularity": {f"{a:g}": {"value": d, "error": e} for a, d, e in self.statistics},
        }


def path_range(both: LogAndAnswers, halves: tuple[Floats, Floats], strata: Ints64, error: float) -> PathRange:
    """The range of a that answers leave.

    Args:
        halves: training rows of each item in two halves that are independent of each other.
        strata: groups of users by activity.
        error: how often the right a may lie outside.
    """
    weighing, telling = halves
    mine = (both.value > 0.0) & (telling[both.item] >= RARE)
    theirs = (both.asked_value > 0.0) & (telling[both.asked_item] >= RARE)
    whole = PathRange(0.0, 1.0, error, both.positive(theirs))
    if whole.positive < FEWEST:
        few = f"an effective {whole.positive:.1f} positive ones lie on items that training shows often enough"
        return replace(whole, unasked=Notice(f"{few}, and it takes {FEWEST:.0f}", code="few-answers"))
    sides = _Sides(both, mine, theirs, strata, weighing)
    popularity = np.log(np.maximum(telling, 1.0))
    found = [sides.gaps(a, popularity) for a in POINTS]
    shown = tuple((a, inside.difference, inside.error) for a, (inside, _) in zip(POINTS, found, strict=True))
    if not all(math.isfinite(inside.error) for inside, _ in found):
        told = "no group of users has both answers and rows of the log"
        return replace(whole, unasked=Notice(told, code="no-common-users"))
    signs = [_sign(*pair, error) for pair in found]
    whole = replace(whole, statistics=shown)
    if signs[-1] > 0:
        told = "what was seen is more popular than what is relevant, even if all of popularity came from exposure"
        return replace(whole, refuted=Notice(told, code="too-popular"))
    if signs[0] < 0:
        told = "what was seen is less popular than what is relevant"
        return replace(whole, refuted=Notice(told, code="not-popular-enough"))
    low = max((a for a, sign in zip(POINTS, signs, strict=True) if sign > 0), default=0.0)
    high = min((a for a, sign in zip(POINTS, signs, strict=True) if sign < 0), default=1.0)
    left = [a for a in POINTS if low <= a <= high]
    if all(sides.misfits(a, telling) for a in left):
        told = (
            "no power of popularity gives rare, middle and popular items the shares of relevant pairs that the answers "
            "have"
        )
        return replace(whole, refuted=Notice(told, code="no-power-fits"))
    return replace(whole, low=low, high=high)


@dataclass(frozen=True, eq=False)
class _Sides:
    """The positives on items that are common enough."""

    both: LogAndAnswers
    mine: Bools
    theirs: Bools
    strata: Ints64
    counts: Floats

    def gaps(self, a: float, of_item: Floats) -> tuple[Gap, Gap]:
        """The comparison at one point of the path, of a number for every item: inside groups, and as far again."""
        both, item = self.both, self.both.item
        weight = ExposurePath(at=a).weights(self.counts)[item] * both.value
        sides = (
            both.of_log(weight, of_item[item], self.mine),
            both.of_answers(both.asked_value, of_item[both.asked_item], self.theirs),
        )
        inside, together = compare(*sides, self.strata), compare(*sides, np.zeros_like(self.strata))
        if inside is None or together is None:
            return NOTHING, NOTHING
        counted = item[self.mine], a**2 / (self.counts + 0.5)
        return inside.gap(counted), inside.beyond(together).gap(counted)

    def misfits(self, a: float, telling: Floats) -> bool:
        """Whether thirds of the items have other shares than the answers say, beyond chance."""
        edges = np.quantile(telling[self.both.item[self.mine]], (1 / 3, 2 / 3))
        third = np.searchsorted(edges, telling, side="left")
        found = [self.gaps(a, (third == g).astype(np.float64)) for g in range(3)]
        return any(
            all(each.p * 3 < ERROR and abs(each.difference) > OFF * abs(each.answers) for each in pair)
            for pair in found
        )


def _sign(inside: Gap, beyond: Gap, tail: float) -> int:
    """1 where the log is too popular, −1 where it is not popular enough, 0 where chance explains it, by either."""
    signs = set()
    for found in (inside, beyond):
        reach = student.critical(tail, found.df) * found.error
        signs.add(1 if found.difference > reach else -1 if found.difference < -reach else 0)
    return signs.pop() if len(signs) == 1 else 0
