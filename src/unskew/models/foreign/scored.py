"""A recommender from a function that scores all items for some users.

Foreign code is asked in blocks of users, one after the other and from one thread, since nobody knows whether it may run
in several. Scores are ranked as everywhere here: exactly, ties broken by the hash of user and item. A score of −∞ keeps
an item out of the list, as is customary where items are masked, and so does a masked array; anything else that is no
number is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log import Ids
from unskew.log.expected import some_ids
from unskew.log.log import Floats, Log
from unskew.log.order import starts_of
from unskew.log.recommendations import Recommendations
from unskew.models.base import CELLS, from_scores
from unskew.models.foreign.own_ids import OwnIds

Score = Callable[[npt.NDArray[Any]], Any]


class Scored:
    """A recommender by scores that come from elsewhere.

    Args:
        name: of the model, in messages.
        score: asked with the rows of some users in the model, or, where the model numbers no users, with their ids;
            gives an array with a row for each of them and a column for each item, in the order of ``items``.
        users: those whom the model knows; None asks it about everybody.
        check: called with the log whose items are left out, before lists are made.
        cells: scores that are held at once.
    """

    def __init__(
        self,
        name: str,
        score: Score,
        items: OwnIds,
        users: OwnIds | None,
        check: Callable[[Log | None], None] = lambda seen: None,
        cells: int = CELLS,
    ) -> None:
        self.name = name
        self.items, self.users = items, users
        self._score, self._check = score, check
        self._block = max(1, cells // len(items.ids))

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest score; users whom the model does not know get no list."""
        self._check(seen)
        asked, who = self._known(some_ids(users))
        block = self._block
        parts = [
            self._lists(_some(asked, start, block), who[start : start + block], k, seen)
            for start in range(0, max(1, len(asked)), block)
        ]
        indptr = starts_of(np.concatenate([np.diff(part.indptr) for part in parts]))
        item, rank = (np.concatenate([getattr(part, name) for part in parts]) for name in ("item", "rank"))
        tied = sum(part.tied or 0 for part in parts)
        return Recommendations(asked, self.items.ids, indptr, item, rank, tied=tied).recode(users, self.items.ids)

    def _known(self, users: Ids) -> tuple[Ids, npt.NDArray[Any]]:
        """The users whom the model can be asked about, and what it is asked with."""
        if self.users is None:
            return users, users.values.to_numpy()
        rows = self.users.rows_of(users)
        known = rows >= 0
        if len(users) and not known.any():
            raise InputError(
                f"none of the {len(users):,} users that lists are asked for is known to {self.name}. They look like "
                f"'{plain(users.values[0])}', its own like '{plain(self.users.ids.values[0])}': are these the same "
                "ids, written the same way?",
                code="unknown-users",
            )
        return users if known.all() else Ids(users.values.filter(pl.Series(known))), rows[known]

    def _lists(self, users: Ids, who: npt.NDArray[Any], k: int, seen: Log | None) -> Recommendations:
        """The lists of one block."""
        scores = self._scores(who)
        made = from_scores(lambda rows: scores[rows], self.items.ids, users, k, seen)
        user = np.repeat(np.arange(len(users)), np.diff(made.indptr))
        listed = scores[user, made.item] > -np.inf  # the last of a list, so that no rank moves
        return made if listed.all() else made.only(listed, close=False)

    def _scores(self, who: npt.NDArray[Any]) -> Floats:
        """The scores of some users, checked, a column for each item in ascending order of ids."""
        if not len(who):
            return np.empty((0, len(self.items.ids)))
        found = self._score(who)
        try:
            raw = _unmasked(found)
        except (TypeError, ValueError, RuntimeError) as problem:  # ragged rows; tensors on a device or with gradients
            raise InputError(
                f"the scores of {self.name} are not an array of numbers ({plain(problem)}).", code="not-a-number"
            ) from None
        if raw.dtype.kind not in "fiu":
            sparse = " Make it dense: .toarray()." if hasattr(found, "toarray") else ""
            raise InputError(
                f"the scores of {self.name} are not an array of numbers, but {plain(type(found).__name__)} of "
                f"{raw.dtype}.{sparse}",
                code="not-a-number",
            )
        wanted = (len(who), len(self.items.ids))
        if raw.shape != wanted:
            raise InputError(
                f"the scores of {self.name} have the shape {raw.shape}; asked for {wanted[0]:,} users, there must be "
                f"{wanted}: a row for each of them, and a column for each of the {wanted[1]:,} items.",
                code="wrong-shape",
            )
        scores = raw[:, self.items.row].astype(np.float64)
        wrong = np.isnan(scores) | (scores == np.inf)
        if wrong.any():
            user, item = (int(place[0]) for place in np.nonzero(wrong))
            raise InputError(
                f"the scores of {self.name} must be numbers, or −∞ for an item that is not to be listed; "
                f"{np.count_nonzero(wrong):,} are not, the first is {scores[user, item]} for item "
                f"'{plain(self.items.ids.values[item])}'.",
                code="not-a-number",
            )
        return scores

    def __str__(self) -> str:
        known = "" if self.users is None else f"users={len(self.users.ids)}, "
        return f"adapted({self.name}, {known}items={len(self.items.ids)})"

    def __repr__(self) -> str:
        return str(self)


def _unmasked(found: Any) -> npt.NDArray[Any]:
    """Scores as an array; what is masked is not to be listed."""
    if isinstance(found, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(found), -np.inf, np.asarray(found.data, dtype=np.float64))
    return np.asarray(found)


def _some(users: Ids, start: int, block: int) -> Ids:
    """A block of users."""
    return users.subset(np.arange(start, min(start + block, len(users))))
