"""From what is at stake to rows: every pair of models with the difference to detect and the verdict's critical value.

The critical value is that of one simultaneous level over all pairs of models (MATHS §13), from the covariances that the
plan predicts; squared errors of differences A give a covariance of models, −½ (A less its row and column means).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from unskew.design.alternative import alternative
from unskew.design.listed import Stakes
from unskew.design.pilot import Pilot
from unskew.design.plan import PairPlan, Plan
from unskew.design.power import ANSWERS, NORMAL, POSITIVES, Curve, Question, least_rows
from unskew.inference.simultaneous import Family, single_error
from unskew.kernels.arrays import Floats

USUAL = 500.0  # rows for which errors of differences are compared with each other


def critical_value(stakes: Stakes, curve: Curve, fixed: bool, level: float, simultaneous: bool) -> float:
    """c: two-sided, at this level for all pairs of models together, or for each alone."""
    alpha = 1.0 - level
    if simultaneous:
        models = len(stakes.value)
        error = np.zeros((models, models))
        rows = min(USUAL, float(curve.rows[-1]))
        for a, b in combinations(range(models), 2):
            error[a, b] = error[b, a] = curve.at(rows, a, b)[0] if stakes.variance[a, b] > 0.0 else 0.0
        error += -np.minimum(stakes.variance, error) if fixed else stakes.between
        side = error.mean(axis=0)
        covariance = -0.5 * (error - side[:, None] - side[None, :] + error.mean())
        alpha = single_error([Family.of(covariance, stakes.differing.astype(np.int64))], level)
    return NORMAL.inv_cdf(1.0 - alpha / 2.0)


def questions_of(
    stakes: Stakes, detect: Floats, critical: float, fixed: bool, users: int, pilot: Pilot
) -> tuple[Question, ...]:
    """One for every pair of models; ``detect`` is T by [model, model]."""
    found = []
    for a, b in combinations(range(len(stakes.value)), 2):
        told = alternative(stakes, a, b, float(detect[a, b]), users)
        if pilot.informs:
            v, hits = pilot.variance * float(stakes.variance[a, b]), pilot.hits * float(stakes.hits[a, b])
            told = told._replace(variance=v, hits=hits)
        between, differing = 0.0 if fixed else told.between, float(stakes.differing[a, b])
        found.append(Question(float(detect[a, b]), told.variance, between, told.hits, differing, critical, fixed))
    return tuple(found)


def decide(plan: Plan) -> Plan:
    """The plan with the rows that every pair of models needs; what a pilot says is taken into account."""
    settings = plan.settings
    plan = replace(
        plan,
        questions=questions_of(
            plan.parts.looked.stakes,
            plan.parts.detect,
            settings.critical,
            settings.users_are == "fixed",
            settings.users,
            plan.pilot or Pilot(),
        ),
        pairs=tuple(
            PairPlan(a, b, 0.0, 0, None, None, None, "rows") for a, b in combinations(plan.models, 2)
        ),
    )  # fmt: skip
    return replace(plan, pairs=tuple(_decided(plan, place) for place in range(len(plan.pairs))))


def _decided(plan: Plan, place: int) -> PairPlan:
    pair, question, settings = plan.pairs[place], plan.questions[place], plan.settings
    size = question.detect / settings.relevant if settings.relevant > 0.0 else float("nan")
    known = replace(pair, detect=size, differing=int(question.differing))
    if not question.differing:
        return replace(known, needs="nothing")
    if not question.detect > 0.0:
        return replace(known, needs="size")
    rows = least_rows(lambda n: plan.power_of(place, n), float(plan.parts.curve.rows[-1]), settings.power)
    found = replace(
        known,
        rows_random=least_rows(question.even(settings.candidates), settings.candidates, settings.power),
        rows_differ=least_rows(question.even(question.differing), question.differing, settings.power),
        rows=rows,
    )
    if rows is not None:
        return found
    if settings.per_user is not None and found.rows_differ is not None:
        return replace(found, needs="limits")
    if question.needs_users(settings.power):
        return replace(found, needs="users", times_users=question.times_users(settings.power))
    if question.hits < POSITIVES or question.differing < ANSWERS:
        return replace(found, needs="positives")
    return replace(found, needs="pairs", times_users=max(1.0, question.times_users(settings.power)))
