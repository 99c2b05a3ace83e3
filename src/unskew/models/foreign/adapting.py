"""``adapt``: which way a foreign model is asked, and what has to be said for it.

| model | what is needed besides |
|---|---|
| implicit | users, items; rows for item-item models |
| Cornac | nothing: it keeps its ids |
| scikit-learn-style | users, items and rows, or items and pairs |
| a function users → scores | items, and users where it does not know everybody |
"""

from __future__ import annotations

from typing import Any

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.log.recommendations import Recommender
from unskew.models.base import Model
from unskew.models.foreign.from_cornac import adapt_cornac, is_cornac
from unskew.models.foreign.from_implicit import adapt_implicit, is_implicit
from unskew.models.foreign.from_sklearn import Pairs, adapt_sklearn, is_sklearn_like
from unskew.models.foreign.own_ids import OwnIds
from unskew.models.foreign.scored import Scored
from unskew.models.given_factors import GivenFactors


def adapt(
    model: Any, *, users: Any = None, items: Any = None, rows: Any = None, pairs: Pairs | None = None
) -> Recommender:
    """A recommender from a model that another library has fitted.

    Args:
        model: of implicit or Cornac, an object in the manner of scikit-learn, or a function that is given an array of
            user ids and gives an array of scores, a row for each of them and a column for each of ``items``.
        users: ids in the order of the model's rows. Where a function is asked, the users whom it knows, written as it
            wants them; others get no list.
        items: ids in the order of the model's columns.
        rows: the matrix that the model was fitted on (implicit), or is asked with (scikit-learn), a row for each user.
            Where it holds the training data, ``users`` and ``items`` are checked against the training log.
        pairs: makes the features of pairs from two arrays, users and items (scikit-learn).

    Lists are made here, from scores: items in ``train`` are left out, and ties are broken by a hash of user and item,
    as for all models. Users whom the model does not know get no list, which evaluations count and report.

    >>> import numpy as np, polars as pl, unskew as us
    >>> log = us.Log.from_frame(pl.DataFrame({"user": ["a", "b"], "item": ["x", "y"]}))
    >>> model = us.models.adapt(lambda users: np.array([[0.2, 0.9, 0.1]] * len(users)), items=["x", "y", "z"])
    >>> model.recommend(log.users, 2, seen=log).to_frame().rows()
    [('a', 'y', 1), ('a', 'z', 2), ('b', 'x', 1), ('b', 'z', 2)]
    """
    given = {"users": users, "items": items, "rows": rows, "pairs": pairs}
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class: make an object of it, and fit it first.", code="not-an-object")
    if isinstance(model, Model | GivenFactors | Scored):
        raise InputError(f"'{model}' is a recommender already: give it as it is.", code="already-a-recommender")
    if is_implicit(model):
        _only(given, "implicit's models", "users", "items", "rows")
        return adapt_implicit(model, users, items, rows)
    if is_cornac(model):
        _only(given, "Cornac's models, which keep their ids")
        return adapt_cornac(model)
    if is_sklearn_like(model):
        return adapt_sklearn(model, users, items, rows, pairs)
    if callable(model):
        _only(given, "a function users → scores", "users", "items")
        return _of_function(model, users, items)
    raise InputError(
        f"{shown(model)} cannot be adapted. What can be: fitted models of implicit and Cornac, objects with "
        "predict, or with transform and inverse_transform, and functions users → scores.\nAnything else can make its "
        "lists itself: give them as a dataframe with the columns user, item and rank.",
        code="not-supported",
    )


def _of_function(function: Any, users: Any, items: Any) -> Scored:
    """A function of arrays of ids."""
    things = OwnIds.of("items", items, None, "")
    name = f"'{getattr(function, '__name__', type(function).__name__)}'"
    if users is None:
        return Scored(name, function, things, None)
    people = OwnIds.of("users", users, None, "")
    return Scored(name, lambda rows: function(people.given[rows]), things, people)


def _only(given: dict[str, Any], of: str, *names: str) -> None:
    """Refuse what would not be looked at."""
    for name, value in given.items():
        if value is not None and name not in names:
            raise InputError(f"{name}=… is not used for {of}: leave it out.", code="unknown-argument", argument=name)
