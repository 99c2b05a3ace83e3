"""Uniform propensities: everything was equally likely to be seen. Only ever used when asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.bounds import Number, check
from unskew.log import Ids, Log
from unskew.propensity.base import Floats, Level, Part, Propensity, Scored
from unskew.spec import show


@dataclass(frozen=True)
class Uniform(Propensity):
    """One probability for every pair.

    Args:
        p: the probability; ``None`` leaves the level open (relative).
    """

    p: float | None = None

    name = "uniform"

    def __post_init__(self) -> None:
        check(self, self.name, p=Number(above=0.0, high=1.0))

    @property
    def level(self) -> Level:
        """Absolute if the probability is told."""
        return Level.RELATIVE if self.p is None else Level.ABSOLUTE

    @property
    def assumption(self) -> str:
        """Even exposure."""
        return "every pair was equally likely to be seen"

    def refers(self, log: Log) -> Part:
        """The test log: whoever tells a probability tells that of the rows at hand."""
        return Part.TEST

    def of(self, log: Log) -> Scored:
        """The same for every row."""
        return Scored(np.full(len(log), self.p or 1.0))

    def of_items(self, items: Ids) -> Floats:
        """The same for every item."""
        return np.full(len(items), self.p or 1.0)

    def __str__(self) -> str:
        return self.name if self.p is None else f"{self.name}(p={show(self.p)})"
