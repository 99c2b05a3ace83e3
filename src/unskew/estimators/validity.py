"""What may be estimated from what: decided cell by cell, before anything is computed.

Every refusal says why; what to do instead is found by trying (``alternatives.py``), so that it is accepted when it is
followed. Nothing is guessed: no uniform propensity by default, no level where there is none, no zeros that were never
logged.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.core.notice import Notice, codes
from unskew.estimators.alternatives import Alternative, Refused, refused
from unskew.estimators.base import Estimator, Need
from unskew.estimators.target import Target
from unskew.estimators.traits import largest_weights_refusal, terms_refusal
from unskew.log import Feedback
from unskew.metrics import Metric, RankingMetric, RatingMetric

FEWEST_OUTCOMES = 50  # of each kind, for a regression on five features: ten for each


@dataclass(frozen=True)
class Evidence:
    """What is known about a log: the facts on which refusals are decided.

    Args:
        feedback: what a row says.
        thresholded: whether values were turned into relevant / not relevant.
        propensity: whether there are propensities.
        absolute: whether their level means something.
        relevant: whether n_u is known.
        zeros: whether any seen pair brought nothing.
        unshared: the propensities are absolute for the training log or the whole log, but the test log's share is not
            known.
        cut: ... because time cut the test log off: of which log the propensities are, ``whole`` or ``training``.
        wrong_level: what is wrong with the level of the propensities, and why; empty where nothing is known to be.
        wrong_pairs: ... with the number of candidate pairs.
        wrong_relevant: ... with the numbers of relevant items.
        binary: whether all values are 0 or 1.
        unpredicted: which models give no predictions, in words; empty if all do.
        unranked: which models give no ranks, in words; empty if all do.
        outcome: whether there is an outcome model.
        outside: whether it was not fitted to this log.
        unlisted: which models lack lists of users without held-out rows, in words; empty if none does.
        users: how many users the population has.
        counts: whether it is known how often items were seen in training.
        unseen: whether only items outside a user's training rows are candidates.
        rarer: held-out rows of the rarer of two outcomes, relevant or not.
        answers: whether pairs were drawn, shown and answered.
        in_parts: whether users are looked at part by part, since the log exceeds memory.
        in_folds: whether this is one of several folds, which share users.
    """

    feedback: Feedback
    thresholded: bool = False
    propensity: bool = False
    absolute: bool = False
    relevant: bool = False
    zeros: bool = True
    unshared: bool = False
    cut: str = ""
    wrong_level: str = ""
    wrong_pairs: str = ""
    wrong_relevant: str = ""
    binary: bool = False
    unpredicted: str = "the models give lists"
    unranked: str = ""
    outcome: bool = False
    outside: bool = False
    unlisted: str = ""
    users: int = 0
    counts: bool = False
    unseen: bool = True
    rarer: int = FEWEST_OUTCOMES
    answers: bool = False
    in_parts: bool = False
    in_folds: bool = False

    @property
    def tells_outcomes(self) -> bool:
        """Whether seen pairs are relevant or not, and both are logged."""
        told = self.feedback is Feedback.CONVERSIONS or (self.feedback is Feedback.RATINGS and self.thresholded)
        return told and self.binary and self.zeros


def refusal(metric: Metric, estimator: Estimator, target: Target, evidence: Evidence) -> Notice | None:
    """Why this cell cannot be estimated from this log, and what to do instead; ``None`` if it can."""
    found = refused_cell(metric, estimator, target, evidence)
    return None if found is None else found.reason


def refused_cell(metric: Metric, estimator: Estimator, target: Target, evidence: Evidence) -> Refused | None:
    """The refusal of a cell with its ways out; ``None`` if the cell can be estimated."""
    why = reason_against(metric, estimator, target, evidence)
    if why is None:
        return None
    by_metric = why in (_kind_refusal(metric, target, evidence), _shape_refusal(metric, estimator, target))
    if isinstance(metric, RankingMetric) and not metric.additive and Target.PER_USER not in estimator.valid:
        by_metric = True  # there is no target under which both exist
    return refused(why, Alternative(metric, estimator, target), evidence, reason_against, by_metric=by_metric)


def reason_against(metric: Metric, estimator: Estimator, target: Target, evidence: Evidence) -> Notice | None:
    """Why this cell cannot be estimated from this log; ``None`` if it can."""
    return (
        _kind_refusal(metric, target, evidence)
        or _shape_refusal(metric, estimator, target)
        or _target_refusal(estimator, target, evidence)
        or _terms_refusal(estimator, target)
        or _need_refusal(estimator, target, evidence)
    )


def _kind_refusal(metric: Metric, target: Target, evidence: Evidence) -> Notice | None:
    """Errors of predictions need values and predictions; ranks need ranks."""
    if isinstance(metric, RatingMetric):
        if target is not Target.PER_PAIR:
            return Notice(
                f"{metric} is the error of a pair's prediction, so it exists under per_pair only.", code="wrong-target"
            )
        if evidence.feedback is Feedback.IMPLICIT:
            return Notice(f"{metric} compares predictions with values, and an implicit log has none.", code="no-values")
        if evidence.unpredicted:
            return Notice(
                f"{metric} compares predictions with values, and {evidence.unpredicted}.", code="no-predictions"
            )
        return None
    if evidence.unranked:
        return Notice(f"{metric} needs ranks, and {evidence.unranked}.", code="no-ranks")
    if target is Target.PER_PAIR and not metric.averages_pairs:
        return Notice(f"{metric} is no average over pairs.", code="wrong-target")
    if metric.of_listed and not evidence.binary and (target is Target.PER_PAIR or target.sums):
        return Notice(f"{metric} counts relevant items, and the values are graded.", code="graded-values")
    return None


def _shape_refusal(metric: Metric, estimator: Estimator, target: Target) -> Notice | None:
    """Metrics that are no sums of weights exist under some targets and estimators only."""
    if isinstance(metric, RatingMetric):
        return None
    if metric.additive:
        if metric.divided_by_k and not target.sums and target is not Target.PER_PAIR:
            return Notice(
                f"{metric} under {target} is recall@{metric.k} divided by {metric.k}; the usual {metric.name} is a sum "
                "(per_user_sum).",
                code="wrong-target",
            )
        corrects = target in estimator.valid and Need.OUTCOME in estimator.needs(target)
        if target is Target.PER_PAIR and corrects:
            return Notice(
                f"{estimator} under per_pair is for errors of predictions; {metric} adds up a list (per_user_sum).",
                code="wrong-target",
            )
        return None
    if target is not Target.PER_USER:
        return Notice(f"{metric} is a ratio inside each user, so it exists under per_user only.", code="wrong-target")
    if metric.unweighted_only and estimator.standing(target).debiased:
        return Notice(f"{metric} {metric.unweighted_only}.", code="unweighted-only")
    if metric.divides_by_largest_weights and target in estimator.valid:
        return largest_weights_refusal(metric, estimator, target)
    return None


def _target_refusal(estimator: Estimator, target: Target, evidence: Evidence) -> Notice | None:
    if target not in estimator.valid:
        if Need.ANSWERS in estimator.needs(target) and target is Target.PER_USER:
            return Notice(
                f"{estimator} adds up over users; a ratio inside each user would rest on a handful of answers, and is "
                "biased by 4 to 22 %.",
                code="wrong-target",
            )
        if target.normalised and Target.PER_USER_SUM in estimator.valid:
            return Notice(f"{estimator} has no normalised form: it is divided already.", code="not-normalised")
        return Notice(
            f"{estimator} is defined for {' or '.join(sorted(estimator.valid))}, not for {target}.", code="wrong-target"
        )
    averaged = target in (Target.PER_USER, Target.POOLED)
    if averaged and evidence.feedback is Feedback.RATINGS and not evidence.thresholded:
        return Notice(
            f"{target} averages over relevant items, and a rating alone does not say which are relevant.",
            code="no-threshold",
        )
    return None


def _terms_refusal(estimator: Estimator, target: Target) -> Notice | None:
    """Why terms do not fit the target; where scenarios are computed under another name of the target, that one."""
    scenarios = estimator.scenarios(target)
    if scenarios is None:
        return terms_refusal(estimator, target)
    return terms_refusal(scenarios.points[0].estimator, scenarios.points[0].target)


def _census_refusal(estimator: Estimator, evidence: Evidence) -> Notice | None:
    """A census model is a regression of relevance, yes or no, on what training rows say of unseen pairs."""
    if evidence.feedback is Feedback.IMPLICIT:
        return Notice(
            f"{estimator} learns from seen pairs which are relevant, and an implicit log holds positives only.",
            code="no-zeros",
        )
    if evidence.feedback is Feedback.RATINGS and not evidence.thresholded:
        return Notice(
            f"{estimator} is for pairs that are relevant or not, and a rating alone does not say which are.",
            code="no-threshold",
        )
    if not evidence.binary:
        return Notice(
            f"{estimator} is for pairs that are relevant or not, and the values are graded.", code="graded-values"
        )
    if not evidence.zeros:
        return Notice(
            f"{estimator} learns from seen pairs which are relevant, and this log holds none that brought nothing.",
            code="no-zeros",
        )
    if not evidence.counts:
        return Notice(
            f"{estimator} describes pairs by what training rows say of their user and item: give train=….",
            code="no-training-log",
        )
    if not evidence.unseen:
        return Notice(
            f"{estimator} takes the held-out log for all that was seen of the candidates, and with candidates='all' "
            "these hold training items too: leave it at 'unseen'.",
            code="seen-candidates",
        )
    if evidence.rarer < FEWEST_OUTCOMES:
        return Notice(
            f"{estimator} fits a regression to the held-out rows, and only {evidence.rarer:,} of them are of the rarer "
            f"outcome: it takes {FEWEST_OUTCOMES} relevant rows and as many others. Hold out more.",
            code="too-few-rows",
        )
    return None


def _need_refusal(estimator: Estimator, target: Target, evidence: Evidence) -> Notice | None:
    needs = estimator.needs(target)
    if Need.ANSWERS in needs and not evidence.answers:
        return Notice(
            f"{estimator} rests on answers to questions that were drawn with known probabilities, and there are none.",
            code="no-answers",
        )
    if Need.CENSUS in needs and (lacking := _census_refusal(estimator, evidence)):
        return lacking
    if Need.CENSUS in needs and evidence.in_parts:
        return Notice(
            f"{estimator} fits a model to the whole log in memory, and adds it up over all unseen candidates; this "
            "engine has parts of the users in memory only.",
            code="in-parts",
        )
    if Need.CENSUS in needs and evidence.in_folds:
        return Notice(
            f"{estimator} fits a model of all pairs in each fold: its error over folds that share users is not known. "
            "Use it in evaluate, on one fold.",
            code="in-folds",
        )
    if Need.OUTCOME in needs and not evidence.outcome:
        return Notice(f"{estimator} needs a model of what unseen pairs would have yielded.", code="no-outcome-model")
    if Need.OUTCOME in needs and evidence.feedback is Feedback.IMPLICIT and not evidence.outside:
        return Notice(
            f"{estimator} fits an outcome model to seen pairs, and an implicit log lacks those that brought nothing.",
            code="no-zeros",
        )
    if Need.OUTCOME in needs and target is Target.PER_PAIR and evidence.outside:
        return Notice(
            f"{estimator} under per_pair fits its outcome model to the errors of each model's predictions, and this "
            "one is fitted already, to values.",
            code="no-outcome-model",
        )
    if Need.OUTCOME in needs and target is Target.PER_PAIR and evidence.in_parts:
        return Notice(
            f"{estimator} under per_pair fits an outcome model to the errors of each model's predictions in memory; "
            "this engine has parts of the users in memory only.",
            code="in-parts",
        )
    if Need.COUNTS in needs and not evidence.counts:
        return Notice(
            f"{estimator} counts how often each item was seen in training, and there is no training log.",
            code="no-training-log",
        )
    if Need.PROPENSITY in needs and not evidence.propensity:
        return Notice(
            f"{estimator} needs propensities, and unknown ones are never taken as uniform.", code="no-propensity"
        )
    learns = Need.OUTCOME in needs and Need.ZEROS not in needs and not evidence.outside
    if learns and evidence.feedback is Feedback.CONVERSIONS and not evidence.zeros:
        return Notice(
            f"{estimator} fits an outcome model to seen pairs, and this log holds none that brought nothing: it would "
            "learn that everything converts.",
            code="no-zeros",
        )
    if Need.ZEROS in needs and evidence.feedback is Feedback.IMPLICIT:
        if Need.OUTCOME in needs:
            return Notice(
                f"{estimator} corrects a model by its errors on seen pairs; an implicit log lacks those that brought "
                "nothing, and every guess would look too low.",
                code="no-zeros",
            )
        if target is Target.PER_PAIR:
            return Notice(
                f"{estimator} under per_pair averages over all seen pairs, and an implicit log lacks those that "
                "brought nothing.",
                code="no-zeros",
            )
        return Notice(
            f"{estimator} under {target} divides by the weights of all seen pairs, and an implicit log lacks those "
            "that brought nothing: the result would be far too large.",
            code="no-zeros",
        )
    if Need.ZEROS in needs and evidence.feedback is Feedback.CONVERSIONS and not evidence.zeros:
        return Notice(
            f"{estimator} under {target} divides by the weights of all seen pairs; this log holds none that brought "
            "nothing.",
            code="no-zeros",
        )
    if Need.LISTS in needs and evidence.unlisted:
        return Notice(
            f"{estimator} under {target} adds up the lists of the whole population, and {evidence.unlisted}: the "
            "result would be too low.",
            code="missing-lists",
        )
    if Need.SHARES in needs and evidence.feedback is Feedback.IMPLICIT:
        return Notice("shares of strata measured on an implicit log's positives keep its skew.", code="no-shares")
    if Need.RELEVANT in needs and not evidence.relevant:
        return Notice(
            f"{estimator} under {target} divides by each user's number of relevant items, seen or not, which this log "
            "does not know.",
            code="no-relevant-numbers",
        )
    if Need.ABSOLUTE in needs and not evidence.absolute:
        if estimator.needs_level_because:
            return Notice(f"{estimator}: {estimator.needs_level_because}.", code="no-level")
        if evidence.cut:
            return Notice(
                f"{estimator} under {target} needs propensities of the test period; these describe the {evidence.cut} "
                "log, and time decided which rows are in the test log, which leaves their level unknown.",
                code="wrong-period",
            )
        if evidence.unshared:
            return Notice(
                f"{estimator} under {target} needs propensities of the test log; these describe the training log, and "
                "how the test log was split off is not known.",
                code="unknown-share",
            )
        return Notice(
            f"{estimator} under {target} needs propensities whose level means something (absolute), and these are "
            "relative.",
            code="no-level",
        )
    if Need.ABSOLUTE in needs and (
        wrong := evidence.wrong_level
        or (evidence.wrong_relevant if Need.RELEVANT in needs else "")
        or (evidence.wrong_pairs if Need.CANDIDATES in needs else "")
    ):
        told = f"{estimator} under {target} would be off by as much as this: {wrong}"
        return Notice(told, code="wrong-level", also=codes([wrong]))
    return None
