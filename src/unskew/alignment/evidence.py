"""What is known about the aligned rows: the facts that refusals are decided on.

A user without a list has an empty one where a model serves nobody like them, and is a gap where nobody asked the model.
An estimator that adds up guesses over lists (direct, dr, sndr, switch, snips(over=list)) describes the whole
population, so it needs a list for everybody in it. Lists that were made for the users of the test log only leave out
exactly those who were silent: with 40 % of them dr came out at .59 of the truth. Estimators that look at hits only
(naive, ips) lose nothing, since silent users have no hits whatever their lists hold.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import Inputs, Rules
from unskew.alignment.level import LevelCheck
from unskew.alignment.lists import NOT_ASKED
from unskew.alignment.row_facts import RowFacts
from unskew.alignment.rows import cut_by_time, has_level, in_test_part
from unskew.estimators.validity import Evidence
from unskew.kernels.arrays import Floats
from unskew.log import Feedback, Log, Predictions
from unskew.outcome import Outcome
from unskew.propensity import Level, Propensity, Scope

POINTS = 0.05  # by how much the shares of users without a list must differ
USERS = 10  # and how many silent users must be without one
ERRORS = 3.0  # and by how many standard errors, so that chance alone refuses nothing


def evidence_of(
    inputs: InputFacts,
    model: Propensity | None,
    rows: Log,
    facts: RowFacts,
    relevant: bool,
    silent: Silent,
    outcome: Outcome | None,
    level: LevelCheck | None,
    lists: Mapping[str, Any],
) -> Evidence:
    """The facts on which refusals are decided.

    Args:
        rows: a log with the marks of the judged rows, with or without rows.
        relevant: whether n_u is known.
        silent: which models give no ranks or predictions.
        lists: accounts of the models' lists.
    """
    rules = inputs.rules
    unshared = model is not None and model.level is Level.ABSOLUTE and not has_level(model, rows, rules)
    return Evidence(
        rules.feedback,
        thresholded=rules.relevant is not None,
        propensity=model is not None,
        absolute=model is not None and has_level(model, rows, rules),
        relevant=relevant,
        zeros=bool(facts.zeros or facts.logged_zeros),
        unshared=unshared,
        cut=("whole" if model.refers(rows) is Scope.LOG else "training")
        if unshared and model is not None and cut_by_time(rows, rules)
        else "",
        wrong_level=level.wrong if level is not None else "",
        wrong_pairs=level.wrong_pairs if level is not None else "",
        wrong_relevant=level.wrong_relevant if level is not None else "",
        binary=not facts.graded,
        unpredicted=silent.unpredicted,
        unranked=silent.unranked if rules.ranks or not inputs.predictions else "no predictions were ranked",
        outcome=outcome is not None,
        outside=outcome is not None and outcome.fitted,
        unlisted=lists_for_some(lists, facts),
        users=facts.users,
        counts=inputs.train is not None,
        unseen=rules.unseen,
        answers=inputs.answers,
        in_parts=inputs.in_parts,
        in_folds=rules.in_folds,
        rarer=min(facts.positives, facts.zeros),
    )


class Silent(NamedTuple):
    """In words, which models give no predictions, and which no ranks; empty if all do."""

    unpredicted: str
    unranked: str

    @classmethod
    def of(cls, inputs: Inputs, rows: Log, unranked: str) -> Silent:
        """Of inputs in memory."""
        return cls(_unpredicted(inputs, rows, unranked), unranked)


def without_predictions(models: Sequence[str], predictions: Collection[str]) -> str:
    """Which models give lists only, in words."""
    silent = [name for name in models if name not in predictions]
    return f"{' and '.join(silent)} {'gives' if len(silent) == 1 else 'give'} lists only" if silent else ""


def _unpredicted(inputs: Inputs, rows: Log, unranked: str) -> str:
    """Which models give no predictions; where only ranks were asked for and lack, whether predictions could serve."""
    predictions, rules = inputs.predictions, inputs.rules
    if silent := without_predictions(inputs.models, predictions):
        return silent
    if unranked and not rules.rates and rules.feedback is not Feedback.IMPLICIT:
        short = [
            name
            for name, source in predictions.items()
            if isinstance(source, Predictions) and np.isnan(source.recode(rows.users, rows.items).of(rows)).any()
        ]
        if short:
            return f"{' and '.join(short)} {'lacks' if len(short) == 1 else 'lack'} some held-out pairs"
    return ""


def training_propensity(model: Propensity | None, train: Log, test: Log, rules: Rules) -> Floats | None:
    """P of the training rows on the test rows' scale, for shares of strata; ``None`` where there is none for them."""
    if model is None or model.lacks(train):
        return None
    rows = in_test_part(model.of(train).rows, model, test, rules)
    return rows[~np.isnan(rows)]


def lists_for_some(lists: Mapping[str, Any], facts: RowFacts) -> str:
    """In words, which models have lists for users with held-out rows rather than for the others; empty if none."""
    scored = facts.active
    silent = facts.users - scored
    found = []
    for name, account in lists.items():
        missing = account[NOT_ASKED]
        if scored and silent and _uneven(missing["silent"], silent, missing["held_out"], scored):
            found.append(
                f"{name} has lists for {scored - missing['held_out']:,} of {scored:,} users with held-out interactions "
                f"but for {silent - missing['silent']:,} of {silent:,} users without"
            )
    return " and ".join(found)


def _uneven(missing: int, silent: int, missing_scored: int, scored: int) -> bool:
    """Whether silent users lack lists clearly more often than users with held-out rows."""
    excess = missing / silent - missing_scored / scored
    share = (missing + missing_scored) / (silent + scored)
    chance = math.sqrt(share * (1.0 - share) * (1.0 / silent + 1.0 / scored))
    return missing >= USERS and excess > max(POINTS, ERRORS * chance)
