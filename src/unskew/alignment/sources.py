"""From what people have (paths, frames, arrays, fitted models) to logs, lists and predictions.

Logs, lists and predictions that were put together by hand are refused where their arrays do not fit together. Readers
of ours give nothing else than what fits. Arrays of a caller may point beyond the users and items that there are, and
compiled kernels would follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import Parameter, isfunction, signature
from typing import Any, ClassVar, Protocol, TypedDict, get_args

import narwhals as nw
import numpy as np
import polars as pl

from unskew.core.bounds import LARGEST, SMALLEST, word
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.core.threads import use_polars
from unskew.kernels.arrays import Floats
from unskew.kernels.repeats import has_repeats
from unskew.log import Features, Feedback, Ids, Log, Predictions, Recommendations, read_features, read_log
from unskew.log.column_maps import MODELS, ColumnMap, InputColumns, choose
from unskew.log.log import Duplicates, Invalid
from unskew.log.paths import is_path
from unskew.log.position import none as no_position
from unskew.log.predictions import refuse_shared_ranks
from unskew.log.sources import columns_of
from unskew.propensity import FitInputs

RANKS = 2**31 - 1


class Reading(TypedDict):
    """How logs are read: what a row says, and what becomes of wrong and repeated rows."""

    feedback: Feedback | str | None
    invalid: Invalid
    duplicates: Duplicates | None


class Names:
    """Our column names → theirs, for every kind of input the names that it has.

    ``policy`` and ``position`` are asked of the test log only (of others no position is read), ``time`` of the training
    log only if it is there, ``propensity`` of the training log only where shares of strata are measured there,
    ``relevant`` of the population, ``rank`` and ``score`` of lists, ``rank`` and ``prediction`` of predictions; a table
    of guesses (``given(FILE)``) has no ranks. Of covariates only what is said of them alone counts.

    Args:
        columns: as in ``column_maps.py``.
        inputs: which inputs there are, by role or by the name of a model.
    """

    KNOWN = (
        "user", "item", "value", "time", "policy", "position", "propensity", "rank", "score", "prediction", "relevant",
    )  # fmt: skip
    ASKED: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "test": ("user", "item", "value", "time", "policy", "position", "propensity"),
        "train": ("user", "item", "value", "time", "propensity"),
        "mcar": ("user", "item", "value"),
        "answers": ("user", "item", "value", "propensity"),
        "users": ("user", "relevant"),
        "not_users": ("user",),
        "items": ("item",),
        "not_items": ("item",),
        "user_features": ("user",),
        "item_features": ("item",),
        MODELS: ("user", "item", "rank", "score", "prediction"),
    }

    def __init__(self, columns: Mapping[str, Any] | None, inputs: Iterable[str] | None = None) -> None:
        self._map = said = ColumnMap(columns, self.KNOWN, inputs, self.ASKED)
        self.given = said.given
        self.of_test = said.of("test", *self.ASKED["test"])
        self.of_train = no_position(said.of("train", "user", "item", "value").joined(said.alone("train", "time")))
        self.of_train_with_propensity = self.of_train.joined(said.of("train", "propensity"))
        self.time_of_train = said.of("train", "time").get("time")
        self.of_mcar = no_position(said.of("mcar", "user", "item", "value"))
        self.of_answers = said.of("answers", "user", "item", "value", "propensity")
        self.of_guesses = said.of(MODELS, "user", "item", "prediction")
        self.of_users = said.of("users", "user", "relevant")
        self.of_items = said.of("items", "item")
        self.of_user_features = said.alone("user_features", "user")
        self.of_item_features = said.alone("item_features", "item")

    def of(self, role: str, *names: str) -> InputColumns:
        """Of another input."""
        return self._map.of(role, *names)

    def of_lists(self, model: str) -> InputColumns:
        """Of the lists of a model."""
        return self._map.of(model, "user", "item", "rank", "score", among=MODELS)

    def of_predictions(self, model: str) -> InputColumns:
        """Of the predictions of a model."""
        return self._map.of(model, "user", "item", "rank", "prediction", among=MODELS)


def given_inputs(**inputs: Any) -> list[str]:
    """The names of the inputs that are given; ``models`` are named one by one, and all together."""
    found = [name for name, source in inputs.items() if source is not None and name != "models"]
    return found + ([*map(str, inputs["models"]), MODELS] if isinstance(inputs.get("models"), Mapping) else [])


def as_log(
    source: Any,
    *,
    name: str,
    columns: Mapping[str, Any] | None = None,
    feedback: Feedback | str | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    keep: Iterable[str] = (),
) -> Log:
    """A log from a log, a path or a frame."""
    use_polars()
    word(invalid, ("error", "drop"), "invalid")
    if duplicates is not None:
        word(duplicates, get_args(Duplicates), "duplicates")
    if feedback is not None:
        word(feedback, tuple(Feedback), "feedback")
    if isinstance(source, Log):
        log = check_log(source, name)
        return log if feedback is None else replace(log, feedback=Feedback.make(feedback))
    if is_path(source):
        return read_log(source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep)
    return Log.from_frame(
        source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep, source=name
    )


def has_column(source: Any, name: str, columns: Mapping[str, Any] | None = None) -> bool:
    """Whether a file or frame has this column, or one of these (``ts|time``); only its names are looked at."""
    if isinstance(source, Log):
        return False  # it is read already
    if is_path(source):
        return choose(name, columns_of(source, columns)) is not None
    try:
        return choose(name, map(str, nw.from_native(source).collect_schema().names())) is not None
    except TypeError:
        return False  # no frame: reading it says so


def names_in(source: Any, columns: InputColumns) -> InputColumns:
    """The names that a file which may be of our own making has for columns: theirs, or ours where it only has these."""
    there = (
        ours
        for ours, theirs in columns.items()
        if has_column(source, theirs, columns) or not has_column(source, ours, columns)
    )
    return columns.only(*there)


def train_columns(source: Any, names: Names, *, propensity: bool) -> InputColumns:
    """The names in a training log: what is said of times counts if it has such a column."""
    found = names.of_train_with_propensity if propensity else names.of_train
    time = names.time_of_train
    if time is None or "time" in found or not (time == "" or has_column(source, time, found)):
        return found
    return found.joined({"time": time})


def read_side(mcar: Any, user_features: Any, item_features: Any, names: Names, how: Reading) -> FitInputs:
    """What a propensity may be fitted on beside the training log."""

    def features(source: Any, key: str, columns: InputColumns) -> Features | None:
        return None if source is None else read_features(source, key, columns=columns, invalid=how["invalid"])

    random = None if mcar is None else as_log(mcar, name="mcar", columns=names.of_mcar, **how)
    return FitInputs(
        random,
        features(user_features, "user", names.of_user_features),
        features(item_features, "item", names.of_item_features),
    )


def as_lists(
    source: Any, name: str, users: Ids, k: int, train: Log | None, columns: Mapping[str, str], invalid: Invalid
) -> Recommendations:
    """Lists from lists, a frame, or a fitted model that makes them."""
    if isinstance(source, Recommendations):
        return check_lists(source, plain(name))
    _refuse_foreign(source, name)
    if hasattr(source, "recommend"):
        made = source.recommend(users, k, seen=train)
        if not isinstance(made, Recommendations):
            raise InputError(
                f"model '{plain(name)}': recommend(users, k, seen=…) must give Recommendations, not {type(made)}.",
                code="wrong-type",
            )
        return _for_all(check_lists(made, f"model '{plain(name)}'"), users)
    if hasattr(source, "predict"):
        raise InputError(
            f"model '{plain(name)}' predicts values (predict) and makes no lists (recommend), which ranks are read "
            "from.\nGive its predictions of all candidates as a frame or array (Predictions), or ask for mae, mse or "
            "rmse.",
            code="no-lists",
        )
    return Recommendations.from_frame(source, columns=columns, invalid=invalid, source=plain(name))


def _refuse_foreign(source: Any, name: str) -> None:
    """A model of another library, whose ``recommend`` is asked in another way, or a function."""
    recommend = getattr(source, "recommend", None)
    try:
        kinds = {} if recommend is None else {each.name: each.kind for each in signature(recommend).parameters.values()}
    except (TypeError, ValueError):
        return  # compiled: asking it says what is wrong
    fits = "seen" in kinds or Parameter.VAR_KEYWORD in kinds.values()
    if (recommend is not None and not fits) or (recommend is None and isfunction(source)):
        what = "a function" if recommend is None else f"{type(source).__module__}.{type(source).__name__}"
        raise InputError(
            f"model '{plain(name)}' is {plain(what)}, which unskew cannot ask for lists as it is.\n"
            "Adapt it: us.models.adapt(model, users=…, items=…), with ids in the order of its rows.",
            code="not-a-model",
        )


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
    if log.position is not None and not (isinstance(log.position, pl.Series) and log.position.dtype.is_integer()):
        raise _unfit(name, "'position' must be a series of whole numbers, null where no place is known")
    for column, values in {"time": log.time, "policy": log.policy, "position": log.position, **log.columns}.items():
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
    if found.rank is not None:
        refuse_shared_ranks(
            name, found.users, np.repeat(np.arange(len(found.users)), np.diff(found.indptr)), found.rank
        )
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
        raise InputError(
            f"{what} must be an array of whole numbers, not {plain(type(array).__name__)}.", code="wrong-type"
        )
    return array


def _numbers(array: Any, rows: int, what: str, low: float, high: float) -> None:
    """As many numbers as rows, all of them in the range."""
    if array is None:
        return
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.shape != (rows,):
        raise InputError(
            f"{what} must be an array of {rows:,} floating-point numbers, one for each row.", code="wrong-shape"
        )
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"{what} must lie between {low:g} and {high:g}; row {first + 1:,} has {array[first]:g}.",
            code="out-of-range",
        )


def _unfit(name: str, problem: str) -> InputError:
    return InputError(
        f"{name}: its arrays do not fit together: {problem}.\n"
        "Give a file or a dataframe, which is checked and coded here.",
        code="contradicting-columns",
    )
