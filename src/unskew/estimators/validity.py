"""What may be estimated from what: decided cell by cell, before anything is computed.

Every refusal is a sentence that says why, and what to use instead. Nothing is guessed: no uniform propensity by
default, no level where there is none, no zeros that were never logged.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.estimators.base import Estimator, Need
from unskew.estimators.clipped import Clipped
from unskew.estimators.target import Target
from unskew.log import Feedback
from unskew.metrics import Metric, RankingMetric, RatingMetric, Shape

_ADDITIVE = "recall, dcg, rbp or arhr"
_OF_PAIRS = ("cg", "dcg", "precision")  # sums of y · worth(rank) that are averages over pairs as well


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


def refusal(metric: Metric, estimator: Estimator, target: Target, evidence: Evidence) -> str | None:
    """Why this cell cannot be estimated from this log, and what to use instead; ``None`` if it can."""
    return (
        _kind_refusal(metric, target, evidence)
        or (_metric_refusal(metric, estimator, target) if isinstance(metric, RankingMetric) else None)
        or _target_refusal(estimator, target, evidence)
        or _need_refusal(estimator, target, evidence)
    )


def _kind_refusal(metric: Metric, target: Target, evidence: Evidence) -> str | None:
    """Errors of predictions need values and predictions; ranks need ranks."""
    if isinstance(metric, RatingMetric):
        if target is not Target.PER_PAIR:
            return f"{metric} is the error of a pair's prediction, so it exists under per_pair only. Use that target."
        if evidence.feedback is Feedback.IMPLICIT:
            return f"{metric} compares predictions with values, and an implicit log has none. Use {_ADDITIVE}."
        if evidence.unpredicted:
            return (
                f"{metric} compares predictions with values, and {evidence.unpredicted}. Give them with --predictions "
                "name=FILE (user, item, prediction), or use dcg@10."
            )
        return None
    if evidence.unranked:
        return (
            f"{metric} needs ranks, and {evidence.unranked}. Predict all candidate pairs, add a column 'rank', or use "
            "mae, mse, rmse or accuracy."
        )
    if target is Target.PER_PAIR and metric.name not in _OF_PAIRS:
        return (
            f"{metric} is no average over pairs. Use cg@{metric.k or 10} or dcg@{metric.k or 10}, target per_user_sum, "
            "or say which values are relevant (--relevant '>=4') and use target per_user."
        )
    if metric.name == "precision" and not evidence.binary and (target is Target.PER_PAIR or target.sums):
        return (
            f"{metric} counts relevant items, and the values are graded. Use cg@{metric.k}, their mean, or say which "
            "are relevant (--relevant '>=4', with this target)."
        )
    return None


def _metric_refusal(metric: RankingMetric, estimator: Estimator, target: Target) -> str | None:
    if metric.shape is Shape.ADDITIVE:
        if metric.name in ("precision", "cg") and not target.sums and target is not Target.PER_PAIR:
            return (
                f"{metric} under {target} is recall@{metric.k} divided by {metric.k}. Use recall@{metric.k}, or target "
                f"per_user_sum for the usual {metric.name}."
            )
        return None
    if target is not Target.PER_USER:
        return (
            f"{metric} is a ratio inside each user, so it exists under per_user only. Use that target, or {_ADDITIVE}."
        )
    if metric.shape in (Shape.FIRST, Shape.CUT) and estimator.name != "naive":
        return (
            f"{metric} looks at one item of a user only, which no weight per item can debias: naive is all there is. "
            f"Use {_ADDITIVE}."
        )
    if getattr(metric, "ideal", "") == "full" and estimator.name != "naive":
        return f"{metric} compares with {metric.k} equal hits, which weighted items do not have. Use ndcg@{metric.k}."
    if getattr(metric, "divide", "") == "min" and innermost(estimator).name in ("ips", "stratified"):
        return (
            f"{metric} divides by the largest weights; {estimator} has a fixed divisor. Use map@{metric.k}, or snips."
        )
    return None


def _target_refusal(estimator: Estimator, target: Target, evidence: Evidence) -> str | None:
    if target not in estimator.valid:
        allowed = " or ".join(sorted(estimator.valid))
        if target.normalised and estimator.name != "gs":
            return (
                f"{estimator} has no normalised form: it is divided already. Use ips under {target} (pooled, it is "
                "pooled snips), or per_user_sum."
            )
        if target is Target.PER_PAIR:
            return f"{estimator} is defined for {allowed}, not for per_pair. Use snips, ips or naive."
        other = "ips" if target.sums else "snips"
        return f"{estimator} is defined for {allowed}, not for {target}. Use {other}, or target {allowed}."
    averaged = target in (Target.PER_USER, Target.POOLED)
    if averaged and evidence.feedback is Feedback.RATINGS and not evidence.thresholded:
        return (
            f"{target} averages over relevant items, and a rating alone does not say which are relevant. "
            "Give a threshold such as --relevant '>=4' (relevant='>=4')."
        )
    return None


def _need_refusal(estimator: Estimator, target: Target, evidence: Evidence) -> str | None:
    needs = estimator.needs(target)
    if Need.OUTCOME in needs and not evidence.outcome:
        return (
            f"{estimator} needs a model of what unseen pairs would have yielded. Give --outcome 'logistic_mf(dim=10)' "
            "or a table with --outcome 'given(predictions.parquet)', or use ips."
        )
    if Need.OUTCOME in needs and evidence.feedback is Feedback.IMPLICIT and not evidence.outside:
        return (
            f"{estimator} fits an outcome model to seen pairs, and an implicit log lacks those that brought nothing. "
            "Use ips or snips, or direct with predictions from outside."
        )
    if Need.PROPENSITY in needs and not evidence.propensity:
        return (
            f"{estimator} needs propensities, and unknown ones are never taken as uniform. Give a column 'propensity' "
            "with --propensity known, or --propensity 'popularity(gamma=2)' with a training log."
        )
    learns = Need.OUTCOME in needs and Need.ZEROS not in needs and not evidence.outside
    if learns and evidence.feedback is Feedback.CONVERSIONS and not evidence.zeros:
        return (
            f"{estimator} fits an outcome model to seen pairs, and this log holds none that brought nothing: it would "
            "learn that everything converts. Give predictions from outside, or keep the seen pairs with value 0."
        )
    if Need.ZEROS in needs and evidence.feedback is Feedback.IMPLICIT:
        if estimator.corrects:
            return (
                f"{estimator} corrects a model by its errors on seen pairs; an implicit log lacks those that brought "
                "nothing, and every guess would look too low. Use ips, or direct with predictions from outside."
            )
        if target is Target.PER_PAIR:
            return (
                f"{estimator} under per_pair averages over all seen pairs, and an implicit log lacks those that "
                "brought nothing. Use ips with absolute propensities, or target per_user."
            )
        return (
            f"{estimator} under {target} divides by the weights of all seen pairs, and an implicit log lacks those "
            "that brought nothing: the result would be far too large. Use ips with absolute propensities, or target "
            "pooled."
        )
    if Need.ZEROS in needs and evidence.feedback is Feedback.CONVERSIONS and not evidence.zeros:
        return (
            f"{estimator} under {target} divides by the weights of all seen pairs; this log holds none that brought "
            "nothing. If it lists positives only, say --feedback implicit; else keep the seen pairs with value 0."
        )
    if Need.SHARES in needs and evidence.feedback is Feedback.IMPLICIT:
        return (
            "shares of strata measured on an implicit log's positives keep its skew. Give P(v) from outside with "
            "stratified(shares=FILE), a table 'stratum,share', or use gs."
        )
    if Need.RELEVANT in needs and not evidence.relevant:
        return (
            f"{estimator} under {target} divides by each user's number of relevant items, seen or not, which this log "
            "does not know. Give it as column 'relevant' with --users, or use snips, which estimates it."
        )
    if Need.ABSOLUTE in needs and not evidence.absolute:
        if isinstance(estimator, Clipped) and estimator.at is not None:
            return (
                f"{estimator}: an absolute threshold means nothing for relative propensities. Use a quantile: "
                f"clipped({estimator.inner}, quantile=0.01)."
            )
        if evidence.cut:
            known = "a column written for the test period with --propensity 'known(part=test)', or use "
            return (
                f"{estimator} under {target} needs propensities of the test period; these describe the {evidence.cut} "
                "log, and time decided which rows are in the test log, which leaves their level unknown. Give "
                f"{known}{without_level(estimator, target, evidence)}."
            )
        if evidence.unshared:
            instead = without_level(estimator, target, evidence)
            return (
                f"{estimator} under {target} needs propensities of the test log; these describe the training log. How "
                f"the test log was split off is not known: say it with --share 0.3 or --share users, or use {instead}."
            )
        other = "snips"
        if Need.OUTCOME in needs:
            other = "sndr under per_user_sum"
        elif target is Target.PER_USER_SUM and evidence.feedback is Feedback.IMPLICIT:
            other = "snips under target pooled"
        return (
            f"{estimator} under {target} needs propensities whose level means something (absolute), and these are "
            f"relative. Use {other}, or known propensities."
        )
    if Need.ABSOLUTE in needs and (
        wrong := evidence.wrong_level
        or (evidence.wrong_relevant if Need.RELEVANT in needs else "")
        or (evidence.wrong_pairs if Need.CANDIDATES in needs else "")
    ):
        return (
            f"{estimator} under {target} would be off by as much as this: {wrong} Or use "
            f"{without_level(estimator, target, evidence)}."
        )
    return None


def without_level(estimator: Estimator, target: Target, evidence: Evidence) -> str:
    """What serves in place of an estimator that needs the level, on a log that has propensities without one."""
    if (
        isinstance(estimator, Clipped)
        and estimator.at is not None
        and Need.ABSOLUTE not in estimator.inner.needs(target)
    ):
        return f"clipped({estimator.inner}, quantile=0.01)"  # only the threshold needs the level
    if target.normalised:
        return "ips"  # a ratio of sums, in which the level cancels
    if estimator.corrects:
        return "sndr"
    zeros = evidence.feedback is Feedback.RATINGS or (evidence.feedback is Feedback.CONVERSIONS and evidence.zeros)
    needed = target in (Target.PER_USER_SUM, Target.PER_PAIR)
    return "snips of recall or dcg under target pooled" if needed and not zeros else "snips"


def innermost(estimator: Estimator) -> Estimator:
    """The estimator inside all clips."""
    while isinstance(estimator, Clipped):
        estimator = estimator.inner
    return estimator
