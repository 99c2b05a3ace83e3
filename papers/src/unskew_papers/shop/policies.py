"""The policies that wrote the log: each user is served by one of them, whose lists are renewed every night.

A policy is a model of ``unskew.models``, fitted on all rows before the day, whichever policy they come from. Users
without a row get the most popular items instead of the random lists that most models give those whom they do not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew import InputError
from unskew.log import Log, Recommendations
from unskew.models import Model, Updatable, make
from unskew_papers.arrays import Bools
from unskew_papers.shop.rows import rows_of


class Policy(NamedTuple):
    """A logging policy: what the log calls it, the model that makes its lists, and the share of users it serves."""

    name: str
    model: str
    share: float


POLICIES = (
    Policy("popular", "most_popular", 0.25),
    Policy("recent", "recently_popular(days=7)", 0.25),
    Policy("item_knn", "item_knn(neighbours=50)", 0.5),
)
FALLBACK = "most_popular"


def check_policies(policies: tuple[Policy, ...]) -> None:
    """Refuse shares that are none, and names that come twice."""
    shares = sum(policy.share for policy in policies)
    if not policies or abs(shares - 1.0) > 1e-9 or min(policy.share for policy in policies) < 0.0:
        raise InputError(
            f"the shares of the policies must be at least 0 and add up to 1, not to {shares:g}.", code="bad-value"
        )
    if len({policy.name for policy in policies}) < len(policies):
        raise InputError("two policies have the same name.", code="duplicate-name")


@dataclass(eq=False)
class Staff:
    """The fitted models of the policies, and of the fallback."""

    models: dict[str, Model]

    @classmethod
    def of(cls, policies: tuple[Policy, ...]) -> Staff:
        """Models that know nothing yet."""
        return cls({text: make(text) for text in (*(policy.model for policy in policies), FALLBACK)})

    def learn(self, all_rows: Log, new: Log | None) -> None:
        """Learn the new rows, or all of them where a model cannot be updated or knows nothing yet."""
        for model in self.models.values():
            if new is not None and isinstance(model, Updatable):
                model.update(new)
            else:
                model.fit(all_rows)

    def lists(self, model: str, known: Log, k: int) -> list[tuple[Bools, Recommendations]]:
        """Lists for the users of ``known``, which holds all their rows: for some of them each, together for all.

        Newcomers, who have no row, get the fallback's.
        """
        new = np.diff(known.indptr) == 0
        found = []
        for text, mask in ((FALLBACK, new), (model, ~new)):
            if mask.any():
                some = rows_of(known, np.flatnonzero(mask).astype(np.int32))
                found.append((mask, self.models[text].recommend(some.users, k, seen=some)))
        return found
