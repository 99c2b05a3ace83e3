"""From what people have (paths, frames, arrays, fitted models) to logs, lists and predictions.

Logs, lists and predictions that were put together by hand are refused where their arrays do not fit together. Readers
of ours give nothing else than what fits. Arrays of a caller may point beyond the users and items that there are, and
compiled kernels would follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Protocol, TypedDict, get_args

import narwhals as nw
import numpy as np

from unskew.bounds import LARGEST, SMALLEST, shown, word
from unskew.errors import InputError
from unskew.kernels.arrays import Floats
from unskew.kernels.repeats import has_repeats
from unskew.log import Features, Feedback, Ids, Log, Predictions, Recommendations, read_features, read_log
from unskew.log.log import Duplicates, Invalid
from unskew.log.sources import open_file
from unskew.plain import plain
from unskew.propensity import FitInputs

RANKS = 2**31 - 1


class Reading(TypedDict):
    """How logs are read: what a row says, and what becomes of wrong and repeated rows."""

    feedback: Feedback | str | None
    invalid: Invalid
    duplicates: Duplicates | None


class Names:
    """Our column names → theirs, for every kind of input the names that it has.

    ``policy`` is asked of the test log only, ``time`` of the training log only if it is there, ``propensity`` of the
    training log only where shares of strata are measured there, ``relevant`` of the population, ``rank`` and ``score``
    of lists, ``rank`` and ``prediction`` of predictions; a table of guesses (``given(FILE)``) has no ranks.
    """

    KNOWN = ("user", "item", "value", "time", "policy", "propensity", "rank", "score", "prediction", "relevant")

    def __init__(self, columns: Mapping[str, str] | None) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise InputError(f"columns must map our names to yours, {{'user': 'customer_id'}}, not {shown(columns)}.")
        self._columns = dict(columns or {})
        for name, theirs in self._columns.items():
            if not isinstance(theirs, str):
                raise InputError(
                    f"columns: '{plain(name)}' must be mapped to the name of a column, not {shown(theirs)}."
                )
            if name not in self.KNOWN:
                raise InputError(
                    f"columns: '{plain(name)}' is none of our columns ({', '.join(self.KNOWN)}). Write our name first "
                    "and yours behind it: columns={'user': 'customer_id'}."
                )
        self.of_test = self._only("user", "item", "value", "time", "policy", "propensity")
        self.of_train = self._only("user", "item", "value")
        self.of_train_with_propensity = self._only("user", "item", "value", "propensity")
        self.of_answers = self._only("user", "item", "value", "propensity")
        self.of_lists = self._only("user", "item", "rank", "score")
        self.of_predictions = self._only("user", "item", "rank", "prediction")
        self.of_guesses = self._only("user", "item", "prediction")
        self.of_users = self._only("user", "relevant")
        self.of_items = self._only("item")

    def _only(self, *names: str) -> dict[str, str]:
        return {name: theirs for name, theirs in self._columns.items() if name in names}


def as_log(
    source: Any,
    *,
    name: str,
    columns: Mapping[str, str] | None = None,
    feedback: Feedback | str | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    keep: Iterable[str] = (),
) -> Log:
    """A log from a log, a path or a frame."""
    word(invalid, ("error", "drop"), "invalid")
    if duplicates is not None:
        word(duplicates, get_args(Duplicates), "duplicates")
    if feedback is not None:
        word(feedback, tuple(Feedback), "feedback")
    if isinstance(source, Log):
        log = check_log(source, name)
        return log if feedback is None else replace(log, feedback=Feedback.make(feedback))
    if isinstance(source, str | PathLike):
        return read_log(source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep)
    return Log.from_frame(
        source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep, source=name
    )


def has_column(source: Any, name: str) -> bool:
    """Whether a file or frame has this column; only its names are looked at."""
    if isinstance(source, Log):
        return False  # it is read already
    if isinstance(source, str | PathLike):
        return name in open_file(source).names
    try:
        return name in nw.from_native(source).collect_schema().names()
    except TypeError:
        return False  # no frame: reading it says so


def names_in(source: Any, columns: Mapping[str, str]) -> dict[str, str]:
    """The names that a file which may be of our own making has for columns: theirs, or ours where it only has these."""
    return {
        ours: theirs for ours, theirs in columns.items() if has_column(source, theirs) or not has_column(source, ours)
    }


def read_side(mcar: Any, user_features: Any, item_features: Any, names: Names, how: Reading) -> FitInputs:
    """What a propensity may be fitted on beside the training log."""

    def features(source: Any, key: str) -> Features | None:
        return None if source is None else read_features(source, key, invalid=how["invalid"])

    random = None if mcar is None else as_log(mcar, name="mcar", columns=names.of_train, **how)
    return FitInputs(random, features(user_features, "user"), features(item_features, "item"))


def as_lists(
    source: Any, name: str, users: Ids, k: int, train: Log | None, columns: Mapping[str, str], invalid: Invalid
) -> Recommendations:
    """Lists from lists, a frame, or a fitted model that makes them."""
    if isinstance(source, Recommendations):
        return check_lists(source, plain(name))
    if hasattr(source, "recommend"):
        made = source.recommend(users, k, seen=train)
        if not isinstance(made, Recommendations):
            raise InputError(
                f"model '{plain(name)}': recommend(users, k, seen=…) must give Recommendations, not {type(made)}."
            )
        return _for_all(check_lists(made, f"model '{plain(name)}'"), users)
    if hasattr(source, "predict"):
        raise InputError(
            f"model '{plain(name)}' predicts values (predict) and makes no lists (recommend), which ranks are read "
            "from.\nGive its predictions of all candidates as a frame or array (Predictions), or ask for mae, mse or "
            "rmse."
        )
    return Recommendations.from_frame(source, columns=columns, invalid=invalid, source=plain(name))


def _for_all(made: Recommendations, users: Ids) -> Recommendations:
    """A model's lists with an empty one for everybody whom it was asked about and served nothing."""
    if (users.into(made.users) >= 0).all():
        return made
    return made.recode(Ids.of(made.users.values, users.values), made.items)


class Predictor(Protocol):
    """A fitted model that predicts values of pairs by their ids."""

    def predict(self, users: Any, items: Any) -> Floats:
        """The predicted value of each pair (users[j], items[j])."""


def as_predictions(source: Any, name: str, columns: Mapping[str, str], invalid: Invalid) -> Predictions | Predictor:
    """Predictions from predictions, an array, a frame, or a fitted model that makes them."""
    if isinstance(source, Predictions):
        return check_predictions(source, plain(name))
    if hasattr(source, "predict"):
        predictor: Predictor = source
        return predictor
    if isinstance(source, np.ndarray):
        return Predictions.from_array(source, source=plain(name))
    return Predictions.from_frame(source, columns=columns, invalid=invalid, source=plain(name))


def check_log(log: Log, name: str) -> Log:
    """The log, if its arrays fit together and its numbers can be reckoned with."""
    _rows(log, name, least=0)
    keys = log.user.astype(np.int64) * len(log.items) + log.item
    if (keys[1:] <= keys[:-1]).any():
        raise _unfit(name, "inside a user, items must ascend, each once")
    for column, low, high in (("value", -LARGEST, LARGEST), ("propensity", SMALLEST, 1.0), ("gain", 0.0, LARGEST)):
        _numbers(getattr(log, column), len(log), f"{name}: '{column}'", low, high)
    for column, values in {"time": log.time, "policy": log.policy, **log.columns}.items():
        if values is not None and len(values) != len(log):
            raise _unfit(name, f"'{plain(column)}' has {len(values):,} rows, and there are {len(log):,}")
    return log


def check_lists(lists: Recommendations, name: str) -> Recommendations:
    """The lists, if their arrays fit together, ranks ascend from 1, and no list holds an item twice."""
    _rows(lists, name, least=-1)
    rank = _whole(lists.rank, f"{name}: 'rank'")
    if len(rank) != len(lists.item):
        raise _unfit(name, f"there are {len(rank):,} ranks for {len(lists.item):,} listed items")
    if len(rank) and not (rank.min() >= 1 and rank.max() <= RANKS):
        raise _unfit(name, f"ranks must lie between 1 and {RANKS:,}")
    falls = np.flatnonzero(rank[1:] <= rank[:-1]) + 1  # each must begin another list
    if not (lists.indptr[np.searchsorted(lists.indptr, falls)] == falls).all():
        raise _unfit(name, "inside a list, ranks must ascend, each once")
    codes = lists.indptr.astype(np.int64, copy=False), lists.item.astype(np.int32, copy=False)
    if has_repeats(*codes, np.full(len(lists.items), -1)):
        raise _unfit(name, "a list holds the same item twice")
    return lists


def check_predictions(found: Predictions, name: str) -> Predictions:
    """The predictions, if their arrays fit together and are numbers."""
    _rows(found, name, least=0)
    _numbers(found.value, len(found), f"{name}: 'prediction'", -LARGEST, LARGEST)
    if found.rank is not None and (len(found.rank) != len(found) or _whole(found.rank, name).min(initial=0) < 0):
        raise _unfit(name, "there must be a rank of at least 0 for every prediction")
    return found


def _rows(table: Log | Recommendations | Predictions, name: str, least: int) -> None:
    """Users own slices of the rows, and items are codes of the vocabulary."""
    for what, ids in (("users", table.users), ("items", table.items)):
        if not isinstance(ids, Ids):
            raise _unfit(name, f"{what} must be Ids, not {type(ids).__name__}")
    indptr, item = _whole(table.indptr, f"{name}: 'indptr'"), _whole(table.item, f"{name}: 'item'")
    if len(indptr) != len(table.users) + 1 or indptr[0] != 0 or indptr[-1] != len(item) or (np.diff(indptr) < 0).any():
        raise _unfit(name, "'indptr' must rise from 0 to the number of rows, one step for each user")
    if len(item) and not (least <= item.min() and item.max() < len(table.items)):
        raise _unfit(name, f"'item' must hold codes from {least} to {len(table.items) - 1:,}")


def _whole(array: Any, what: str) -> Any:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{what} must be an array of whole numbers, not {plain(type(array).__name__)}.")
    return array


def _numbers(array: Any, rows: int, what: str, low: float, high: float) -> None:
    """As many numbers as rows, all of them in the range."""
    if array is None:
        return
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.shape != (rows,):
        raise InputError(f"{what} must be an array of {rows:,} floating-point numbers, one for each row.")
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(f"{what} must lie between {low:g} and {high:g}; row {first + 1:,} has {array[first]:g}.")


def _unfit(name: str, problem: str) -> InputError:
    return InputError(
        f"{name}: its arrays do not fit together: {problem}.\n"
        "Give a file or a dataframe, which is checked and coded here."
    )
