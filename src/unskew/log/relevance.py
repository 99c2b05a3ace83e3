"""What counts as relevant: from the values of a log to gains, and to its positives."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from unskew.core.bounds import LARGEST, shown
from unskew.core.errors import InputError
from unskew.log.log import Feedback, Floats, Log

_THRESHOLD = re.compile(r"\s*(>=|<=|==|>|<)\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\s*")
_COMPARE = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less, "==": np.equal}


def threshold_of(relevant: object) -> tuple[str, float]:
    """``>=4`` → (">=", 4.0)."""
    match = _THRESHOLD.fullmatch(relevant) if isinstance(relevant, str) else None
    if match is None or not abs(float(match[2])) <= LARGEST:
        raise InputError(
            f"cannot read the threshold relevant={shown(relevant)}: write '>=4', '>3' or '==1'.",
            code="bad-string",
            option="relevant",
        )
    return match[1], float(match[2])


def told_feedback(log: Log, relevant: str | None) -> Feedback:
    """What the rows say; refused where a log has values and nothing says what they mean."""
    if log.feedback is not None:
        return log.feedback
    if relevant is not None:
        return Feedback.RATINGS
    raise InputError(
        f"{log.account.source}: there is a column 'value', and nothing says what it means.\n"
        "Give feedback='conversions' (zeros are seen pairs that brought nothing), feedback='implicit' (ignore the "
        "values), feedback='ratings', or a threshold such as relevant='>=4'.",
        code="missing-argument",
        option="feedback",
    )


def row_ratings(log: Log) -> Floats:
    """The values of the rows as they came, to compare predictions with."""
    if log.value is None:
        raise InputError(
            f"{log.account.source}: predictions are compared with a column 'value', and there is none.",
            code="missing-column",
            column="value",
        )
    return log.value


def gains(log: Log, feedback: Feedback, relevant: str | None) -> Floats:
    """y of every row: 1 for implicit rows, 0/1 behind a threshold, else the value itself."""
    if feedback is Feedback.IMPLICIT:
        if relevant is not None:
            raise InputError(
                "implicit feedback has no values: relevant=… goes with feedback='ratings' or conversions.",
                code="conflicting-arguments",
            )
        return np.ones(len(log))
    if log.value is None:
        raise InputError(
            f"{log.account.source}: feedback '{feedback}' needs a column 'value', and there is none.",
            code="missing-column",
            column="value",
        )
    if relevant is not None:
        sign, limit = threshold_of(relevant)
        return np.asarray(_COMPARE[sign](log.value, limit), dtype=np.float64)
    if len(log) and log.value.min() < 0.0:
        raise InputError(
            f"{log.account.source}: values must be at least 0 to be gains; the least is {log.value.min():g}.",
            code="out-of-range",
            column="value",
        )
    return log.value


def train_gains(train: Log, feedback: Feedback, relevant: str | None) -> Floats:
    """y of the training rows: by their own feedback where it is given, else by that of the test log."""
    own = train.feedback or feedback
    return gains(train, own, None if own is Feedback.IMPLICIT else relevant)


def row_gains(log: Log, relevant: str | None = None) -> Floats:
    """y of every row by the log's own feedback; ratings without a threshold are refused."""
    if log.gain is not None and relevant is None:
        return log.gain
    if log.feedback is Feedback.RATINGS and relevant is None:
        raise InputError(
            f"{log.account.source}: ratings alone do not say which rows are positives.\n"
            "Give a threshold, such as relevant='>=4'.",
            code="missing-argument",
            option="relevant",
        )
    return gains(log, told_feedback(log, relevant), relevant)


def positives(log: Log, relevant: str | None = None) -> Log:
    """The rows with a gain, as a plain implicit log: what popularity is counted on and models are fitted on."""
    if log.gain is None and log.value is None and log.feedback is Feedback.IMPLICIT and relevant is None:
        return log
    gain = row_gains(log, relevant)
    return replace(log if gain.all() else log.take(gain > 0.0), value=None, gain=None, feedback=Feedback.IMPLICIT)
