"""Models for which a pair counts as 1 or, with values=ratings, as its rating.

Ratings of 0 count like unseen pairs. The others must lie where single precision can hold products of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unskew.core.errors import InputError
from unskew.core.parts import Words, option
from unskew.log.expected import a_log
from unskew.log.log import Log
from unskew.models.base import Model, values_of

LEAST, MOST = 1e-6, 1e6


def ones_or_ratings() -> Any:
    """The option ``values``."""
    return option("ones", Words(("ones", "ratings")), "what a pair counts as: 1, or its rating", changed=True)


class Rated(Model):
    """A model with the option ``values``."""

    values: str

    @property
    def learns_values(self) -> bool:
        """Whether ratings count."""
        return self.values == "ratings"

    def learnt(self, log: Log) -> Log:
        """Positives without values, or all rows with a rating above 0."""
        if not self.learns_values:
            return replace(a_log(log).positives(), value=None)
        values = values_of(self, log)
        if not ((values == 0.0) | ((values >= LEAST) & (values <= MOST))).all():
            raise InputError(
                f"{log.account.source}: '{self}' learns from ratings that are 0 or from {LEAST:g} to {MOST:,.0f}; "
                f"these run from {values.min():g} to {values.max():g}.",
                code="bad-value",
                column="value",
            )
        return log.take(values > 0.0)
