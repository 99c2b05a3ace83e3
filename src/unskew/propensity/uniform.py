"""Uniform propensities: everything was equally likely to be seen. Only ever used when asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.bounds import Number
from unskew.core.parts import option
from unskew.log import Ids, Log
from unskew.propensity.base import Floats, Level, Propensity, Scope, Scored


@dataclass(frozen=True)
class Uniform(Propensity):
    """One probability for every pair.

    Args:
        p: the probability; ``None`` leaves the level open (relative).
    """

    p: float | None = option(None, Number(above=0.0, high=1.0), "the probability of being seen")

    name = "uniform"
    by_parts = True
    assumption = "every pair was equally likely to be seen"

    @property
    def level(self) -> Level:
        """Absolute if the probability is told."""
        return Level.RELATIVE if self.p is None else Level.ABSOLUTE

    def refers(self, log: Log) -> Scope:
        """The test log: whoever tells a probability tells that of the rows at hand."""
        return Scope.TEST

    def of(self, log: Log) -> Scored:
        """The same for every row."""
        return Scored(np.full(len(log), self.p or 1.0))

    def of_items(self, items: Ids) -> Floats:
        """The same for every item."""
        return np.full(len(items), self.p or 1.0)
