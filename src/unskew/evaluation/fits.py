"""Propensities are fitted to the population and the catalogue of an evaluation, on a log that shows exposure.

P = |O| / (U·I), and every model of what was seen, depends on who *could* have been seen: users and items that happen to
have no training row are unseen, not absent. (With rows of 53 % of exchangeable users, ips came out at .52 to .55 of the
truth.) And it must be fitted to what was seen: in a log of positives only, a model of which pairs are there is a model
of P(click). Weighting clicks by it makes every pair count alike, and every recommender comes out at K/I.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.alignment.inputs import Ledger, Rules
from unskew.alignment.rows import inside, share_of, train_share
from unskew.errors import RefusedError
from unskew.log import Feedback, Ids, Log
from unskew.propensity import Level, Propensity, Side

ROUNDED = 0.02  # of the pairs, that a propensity fitted in advance may lack


def fitted_propensity(
    model: Propensity | None,
    train: Log | None,
    test: Log,
    users: Ids,
    items: Ids,
    rules: Rules,
    side: Side,
    ledger: Ledger,
) -> tuple[Propensity | None, Log | None]:
    """The propensity, fitted where it is not yet, and the training log as it was fitted to."""
    if model is None or not model.estimated:
        return model, train
    if model.models_presence:
        _refuse_clicks(model, train)
    if model.fitted or train is None:
        if model.level is Level.ABSOLUTE and train is not None and not rules.by_users:
            ledger.warnings += _outgrown(model, train, users, items)
        return model if rules.by_users else model.counted_over(users, items), train
    train = _population(train, test, users, items, model, rules, ledger)
    return model.fit(train, side), train


def _population(train: Log, test: Log, users: Ids, items: Ids, model: Propensity, rules: Rules, ledger: Ledger) -> Log:
    """The training log over all users and items that it could have shown, with its share of the whole log."""
    share = share_of(model, test, rules)
    train = replace(train, share=None if rules.by_users or share is None else train_share(share, rules))
    if not model.follows_rows and not model.models_presence:
        return train  # ratios between items: the more rows the better, whoever else there is
    if rules.by_users:  # other people: those of the training log, less those whom a common vocabulary lends it
        theirs = (np.diff(train.indptr) > 0) | ~_has_rows(test, train.users)
        users = Ids(train.users.values.filter(pl.Series(theirs)))
    keep = inside(train, users)
    if not keep.all():
        ledger.warnings.append(
            f"{np.count_nonzero(~keep):,} training rows belong to users outside the population (--users), and "
            f"'{model}' is fitted without them: it is the population's probability of being seen that counts."
        )
    return train.take(keep).recode(users, items)


def _has_rows(log: Log, users: Ids) -> npt.NDArray[np.bool_]:
    """Which of these users have rows in a log."""
    place = users.into(log.users)
    return np.asarray((place >= 0) & (np.diff(log.indptr) > 0)[place])


def _outgrown(model: Propensity, train: Log, users: Ids, items: Ids) -> list[str]:
    """A propensity fitted in advance knows the users and items of its log only."""
    if len(train.users) * len(train.items) > (1.0 - ROUNDED) * len(users) * len(items):
        return []
    return [
        f"'{model}' was fitted before this evaluation, which counts {len(users):,} users and {len(items):,} items, "
        f"while the training log knows {len(train.users):,} and {len(train.items):,}: users and items without training "
        f"rows make its level too high. Give its string (--propensity '{model}'), and it is fitted over all of them."
    ]


def _refuse_clicks(model: Propensity, train: Log | None) -> None:
    """A model of which pairs are in the training log, where that log holds positives only."""
    fitted_to_clicks = model.fitted and model.level is Level.RELATIVE
    if fitted_to_clicks or (not model.fitted and train is not None and train.feedback is Feedback.IMPLICIT):
        raise RefusedError(
            f"'{model}' models which pairs the training log holds, and this log holds positives only: that is the "
            "probability of a click, not of being shown. Weighted by it every pair counts alike, and every recommender "
            "comes out at K of I items.\n"
            "Log the probability of being shown as column 'propensity' and use --propensity known; or give a training "
            "log that also holds what was shown and not clicked (--feedback conversions); or use --propensity "
            "'popularity(gamma=1)', which assumes that popular items are popular only because they were shown more."
        )
