"""What logistic factor models share: q = σ(v_u·w_i + a_u + b_i + c) of pairs, and 0/1 outcomes only.

A user or item without training rows has no factors and the average offset; its q is the other side's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.core.errors import InputError
from unskew.kernels import factors, pairs
from unskew.kernels.arrays import Bools, Floats
from unskew.log import Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.base import PairPredictor, Rows
from unskew.outcome.fitted import Fitted, State


@dataclass(frozen=True, eq=False)
class Found(State):
    """Factors with the offset in the last column, the level c, and held-out losses."""

    user: Floats
    item: Floats
    level: float
    losses: tuple[float, ...] = ()


class Factored(Fitted[Found]):
    """Factors and offsets of users and items behind a logistic curve."""

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """σ of the logits of pairs."""
        found = self.state
        row, column = users.into(found.users), items.into(found.items)

        def ask(user: Codes, item: Codes) -> Floats:
            z = np.empty(len(user))
            pairs.predict(row[user], column[item], found.user, found.item, found.level, z)
            return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -factors.LIMIT, factors.LIMIT))))

        return ask


def refuse_graded(train: Log, rows: Rows, name: str) -> None:
    """Refuse outcomes beyond 0 … 1, of which a logistic model cannot be the mean."""
    wrong = rows.y > 1.0  # gains are never below 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{train.account.source}: '{name}' is for outcomes from 0 to 1; row {row + 1:,} has {rows.y[row]:g}.\n"
            "Use means(shrink=10) or a regressor (sklearn(...)) for graded outcomes, or make them 0/1 with a threshold "
            "such as relevant='>=4'.",
            code="graded-outcomes",
            row=row,
        )


def with_rows(train: Log, rows: Rows) -> tuple[Bools, Bools]:
    """Users and items that have a row that counts."""
    counts = rows.times > 0.0
    user = np.bincount(train.user[counts], minlength=len(train.users)) > 0
    return user, np.bincount(train.item[counts], minlength=len(train.items)) > 0
