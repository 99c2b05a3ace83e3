"""All ratios that are read together when groups (protocols, or logging policies) judge the same models.

With V_gm the value of model m by group g, on the log scale (inference/log_contrasts.py):

    value    log V_gm − log V_hm                                          how far two groups' values differ
    order    log V_ga − log V_gb                                          which of two models is ahead by one group
    ratio    (log V_ga − log V_gb) − (log V_ha − log V_hb)                whether two groups see two models differently
    favour   [log V_gm − mean_{j≠m} log V_gj] − mean_{h≠g} [the same]     the models that a group treats better than
                                                                          the other groups do

One simultaneous level holds for all of them. Two more things follow from the orders at the same level, without tests of
their own:

    ratio to the best   V_gm / max_j V_gj = min_j V_gm / V_gj  lies between min_j low and min_j high of the ratios to
                        all models (j = m: 1): who is best need not be known (multiple comparisons with the best, Hsu)
    Kendall's τ         between two groups: a pair of models that both decide agrees or not, every other pair may be
                        either, τ ∈ [(agree − reversed − open)/pairs, (agree − reversed + open)/pairs]

The bootstrap of τ would draw new orders around the estimated ones, too low and too narrow where models are close.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from unskew.inference.log_contrasts import LogRatio, MoreSpread, UserErrors, log_ratios
from unskew.kernels.arrays import Floats


class Kind(StrEnum):
    """What a ratio compares."""

    VALUE = "value"
    ORDER = "order"
    RATIO = "ratio"
    FAVOUR = "favour"


class About(NamedTuple):
    """Which ratio; places of groups and models, −1 where there is none."""

    kind: Kind
    group: int
    other: int
    model: int
    against: int


@dataclass(frozen=True, eq=False)
class Family:
    """The ratios of some groups and models.

    Args:
        groups, models: how many.
        found: values and errors, a column per group and model, groups first.
        level: of all intervals together.
        lower_is_better: of errors: the best value is the lowest one.
        more: errors that users do not tell.
    """

    groups: int
    models: int
    found: UserErrors
    level: float
    lower_is_better: bool = False
    more: tuple[MoreSpread, ...] = ()

    @cached_property
    def ratios(self) -> dict[About, LogRatio]:
        """All of them."""
        asked = self.asked()
        return dict(zip(asked, log_ratios(self.found, list(asked.values()), self.level, self.more), strict=True))

    def values(self, group: int) -> list[float]:
        """The models' values by one group."""
        return [float(v) for v in self.found.values[group * self.models : (group + 1) * self.models]]

    def of_kind(self, kind: Kind) -> dict[About, LogRatio]:
        """Those of one kind."""
        return {about: ratio for about, ratio in self.ratios.items() if about.kind is kind}

    def asked(self) -> dict[About, Floats]:
        """The weights of every ratio."""
        found: dict[About, Floats] = {}
        groups, models = list(combinations(range(self.groups), 2)), list(combinations(range(self.models), 2))
        for g, h in groups:
            for m in range(self.models):
                found[About(Kind.VALUE, g, h, m, -1)] = self._weight({(g, m): 1.0, (h, m): -1.0})
        for a, b in models:
            for g in range(self.groups):
                found[About(Kind.ORDER, g, -1, a, b)] = self._weight({(g, a): 1.0, (g, b): -1.0})
            for g, h in groups:
                signs = {(g, a): 1.0, (g, b): -1.0, (h, a): -1.0, (h, b): 1.0}
                found[About(Kind.RATIO, g, h, a, b)] = self._weight(signs)
        usable = self.found.usable.reshape(self.groups, self.models).all(axis=0)
        kept = np.flatnonzero(usable).tolist()
        if self.groups > 1 and len(kept) > 1:
            for g in range(self.groups):
                for m in kept:
                    found[About(Kind.FAVOUR, g, -1, m, -1)] = self._favour(g, m, kept)
        return found

    def _weight(self, signs: Mapping[tuple[int, int], float]) -> Floats:
        out = np.zeros((self.groups, self.models))
        for place, sign in signs.items():
            out[place] += sign
        return out.ravel()

    def _favour(self, group: int, model: int, kept: Sequence[int]) -> Floats:
        to_others = np.zeros(self.models)
        to_others[kept] = -1.0 / (len(kept) - 1)
        to_others[model] = 1.0
        out = np.outer(np.full(self.groups, -1.0 / (self.groups - 1)), to_others)
        out[group] = to_others
        return out.ravel()

    def order(self, group: int, a: int, b: int) -> LogRatio:
        """log V_a − log V_b by one group."""
        low, high = min(a, b), max(a, b)
        found = self.ratios[About(Kind.ORDER, group, -1, low, high)]
        return found if a < b else _turned(found)

    def to_best(self, group: int, model: int) -> tuple[float, float, float]:
        """The ratio of a model's value to the best one by one group, and its ends; of errors it is at least 1.

        Models that too few users carry are no candidates for the best unless their value says so; then there are no
        ends, and neither has such a model any.
        """
        values = self.found.values.reshape(self.groups, self.models)[group]
        usable = self.found.usable.reshape(self.groups, self.models)[group]
        sign = -1.0 if self.lower_is_better else 1.0
        known = np.where(np.isfinite(values), sign * values, -math.inf)
        best = int(np.argmax(known))
        ratio = float(values[model] / values[best]) if values[best] > 0.0 else math.nan
        if not (usable[model] and usable[best]):
            return ratio, math.nan, math.nan
        ends = [(0.0, 0.0)]
        for j in np.flatnonzero(usable).tolist():
            if j != model:
                found = self.order(group, model, j)
                ends.append((found.low, found.high) if sign > 0.0 else (-found.high, -found.low))
        low, high = (min(-math.inf if math.isnan(end) else end for end in side) for side in zip(*ends, strict=True))
        first, last = math.exp(sign * low), math.exp(sign * high)
        return ratio, min(first, last), max(first, last)


def _turned(found: LogRatio) -> LogRatio:
    return LogRatio(-found.value, found.se, found.df, -found.high, -found.low, found.p, found.p_adjusted)


class Agreement(NamedTuple):
    """Kendall's τ between the orders of two groups, and how far it can be told."""

    tau: float
    low: float
    high: float
    pairs: int
    agree: int
    reversed: int

    @property
    def open(self) -> int:
        """Pairs that at least one of the two does not decide."""
        return self.pairs - self.agree - self.reversed


def kendall(
    values: Sequence[float], others: Sequence[float], decided: Callable[[int, int], int], too: Callable[[int, int], int]
) -> Agreement:
    """Two groups' values of the same models; ``decided`` and ``too`` say who is ahead of a pair, 0 if that is open.

    τ is τ_a of the values: a pair that is tied by either counts for nothing.
    """
    score = agree = turned = 0
    pairs = list(combinations(range(len(values)), 2))
    for a, b in pairs:
        score += _sign(values[a] - values[b]) * _sign(others[a] - others[b])
        both = decided(a, b) * too(a, b)
        agree += both > 0
        turned += both < 0
    count = len(pairs)
    if not count:
        return Agreement(math.nan, math.nan, math.nan, 0, 0, 0)
    left = count - agree - turned
    ends = (agree - turned - left) / count, (agree - turned + left) / count
    return Agreement(score / count, *ends, count, agree, turned)


def _sign(value: float) -> int:
    return int(value > 0.0) - int(value < 0.0)
