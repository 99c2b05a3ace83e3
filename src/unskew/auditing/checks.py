"""The checks on propensities (``propensity.checking``) as a part of an audit: the log as they are fitted on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from unskew.log import Feedback, Log, read_features
from unskew.log.log import Invalid
from unskew.log.relevance import train_gains
from unskew.propensity import FitInputs, Propensity
from unskew.propensity.checking import check
from unskew.propensity.checks import Checks

Stage = Callable[[str, int, int], None]


def check_on(
    log: Log,
    mcar: Log | None,
    propensities: Mapping[str, Propensity],
    feedback: Feedback | None,
    relevant: str | None,
    features: tuple[Any, Any],
    invalid: Invalid,
    say: Stage,
) -> Checks:
    """Fit and check each propensity; one that cannot be had from this log is listed, unless none is left.

    Args:
        features: covariates of users and of items, read here.
    """
    user, item = features
    inputs = FitInputs(
        mcar=None if mcar is None else _judged(mcar, feedback, relevant),
        user_features=None if user is None else read_features(user, "user", invalid=invalid),
        item_features=None if item is None else read_features(item, "item", invalid=invalid),
    )
    told = replace(_judged(log, feedback, relevant), feedback=feedback)
    return check(propensities, told, inputs=inputs, refused="skip", progress=say)


def _judged(log: Log, feedback: Feedback | None, relevant: str | None) -> Log:
    """The log with its gains, where something says which rows are positives; what needs them refuses the others."""
    told = log.feedback or feedback
    if told is None or (told is Feedback.RATINGS and relevant is None):
        return log
    return replace(log, gain=train_gains(log, told, relevant))
