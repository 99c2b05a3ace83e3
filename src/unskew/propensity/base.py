"""Propensities: how likely each interaction was to be seen.

Each states its level, ``absolute`` (a probability) or ``relative`` (right up to one constant), and what it refers to:
the whole ``log``, or its ``test`` part. Relative propensities are good for self-normalised estimators only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from unskew.log import Ids, Log

Floats = npt.NDArray[np.float64]


class Level(StrEnum):
    """Whether the level of a propensity means something."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


@dataclass(frozen=True, eq=False)
class Scored:
    """Propensities of the rows of a log; NaN marks rows that are to be dropped.

    Args:
        rows: P of every row.
        floored: rows whose propensity is a guess because the item has no training support.
    """

    rows: Floats
    floored: int = 0


class Propensity(ABC):
    """A model of P(seen)."""

    name: ClassVar[str]
    level: Level
    estimated: ClassVar[bool] = False

    def fit(self, train: Log) -> Self:
        """Learn from the positives of a training log; known and uniform propensities have nothing to learn."""
        return self

    @property
    def fitted(self) -> bool:
        """Whether there is nothing left to learn."""
        return True

    def share_of(self, log: Log) -> float | None:
        """The share of the whole log that this part is, if P speaks of the whole log; ``None`` if of the part."""
        return None

    @abstractmethod
    def of(self, log: Log) -> Scored:
        """P of every row of a log."""

    def of_items(self, items: Ids) -> Floats | None:
        """P per item where it is the same for every user, else ``None``."""
        return None

    def __str__(self) -> str:
        return self.name
