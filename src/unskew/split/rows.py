"""Which rows of a log belong to a part: a rule that makes the mask when it is asked for.

Thirty folds of a log of a hundred million rows would be thirty masks of 100 MB for each part; a rule is a few numbers
and one array that all folds share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.kernels.arrays import Bools, Ints64


class Rows(ABC):
    """A choice of rows of one log."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def mask(self) -> Bools:
        """True for the rows of the part, one entry for each row of the log."""

    def chosen(self) -> Bools | Ints64:
        """The rows in the form that is at hand: a mask, or ascending places."""
        return self.mask()


@dataclass(frozen=True, eq=False)
class Masked(Rows):
    """The rows where a mask is true."""

    marked: Bools

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(np.count_nonzero(self.marked))

    def mask(self) -> Bools:
        """The mask itself."""
        return self.marked


@dataclass(frozen=True, eq=False)
class Coded(Rows):
    """The rows with a certain code, ``number`` of them: one fold of a partition."""

    codes: npt.NDArray[Any]
    code: int
    number: int

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.number

    def mask(self) -> Bools:
        """Where the code is this one."""
        return np.asarray(self.codes == self.code)


@dataclass(frozen=True, eq=False)
class Listed(Rows):
    """Some rows by their places, ascending."""

    places: Ints64
    size: int

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def mask(self) -> Bools:
        """True at these places."""
        out = np.zeros(self.size, dtype=np.bool_)
        out[self.places] = True
        return out

    def chosen(self) -> Ints64:
        """The places."""
        return self.places


@dataclass(frozen=True, eq=False)
class Between(Rows):
    """The rows with ``low ≤ time < high``, ``number`` of them; without ``low`` all before ``high``."""

    time: Ints64
    low: int | None
    high: int
    number: int

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.number

    def mask(self) -> Bools:
        """Where the time is inside."""
        inside = self.time < self.high
        if self.low is not None:
            inside &= self.time >= self.low
        return np.asarray(inside)
