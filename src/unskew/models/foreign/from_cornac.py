"""Models of Cornac (2 and later, https://github.com/PreferredAI/cornac).

A fitted model keeps the ids with which its data set was built (``uid_map``, ``iid_map``), so that no mapping has to be
told. Candidates are the items that it was fitted on: Cornac's own ``recommend`` puts others of the data set, which the
model does not know, behind all of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unskew.core.errors import InputError
from unskew.log.log import Floats
from unskew.models.foreign.bases import comes_from
from unskew.models.foreign.own_ids import OwnIds
from unskew.models.foreign.scored import Scored

SEQUENCES = ("NextBasketRecommender", "NextItemRecommender")


def is_cornac(model: Any) -> bool:
    """Whether Cornac made it."""
    return comes_from(model, "cornac", "Recommender")


def adapt_cornac(model: Any) -> Scored:
    """A recommender from a fitted model of Cornac."""
    name = type(model).__name__
    if any(comes_from(model, "cornac", kind) for kind in SEQUENCES):
        raise InputError(
            f"{name} of Cornac recommends what comes next in a sequence, which is not a list per user. Make its lists, "
            "and give them as a dataframe with the columns user, item and rank.",
            code="not-supported",
        )
    if not model.is_fitted or model.uid_map is None or model.iid_map is None:
        raise InputError(f"{name} has not been fitted: call fit(train_set) first.", code="not-fitted")
    users = OwnIds.of("users", _known(model.uid_map, model.num_users, name), model.num_users, f"{name} has rows")
    items = OwnIds.of("items", _known(model.iid_map, model.num_items, name), model.num_items, f"{name} has rows")

    def score(rows: Any) -> Floats:
        return np.stack([_of_user(model, name, int(row)) for row in rows])

    return Scored(f"{name} of Cornac", score, items, users)


def _known(numbers: Any, many: int, name: str) -> list[Any]:
    """The ids that the model was fitted on, in the order of their numbers."""
    found = {number: one for one, number in numbers.items() if number < many}
    if sorted(found) != list(range(many)):
        raise InputError(f"{name}: its table of ids does not number them 0 … {many - 1:,}, each once.", code="bad-ids")
    return [found[number] for number in range(many)]


def _of_user(model: Any, name: str, row: int) -> Floats:
    """The scores of the items that the model was fitted on; −∞ where it has none for this user."""
    try:
        scores = np.asarray(model.score(row))  # EASE gives a matrix of one row
        scores = scores[0] if scores.ndim == 2 and len(scores) == 1 else scores
    except NotImplementedError:
        raise InputError(
            f"{name} of Cornac makes no scores. Make its lists, and give them as a dataframe.", code="not-supported"
        ) from None
    except Exception as problem:
        if not comes_from(problem, "cornac", "ScoreException"):
            raise
        return np.full(model.num_items, -np.inf)
    if scores.shape not in ((model.num_items,), (model.total_items,)):
        raise InputError(
            f"{name} of Cornac gives scores of the shape {scores.shape} for {model.num_items:,} items.",
            code="wrong-shape",
        )
    return scores[: model.num_items]
