"""What models that are fitted share: what was found, over which users and items, and who of them had training rows."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import numpy as np

from unskew.arrays import Bools
from unskew.errors import InputError
from unskew.log import Ids
from unskew.outcome.base import Outcome


class State(Protocol):
    """What a fit leaves behind, besides what it found."""

    @property
    def users(self) -> Ids:
        """The users of the training log."""

    @property
    def items(self) -> Ids:
        """Its items."""

    @property
    def of_users(self) -> Bools:
        """Which users have training rows that count."""

    @property
    def of_items(self) -> Bools:
        """Which items have."""


S = TypeVar("S", bound=State)


class Fitted(Outcome, Generic[S]):
    """A model whose ``found`` is empty until it is fitted."""

    found: S | None

    @property
    def fitted(self) -> bool:
        """Whether anything was found."""
        return self.found is not None

    @property
    def state(self) -> S:
        """What was found; not fitted is an error."""
        if self.found is None:
            raise InputError(f"'{self}' has not been fitted. Call .fit(log) first.")
        return self.found

    def known(self, users: Ids, items: Ids) -> tuple[Bools, Bools]:
        """Those with training rows."""
        found = self.state
        return (
            np.append(found.of_users, False)[users.into(found.users)],  # code −1 reads the end
            np.append(found.of_items, False)[items.into(found.items)],
        )
