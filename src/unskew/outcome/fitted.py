"""What models that are fitted share: what was found, over which users and items, and who of them had training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from unskew.core.errors import InputError
from unskew.kernels.arrays import Bools
from unskew.log import Ids
from unskew.outcome.base import RowModel


@dataclass(frozen=True, eq=False)
class State:
    """The users and items of the training log, and which of them have rows that count; and what a fit found."""

    users: Ids
    items: Ids
    of_users: Bools
    of_items: Bools


S = TypeVar("S", bound=State)


class Fitted(RowModel, Generic[S]):
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
            raise InputError(f"'{self}' has not been fitted. Call .fit(log) first.", code="not-fitted")
        return self.found

    def known(self, users: Ids, items: Ids) -> tuple[Bools, Bools]:
        """Those with training rows."""
        found = self.state
        return (
            np.append(found.of_users, False)[users.into(found.users)],  # code −1 reads the end
            np.append(found.of_items, False)[items.into(found.items)],
        )
