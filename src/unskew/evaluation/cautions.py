"""What a careful reader should know before trusting the numbers, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unskew.alignment import outcome_check as plausible
from unskew.alignment.align import Aligned
from unskew.engine.plan import Plan, Refusal
from unskew.estimators import Need, Target
from unskew.evaluation.answer import Answer
from unskew.inference.steps import STEP
from unskew.plain import plain
from unskew.result import Estimate

ENOUGH = 200  # replicates for --refit


def _blur(replicates: int) -> float:
    """The standard error of the curvature's correction, as a share of the error that fitting brings (``steps.py``)."""
    return 1.0 / (STEP * math.sqrt(replicates))


def _refits(aligned: Aligned) -> bool:
    """Whether --refit would be possible."""
    model = aligned.propensity
    return model is not None and model.refits and model.smooth and aligned.train is not None


def before(
    aligned: Aligned,
    plan: Plan,
    refusals: Sequence[Refusal],
    *,
    refit: bool,
    by: str | None,
    unseen: bool,
    replicates: int,
) -> list[str]:
    """Cautions that follow from the inputs and the plan."""
    found = list(aligned.warnings)
    estimated = aligned.propensity is not None and aligned.propensity.estimated
    if estimated and not refit:
        found.append(
            "The propensities are estimates, and the intervals take them as known: with a small training log the true "
            "uncertainty is larger." + (" --interval bootstrap --refit allows for that." if _refits(aligned) else "")
        )
    if refit and len(aligned.account["models"]) > 1:
        found.append(
            "--refit takes off what fitting the propensities is expected to add: differences, p and verdicts are those "
            "of the corrected estimates, around which the intervals lie, and need not be the differences of the values "
            "shown. Tipping points, with sampling error or without, take the propensities as known and start from "
            "the values shown."
        )
    if refit and replicates < ENOUGH:
        found.append(
            f"--refit with {replicates} replicates: the correction is known only to {100.0 * _blur(replicates):.0f} % "
            f"of the error that fitting the propensities brings. Use at least {ENOUGH} replicates."
        )
    if refit and by is not None:
        found.append(
            "Segments are bootstrapped with the propensities of the whole: --refit serves the main table only."
        )
    for name, account in aligned.account["models"].items():
        deepest = account["longest_rank"]
        deep = sorted({m.k for arm in plan.arms for m in arm.metrics if m.k and m.k > deepest})
        if deep:
            cuts = ", ".join(map(str, deep))
            found.append(
                f"{plain(name)}: no list goes beyond rank {deepest}; metrics at {cuts} count everything deeper as "
                "missed."
            )
    if refusals:
        cells, them = ("1 cell is", "it") if len(refusals) == 1 else (f"{len(refusals)} cells are", "them")
        found.append(f"{cells} not shown because the log cannot support {them}; inputs['refused'] says why.")
    weighted = [arm for arm in plan.arms if arm.estimator.name != "naive"]
    by_popularity = aligned.propensity is not None and aligned.propensity.name == "popularity"
    if by_popularity and any(arm.target is Target.POOLED for arm in weighted):
        found.append("Popularity propensities ignore how active a user is: pooled estimates weigh users by activity.")
    if weighted and aligned.propensity is not None and aligned.held.relative and unseen:
        found.append(
            "Relative propensities are not corrected for the split, after which only items outside training are "
            "candidates: that is fine where they are small."
        )
    summed = any(arm.target is Target.PER_USER_SUM for arm in plan.arms)
    if any(arm.target is Target.PER_USER_SUM and m.name == "recall" for arm in plan.arms for m in arm.metrics):
        found.append(
            "Under per_user_sum, recall@k is the number of relevant items among the first k, and can exceed 1."
        )
    if any(not arm.estimator.weighs for arm in plan.arms):
        found.append(
            "direct believes the outcome model: its intervals and verdicts know nothing of the model's errors. dr "
            "corrects them by what was seen."
        )
    found += plausible.far_off(aligned.held)
    averaged = any(Need.CANDIDATES in arm.estimator.needs(arm.target) for arm in plan.arms)
    if averaged and not summed and aligned.account["users"]["population_is"] != "given":
        found.append(
            "Averages over all pairs divide by the users of the given logs times their candidates; users who were "
            "silent in all of them, and items that no log shows, are not known. Give the population with --users."
        )
    if summed and aligned.account["users"]["population_is"] != "given":
        found.append(
            "Sums are averaged over the users of the given logs; users who were silent in all of them are not known "
            "and would lower the averages. Give the whole population with --users."
        )
    return found


def after(answers: Sequence[Answer], *, refit: bool) -> list[str]:
    """Cautions that follow from the answers."""
    found = []
    outside = [e for e in answers[0].estimates if e.value < e.low or e.value > e.high]
    if refit and outside:
        first = outside[0]
        which = f"{first.model}, {first.metric} × {first.estimator} × {first.target}"
        found.append(
            f"{len(outside)} of {len(answers[0].estimates)} estimates lie outside their own interval ({which}"
            + (", …" if len(outside) > 1 else "")
            + "): the propensities come from so few training rows that fitting them is expected to move the estimate "
            "by more than chance does, and the interval has that taken off. Trust the interval, not the value, or give "
            "more training data."
        )
    lost = max(answer.lost_replicates for answer in answers)
    if lost:
        found.append(
            f"Up to {lost:,} bootstrap replicates of an estimate had an empty divisor, or a propensity that could not "
            "be fitted, and were dropped."
        )
    high = [e for e in answers[0].estimates if e.value > 1.0 and e.metric.startswith("precision@")]
    if high:
        found.append(_above_one(high))
    if any(np.isnan(e.value) for answer in answers for e in answer.estimates):
        found.append("Some estimates do not exist because no user counts for them; they are shown as NaN.")
    if any(np.isinf(e.value) for answer in answers for e in answer.estimates):
        found.append("Some estimates are beyond what numbers can hold, and shown as infinite: values are too large.")
    return found


def _above_one(high: Sequence[Estimate]) -> str:
    """Why an estimated share can exceed 1: its sums are not divided by what they were taken over."""
    first = high[0]
    which = f"{first.model}, {first.metric} × {first.estimator} × {first.target}"
    why = "weights do not add up to exactly the pairs that there are, so an estimate varies around a share"
    if first.estimator == "naive":
        why = (
            "naive takes listed pairs for k in all items of a user, and where more of the seen pairs are listed ones "
            "they count for too many: that is the skew"
        )
    many = "1 estimate of precision exceeds" if len(high) == 1 else f"{len(high)} estimates of precision exceed"
    return f"{many} 1 ({which}{', …' if len(high) > 1 else ''}): {why}. Nothing is cut at 1."
