"""Objects in the manner of scikit-learn, by what they can do:

    rows=X, transform and inverse_transform   scores are the matrix as the model rebuilds it (TruncatedSVD, NMF, PCA)
    rows=X, predict                           predict(X) has a column for each item (multi-output regressors, EASE, …)
    pairs=f                                   predict(f(users, items)), one number per pair; of classifiers of two
                                              classes the probability of the second

``X`` has a row for each user. ``f`` is given two arrays of ids, a pair at each place, and makes the rows of features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.models.foreign.own_ids import OwnIds, rows_check
from unskew.models.foreign.scored import Scored

PAIRS = 1 << 18  # whose features are held at once
Pairs = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Any]


def is_sklearn_like(model: Any) -> bool:
    """Whether it predicts, or rebuilds matrices."""
    return _rebuilds(model) or hasattr(model, "predict")


def adapt_sklearn(model: Any, users: Any, items: Any, rows: Any, pairs: Pairs | None) -> Scored:
    """A recommender from a fitted object: exactly one of ``rows`` and ``pairs`` says what it is asked with."""
    name = type(model).__name__
    _refuse_unfitted(model, name)
    if (rows is None) == (pairs is None):
        raise InputError(
            f"{name} predicts from rows of numbers. Say which: rows=X has a row for each user, or pairs=f makes "
            "features of pairs, f(users, items).",
            code="missing-argument",
            argument="rows",
        )
    if rows is not None:
        return _by_rows(model, name, users, items, rows)
    assert pairs is not None
    return _by_pairs(model, name, users, items, pairs)


def _refuse_unfitted(model: Any, name: str) -> None:
    """Models of scikit-learn say whether they are fitted; of others nobody knows before they are asked."""
    if not type(model).__module__.startswith("sklearn."):
        return
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(f"{name} has not been fitted: call fit(…) first.", code="not-fitted") from None


def _by_rows(model: Any, name: str, users: Any, items: Any, rows: Any) -> Scored:
    if hasattr(model, "classes_"):
        raise InputError(
            f"{name} is a classifier: it does not say which of its columns belongs to which item. Adapt a function "
            "users → scores that calls it, with items=… in the order of its columns (model.classes_).",
            code="not-supported",
        )
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows if hasattr(rows, "iloc") else np.asarray(rows)
    people = OwnIds.of("users", users, rows.shape[0], "the matrix has rows")
    things = OwnIds.of("items", items, None, "")
    if _rebuilds(model):
        check = rows_check(rows, people, things)
        return Scored(name, lambda some: _rebuilt(model, _taken(rows, some)), things, people, check)
    asked = rows if rows.shape == (len(people.ids), len(things.ids)) else None  # else features of users, no log
    check = rows_check(asked, people, things)
    return Scored(name, lambda some: model.predict(_taken(rows, some)), things, people, check)


def _by_pairs(model: Any, name: str, users: Any, items: Any, pairs: Pairs) -> Scored:
    things = OwnIds.of("items", items, None, "")
    people = None if users is None else OwnIds.of("users", users, None, "")
    value = _value(model, name)

    def score(some: npt.NDArray[Any]) -> Any:
        asked = some if people is None else people.given[some]
        many = len(things.given)
        features = pairs(np.repeat(asked, many), np.tile(things.given, len(asked)))
        found = np.asarray(value(features))
        if found.shape != (len(asked) * many,):
            raise InputError(
                f"{name} gives {plain(found.shape)} numbers for {len(asked) * many:,} pairs: one for each is needed.",
                code="wrong-shape",
            )
        return found.reshape(len(asked), many)

    return Scored(name, score, things, people, cells=PAIRS)


def _value(model: Any, name: str) -> Callable[[Any], Any]:
    """What a pair is worth: its prediction, or the probability of the second of two classes."""
    if not hasattr(model, "classes_"):
        found: Callable[[Any], Any] = model.predict
        return found
    if len(model.classes_) != 2 or not hasattr(model, "predict_proba"):
        raise InputError(
            f"{name} is a classifier of {len(model.classes_):,} classes"
            f"{'' if hasattr(model, 'predict_proba') else ' without predict_proba'}: pairs are ranked by the "
            "probability of the second of two. Adapt a function users → scores instead.",
            code="not-supported",
        )
    return lambda features: model.predict_proba(features)[:, 1]


def _taken(rows: Any, some: npt.NDArray[Any]) -> Any:
    """Some rows of an array, a sparse matrix or a dataframe of pandas, whose names of columns the model may want."""
    return rows.iloc[some] if hasattr(rows, "iloc") else rows[some]


def _rebuilt(model: Any, rows: Any) -> Any:
    return model.inverse_transform(model.transform(rows))


def _rebuilds(model: Any) -> bool:
    return hasattr(model, "transform") and hasattr(model, "inverse_transform")
