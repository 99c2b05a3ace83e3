"""Propensities are fitted to the population and the catalogue of an evaluation, on a log that shows exposure.

P = |O| / (U·I), and every model of what was seen, depends on who *could* have been seen: users and items that happen to
have no training row are unseen, not absent. (With rows of 53 % of exchangeable users, ips came out at .52 to .55 of the
truth.) And it must be fitted to what was seen: in a log of positives only, a model of which pairs are there is a model
of P(click). Weighting clicks by it makes every pair count alike, and every recommender comes out at K/I.

The share of popularity that comes from exposure is shown on the path where a random sample tells it; it is no evidence.
Positives alone do not tell it. Where the training log holds positives only and a log seen at random was given, the
exponent a of P ∝ n^a is estimated as for ``popularity(gamma=estimate)`` (``propensity/exponent.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from unskew.alignment.inputs import Inputs
from unskew.alignment.rows import inside, share_of, train_share
from unskew.alignment.vocabulary import Coded
from unskew.core.errors import InputError, RefusedError
from unskew.estimators.exposure_path import SHARE
from unskew.log import Feedback, Ids, Log
from unskew.propensity import FitInputs, Level, Propensity
from unskew.propensity.popularity import ESTIMATE, Popularity, TrainingPositives
from unskew.result import ScenarioTable

ROUNDED = 0.02  # of the pairs, that a propensity fitted in advance may lack


class FittedPropensity(NamedTuple):
    """The propensity of one evaluation.

    Args:
        model: fitted where it was not yet; ``None`` where none was asked for.
        train: the training log as it was fitted to.
        outside: training rows of users outside the population, which were left out.
        outgrown: it was fitted in advance, to fewer users and items than this evaluation counts.
        fitted_here: it was not fitted before.
    """

    model: Propensity | None
    train: Log | None
    outside: int = 0
    outgrown: bool = False
    fitted_here: bool = False


def fit_propensity(model: Propensity | None, inputs: Inputs, coded: Coded) -> FittedPropensity:
    """Fit the propensity where it is not fitted yet, to the population and the catalogue."""
    train, by_users = coded.train, inputs.rules.by_users
    if model is None or not model.estimated:
        return FittedPropensity(model, train)
    if model.models_presence:
        refuse_clicks(model, train)
    if model.fitted or train is None:
        lacks = False  # fitted in advance, it knows the users and items of its log only
        if train is not None and model.level is Level.ABSOLUTE and not by_users:
            lacks = outgrown(len(inputs.users) * len(coded.logged), len(train.users) * len(train.items))
        counted = model if by_users else model.counted_over(inputs.users, coded.logged)
        return FittedPropensity(counted, train, outgrown=lacks)
    train, outside = population_of(train, model, inputs, coded.logged)
    return FittedPropensity(model.copy().fit(train, inputs=inputs.side), train, outside, fitted_here=True)


def outgrown(pairs: int, fitted_to: int) -> bool:
    """Whether there are clearly more pairs than a propensity was fitted to in advance."""
    return fitted_to <= (1.0 - ROUNDED) * pairs


def population_of(train: Log, model: Propensity, inputs: Inputs, items: Ids) -> tuple[Log, int]:
    """The training log over all users and items that it could have shown, and how many rows belong to others."""
    test, users, rules = inputs.test, inputs.users, inputs.rules
    share = share_of(model, test, rules)
    train = replace(train, share=None if rules.by_users or share is None else train_share(share, rules))
    if not model.follows_rows:
        return train, 0  # ratios between items: the more rows the better, whoever else there is
    if rules.by_users:  # other people: those of the training log, less those whom a common vocabulary lends it
        place = train.users.into(test.users)
        tested = (place >= 0) & (np.diff(test.indptr) > 0)[place]
        theirs = (np.diff(train.indptr) > 0) | ~tested
        users = Ids(train.users.values.filter(pl.Series(theirs)))
    keep = inside(train, users)
    return train.take(keep).recode(users, items), int(np.count_nonzero(~keep))


def refuse_clicks(model: Propensity, train: Log | None) -> None:
    """A model of which pairs are in the training log, where that log holds positives only."""
    fitted_to_clicks = model.fitted and model.level is Level.RELATIVE
    if fitted_to_clicks or (not model.fitted and train is not None and train.feedback is Feedback.IMPLICIT):
        raise RefusedError(
            f"'{model}' models which pairs the training log holds, and this log holds positives only: that is the "
            "probability of a click, not of being shown. Weighted by it every pair counts alike, and every recommender "
            "comes out at K of I items.\n"
            "Log the probability of being shown as column 'propensity' and use propensity='known'; or give a training "
            "log that also holds what was shown and not clicked (feedback='conversions'); or use "
            "propensity='popularity(gamma=1)', which assumes that popular items are popular only because they were "
            "shown more.",
            code="positives-only",
        )


def with_estimate(tables: Iterable[ScenarioTable], estimate: Callable[[], float | None]) -> tuple[ScenarioTable, ...]:
    """The tables of the exposure path with the estimated share, where there is one."""
    found = tuple(tables)
    if not any(_on_path(table) for table in found):
        return found
    share = estimate()
    return tuple(replace(table, estimated=share) if _on_path(table) else table for table in found)


def _on_path(table: ScenarioTable) -> bool:
    return table.axes == (SHARE.name,)


def exposure_share(train: Log | None, side: FitInputs) -> float | None:
    """a; ``None`` without a random sample, or where the sample is too small or follows no power."""
    if train is None or side.mcar is None or train.feedback is not Feedback.IMPLICIT:
        return None
    return share_from(ESTIMATED.tally(train), side)


ESTIMATED = Popularity(gamma=ESTIMATE)


def share_from(tally: TrainingPositives, side: FitInputs) -> float | None:
    """The same from what all users' training rows add up to."""
    try:
        slope = ESTIMATED.copy().fit_tally(tally, inputs=side).slope
    except InputError:
        return None
    return None if slope is None else slope.value
