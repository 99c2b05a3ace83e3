"""From what people have (paths, frames, logs, fitted models) to logs and lists over common vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.errors import InputError
from unskew.log import Feedback, Ids, Log, Recommendations, read_log
from unskew.log.log import Duplicates, Invalid

Floats = npt.NDArray[np.float64]
_THRESHOLD = re.compile(r"\s*(>=|<=|==|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*")
_COMPARE = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less, "==": np.equal}


class Names:
    """Our column names → theirs, for every kind of input the names that it has.

    ``time`` and ``policy`` are asked of the test log only, ``propensity`` of the training log only where shares of
    strata are measured there, ``relevant`` of the population, ``rank`` and ``score`` of lists.
    """

    KNOWN = ("user", "item", "value", "time", "policy", "propensity", "rank", "score", "relevant")

    def __init__(self, columns: Mapping[str, str] | None) -> None:
        self._columns = dict(columns or {})
        for name in self._columns:
            if name not in self.KNOWN:
                raise InputError(
                    f"columns: '{name}' is none of our columns ({', '.join(self.KNOWN)}). Write our name first and "
                    "yours behind it: --columns user=customer_id."
                )
        self.of_test = self._only("user", "item", "value", "time", "policy", "propensity")
        self.of_train = self._only("user", "item", "value")
        self.of_train_with_propensity = self._only("user", "item", "value", "propensity")
        self.of_lists = self._only("user", "item", "rank", "score")
        self.of_users = self._only("user", "relevant")

    def _only(self, *names: str) -> dict[str, str]:
        return {name: theirs for name, theirs in self._columns.items() if name in names}


def as_log(
    source: Any,
    *,
    name: str,
    columns: Mapping[str, str] | None = None,
    feedback: Feedback | str | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates = "error",
    keep: Iterable[str] = (),
) -> Log:
    """A log from a log, a path or a frame."""
    if isinstance(source, Log):
        return source if feedback is None else replace(source, feedback=Feedback(feedback))
    if isinstance(source, str | PathLike):
        return read_log(source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep)
    return Log.from_frame(
        source, columns=columns, feedback=feedback, invalid=invalid, duplicates=duplicates, keep=keep, source=name
    )


def as_lists(
    source: Any, name: str, users: Ids, k: int, seen: Log | None, columns: Mapping[str, str], invalid: Invalid
) -> Recommendations:
    """Lists from lists, a frame, or a fitted model that makes them."""
    if isinstance(source, Recommendations):
        return source
    if hasattr(source, "recommend"):
        made = source.recommend(users, k, seen=seen)
        if not isinstance(made, Recommendations):
            raise InputError(
                f"model '{name}': recommend(users, k, seen=…) must give Recommendations, not {type(made)}."
            )
        return made
    return Recommendations.from_frame(source, columns=columns, invalid=invalid, source=name)


def told_feedback(log: Log, relevant: str | None) -> Feedback:
    """What the rows say; a log with values that has not been told is refused."""
    if log.feedback is not None:
        return log.feedback
    if relevant is not None:
        return Feedback.RATINGS
    raise InputError(
        f"{log.account.source}: there is a column 'value', and nothing says what it means.\n"
        "Give --feedback conversions (zeros are seen pairs that brought nothing), --feedback ratings, --feedback "
        "implicit (ignore the values), or a threshold such as --relevant '>=4'."
    )


def gains(log: Log, feedback: Feedback, relevant: str | None) -> Floats:
    """y of every row: 1 for implicit rows, 0/1 behind a threshold, else the value itself."""
    if feedback is Feedback.IMPLICIT:
        if relevant is not None:
            raise InputError("implicit feedback has no values: --relevant goes with --feedback ratings or conversions.")
        return np.ones(len(log))
    if log.value is None:
        raise InputError(f"{log.account.source}: feedback '{feedback}' needs a column 'value', and there is none.")
    if relevant is not None:
        match = _THRESHOLD.fullmatch(relevant)
        if match is None:
            raise InputError(f"cannot read the threshold '{relevant}': write '>=4', '>3' or '==1'.")
        return np.asarray(_COMPARE[match[1]](log.value, float(match[2])), dtype=np.float64)
    if len(log) and log.value.min() < 0.0:
        raise InputError(
            f"{log.account.source}: values must be at least 0 to be gains; the least is {log.value.min():g}."
        )
    return log.value


def positives(log: Log, feedback: Feedback, relevant: str | None) -> Log:
    """The rows with a gain, as a plain implicit log: what popularity is counted on and models are fitted on."""
    kept = log if feedback is Feedback.IMPLICIT else log.take(gains(log, feedback, relevant) > 0.0)
    return replace(kept, value=None, feedback=Feedback.IMPLICIT)
