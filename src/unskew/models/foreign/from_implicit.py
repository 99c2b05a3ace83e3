"""Models of implicit (0.5 and later, https://github.com/benfred/implicit).

    als, bpr, lmf        score(u, i) = v_u·w_i                 offsets, where there are some, are columns of the factors
    item-item neighbours score(u, i) = Σ_j x_uj similarity_ji   over the user's row x of the matrix; items that no
                                                               neighbour leads to are not listed, as in implicit

Factors are ranked here by the products in double precision; implicit computes them in single precision, so that items
whose scores agree to seven digits may change places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unskew.core.errors import InputError
from unskew.log import Ids
from unskew.log.log import Floats, Log
from unskew.log.recommendations import Recommendations, Recommender
from unskew.models.foreign.bases import comes_from
from unskew.models.foreign.own_ids import OwnIds, rows_check
from unskew.models.foreign.scored import Scored
from unskew.models.given_factors import GivenFactors


def is_implicit(model: Any) -> bool:
    """Whether implicit made it."""
    return comes_from(model, "implicit", "RecommenderBase")


def adapt_implicit(model: Any, users: Any, items: Any, rows: Any) -> Recommender:
    """A recommender from a fitted model of implicit.

    Args:
        users, items: ids in the order of the rows and columns of the matrix that ``fit`` was given.
        rows: this matrix; needed by item-item models, and for others a check of ``users`` and ``items``.
    """
    name = type(model).__name__
    if hasattr(model, "user_factors"):
        return _factors(model, name, users, items, rows)
    if hasattr(model, "similarity"):
        return _neighbours(model, name, users, items, rows)
    inner = f" Adapt the model inside it: adapt({name.lower()}.model, …)." if hasattr(model, "model") else ""
    raise InputError(f"{name} of implicit has neither factors nor similarities of items.{inner}", code="not-supported")


class CheckedFactors(GivenFactors):
    """Factors whose ids are held against the matrix that the model was fitted on."""

    def __init__(self, users: OwnIds, items: OwnIds, left: Floats, right: Floats, rows: Any) -> None:
        super().__init__(users.ids, items.ids, left[users.row], right[items.row])
        self._rows_given, self._check = rows is not None, rows_check(rows, users, items)

    def ids_checked(self, seen: Log | None) -> bool:
        """Whether lists that leave out this log come with a check of the ids."""
        return self._rows_given and seen is not None

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest score; users without factors get no list."""
        self._check(seen)
        return super().recommend(users, k, seen=seen)


def _factors(model: Any, name: str, users: Any, items: Any, rows: Any) -> CheckedFactors:
    """Factors, from a GPU too."""
    if model.user_factors is None or model.item_factors is None:
        raise _unfitted(name)
    left, right = (_on_host(factors) for factors in (model.user_factors, model.item_factors))
    people = OwnIds.of("users", users, len(left), f"{name} has factors")
    things = OwnIds.of("items", items, len(right), f"{name} has factors")
    return CheckedFactors(people, things, left, right, rows)


def _neighbours(model: Any, name: str, users: Any, items: Any, rows: Any) -> Scored:
    """Similarities of items, and the rows of the users."""
    from scipy.sparse import csr_matrix

    if model.similarity is None:
        raise _unfitted(name)
    if rows is None:
        raise InputError(
            f"rows=… is missing: {name} scores items by the user's row of the matrix that it was fitted on. Give "
            "this matrix.",
            code="missing-argument",
            argument="rows",
        )
    things = OwnIds.of("items", items, model.similarity.shape[0], f"{name} has similarities")
    people = OwnIds.of("users", users, rows.shape[0], "the matrix has rows")
    matrix, similarity = csr_matrix(rows), csr_matrix(model.similarity)

    def score(some: Any) -> Floats:
        found = (matrix[some] @ similarity).tocoo()
        scores = np.full(found.shape, -np.inf)
        scores[found.row, found.col] = found.data
        return scores

    return Scored(name, score, things, people, rows_check(rows, people, things))


def _on_host(factors: Any) -> Floats:
    """Factors as an array; those of a GPU know how to come."""
    return np.asarray(factors.to_numpy() if hasattr(factors, "to_numpy") else factors)


def _unfitted(name: str) -> InputError:
    return InputError(f"{name} has not been fitted: call fit(matrix) first.", code="not-fitted")
