"""What would an unseen pair have yielded? Models of y for direct and doubly robust estimates.

make("logistic_mf(dim=10)").fit(log, propensity=p).of(pairs)        # in sample, as saito20
crossfit(make("means(shrink=10)"), log, folds=5).of(pairs)          # q of a pair from a model that has not seen it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unskew.errors import InputError
from unskew.log.log import Invalid
from unskew.outcome.base import Outcome
from unskew.outcome.crossfitting import Crossfit, crossfit
from unskew.outcome.given import Given
from unskew.outcome.means import Means
from unskew.spec import Spec, build, take

if TYPE_CHECKING:
    from unskew.outcome.adam import AdamMF
    from unskew.outcome.learned import Learned
    from unskew.outcome.logistic_mf import LogisticMF

# What needs scipy or scikit-learn is loaded when it is first used.
_LATER = {"AdamMF": "adam", "Learned": "learned", "LogisticMF": "logistic_mf"}

__all__ = ["AdamMF", "Crossfit", "Given", "Learned", "LogisticMF", "Means", "Outcome", "crossfit", "make"]


def _adam_mf(spec: Spec) -> Outcome:
    from unskew.outcome.adam import AdamMF

    return AdamMF(**take(spec, dim=int, rate=float, l2=float, steps=int, batch=int, seed=int))


def _crossfit(spec: Spec) -> Outcome:
    given = take(spec, ("inner",), inner=object, folds=int, seed=int)
    if "inner" not in given:
        raise InputError("'crossfit' wraps another model: crossfit(logistic_mf(dim=10), folds=5).")
    return Crossfit(make(str(given.pop("inner"))), **given)


def _given(spec: Spec, columns: Mapping[str, str] | None, invalid: Invalid) -> Outcome:
    given = take(spec, ("source",), source=str, default=float)
    if "source" not in given:
        raise InputError("'given' needs a file of predictions: given(predictions.parquet).")
    return Given(**given, columns=columns, invalid=invalid)


def _logistic_mf(spec: Spec) -> Outcome:
    from unskew.outcome.logistic_mf import LogisticMF

    return LogisticMF(**take(spec, dim=int, penalty=float, ridge=float, epochs=int, held_out=float, seed=int))


def _sklearn(spec: Spec) -> Outcome:
    from unskew.outcome.learned import learned

    return learned(spec)


_OUTCOMES: dict[str, Callable[[Spec], Outcome]] = {
    "adam_mf": _adam_mf,
    "crossfit": _crossfit,
    "logistic_mf": _logistic_mf,
    "means": lambda spec: Means(**take(spec, shrink=float)),
    "sklearn": _sklearn,
}


def make(text: str | Outcome, *, columns: Mapping[str, str] | None = None, invalid: Invalid = "error") -> Outcome:
    """The outcome model with this canonical string, such as ``means(shrink=10)``.

    Args:
        text: the string, or a model, which is given back as it is.
        columns, invalid: how the table of ``given(FILE)`` is read (see ``Given``).
    """
    if isinstance(text, Outcome):
        return text
    return build("outcome", text, _OUTCOMES | {"given": partial(_given, columns=columns, invalid=invalid)})


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'unskew.outcome' has no attribute '{name}'")
    value = getattr(import_module(f"unskew.outcome.{_LATER[name]}"), name)
    globals()[name] = value
    return value
