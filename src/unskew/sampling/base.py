"""A sampler: how much each row of a log weighs when some of its rows are drawn.

    w_ui = user_weight(u) · item_weight(i)

from how often each user and each item occurs in a training log, and in a log of pairs drawn at random.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.core.errors import InputError
from unskew.core.parts import Part
from unskew.kernels.arrays import Floats

LEAST, MOST = 1e-100, 1e100  # of a weight: products of two, and one over them, stay numbers


@dataclass(frozen=True)
class Counts:
    """How often the users (or the items) of the sampled log occur elsewhere.

    Args:
        train: rows of each in the training log.
        train_rows: all rows of the training log.
        random: rows of each in the log of pairs drawn at random; ``None`` without one.
        random_rows: all rows of that log.
        number: how many different ones there are in the sampled log and the training log together.
    """

    train: Floats
    train_rows: int
    random: Floats | None
    random_rows: int
    number: int


class Sampler(Part, ABC):
    """A way of drawing rows of a log without replacement.

    Traits: ``needs_train`` and ``needs_random``, whether it counts rows of a training log, and of a log of pairs drawn
    at random; ``keeps_all``, whether nothing is drawn; ``equal``, whether all rows are equally likely to be drawn;
    ``zero``, the posterior that a user or item without a row is given, 0 where that plays no part.
    """

    needs_train: ClassVar[bool] = True
    needs_random: ClassVar[bool] = False
    keeps_all: ClassVar[bool] = False
    zero: float = 0.0

    @property
    def equal(self) -> bool:
        """Whether all rows are equally likely to be drawn, so that each one's chance is known."""
        return False

    def user_weight(self, counts: Counts) -> Floats:
        """The weight of each user, above 0; only ratios matter."""
        return np.ones(len(counts.train))

    def item_weight(self, counts: Counts) -> Floats:
        """The weight of each item, above 0; only ratios matter."""
        return np.ones(len(counts.train))


def checked(weights: Floats, sampler: Sampler, whose: str, number: int) -> Floats:
    """The weights of all users or items, if keys can be made of them."""
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (number,) or not (np.isfinite(found) & (found > 0.0)).all():
        raise InputError(
            f"'{sampler}' must give a finite weight above 0 for each of the {number:,} {whose}s.\n"
            f"Fix {whose}_weight of {type(sampler).__name__}.",
            code="wrong-shape",
            part=f"{whose}_weight",
        )
    if (found < LEAST).any() or (found > MOST).any():
        raise InputError(
            f"'{sampler}' gives {whose}s weights from {found.min():g} to {found.max():g}, too far apart to draw by "
            f"(at least {LEAST:g}, at most {MOST:g}).",
            code="out-of-range",
            part=f"{whose}_weight",
        )
    return found
