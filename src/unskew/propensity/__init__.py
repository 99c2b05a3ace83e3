"""How likely was each interaction to be seen? Known propensities, estimated ones, or uniform (only when asked for)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unskew.errors import InputError
from unskew.propensity.base import NOTHING, Level, Part, Propensity, Scored, Side
from unskew.propensity.known import Known
from unskew.propensity.popularity import Popularity
from unskew.propensity.share import part_propensity
from unskew.propensity.uniform import Uniform
from unskew.spec import Spec, build, take

if TYPE_CHECKING:
    from unskew.propensity.calibrated import Calibrated
    from unskew.propensity.checking import check
    from unskew.propensity.checks import Check, Checks
    from unskew.propensity.counted import Counted, from_files
    from unskew.propensity.counting import ValueCounts, count_items, count_values
    from unskew.propensity.logistic import Logistic
    from unskew.propensity.logistic_mf import LogisticMF
    from unskew.propensity.naive_bayes import NaiveBayes

# What needs scipy is loaded when it is first used: an evaluation without it should not wait for it.
_LATER = {
    "Calibrated": "calibrated",
    "Check": "checks",
    "Checks": "checks",
    "Counted": "counted",
    "Logistic": "logistic",
    "LogisticMF": "logistic_mf",
    "NaiveBayes": "naive_bayes",
    "ValueCounts": "counting",
    "check": "checking",
    "count_items": "counting",
    "count_values": "counting",
    "from_files": "counted",
}

__all__ = [
    "NOTHING",
    "Calibrated",
    "Check",
    "Checks",
    "Counted",
    "Known",
    "Level",
    "Logistic",
    "LogisticMF",
    "NaiveBayes",
    "Part",
    "Popularity",
    "Propensity",
    "Scored",
    "Side",
    "Uniform",
    "ValueCounts",
    "check",
    "count_items",
    "count_values",
    "from_files",
    "make",
    "part_propensity",
]


def _calibrated(spec: Spec) -> Propensity:
    given = take(spec, ("inner",), inner=object, method=str, folds=int, over=str)
    if "inner" not in given:
        raise InputError("'calibrated' wraps another propensity: calibrated(logistic(features=outer), method=platt).")
    from unskew.propensity.calibrated import Calibrated

    return Calibrated(make(str(given.pop("inner"))), **given)


def _counted(spec: Spec) -> Propensity:
    given = take(spec, ("inner",), inner=object, train=str, mcar=str, above=float, user=str, item=str, value=str)
    if "inner" not in given or "train" not in given:
        raise InputError(
            "'counted' wraps another propensity and names the files of its training log: "
            "counted(naive_bayes, train=train, mcar=mcar.parquet)."
        )
    from unskew.propensity.counted import from_files

    columns: dict[str, str] = {name: given.pop(name) for name in ("user", "item", "value") if name in given}
    try:
        return from_files(make(str(given.pop("inner"))), given.pop("train"), columns=columns, **given)
    except InputError as problem:
        if "--columns" not in str(problem):
            raise
        raise InputError(f"{problem}\nFor counted(…) say it inside: counted(…, value=stars).") from problem


def _logistic(spec: Spec) -> Propensity:
    from unskew.propensity.logistic import Logistic

    return Logistic(**take(spec, features=str, offsets=str, c=object, free=str, negatives=object, seed=int))


def _naive_bayes(spec: Spec) -> Propensity:
    from unskew.propensity.naive_bayes import NaiveBayes

    return NaiveBayes(**take(spec, smoothing=float))


def _logistic_mf(spec: Spec) -> Propensity:
    from unskew.propensity.logistic_mf import LogisticMF

    return LogisticMF(
        **take(spec, dim=int, penalty=float, epochs=int, negatives=object, held_out=float, seed=int, ridge=object),
    )


_PROPENSITIES: Mapping[str, Callable[[Spec], Propensity]] = {
    "calibrated": _calibrated,
    "counted": _counted,
    "known": lambda spec: Known(**take(spec, share=float, part=str)),
    "logistic": _logistic,
    "logistic_mf": _logistic_mf,
    "naive_bayes": _naive_bayes,
    "popularity": lambda spec: Popularity(**take(spec, gamma=object, unsupported=str, level=str)),
    "uniform": lambda spec: Uniform(**take(spec, p=float)),
}


def make(text: str | Propensity) -> Propensity:
    """The propensity with this canonical string, such as ``popularity(gamma=1)``."""
    return text if isinstance(text, Propensity) else build("propensity", text, _PROPENSITIES)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'unskew.propensity' has no attribute '{name}'")
    value = getattr(import_module(f"unskew.propensity.{_LATER[name]}"), name)
    globals()[name] = value
    return value
