"""Which cells (metric × estimator × target) an evaluation consists of; what the log cannot support is refused here.

Where no list of any model hits anything, every score is 0: that is an input to look at again, not an answer. Such zeros
come from ids that mean something else, from lists of what users already had, or from cut-offs above the first hit. A
table of zeros with the verdict "equal" would hide all of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from unskew import estimators
from unskew.alignment.align import Alignment
from unskew.alignment.inputs import Rules
from unskew.alignment.part import PartFacts
from unskew.core.errors import InputError, RefusedError
from unskew.core.notice import codes
from unskew.engine.data import EvaluationData
from unskew.engine.plan import EvaluationPlan, Refusal, make_plan, sift
from unskew.estimators import Estimator, Need, Standing, Target
from unskew.estimators.validity import Evidence
from unskew.evaluation.request import Request
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.ranks import find_ranks
from unskew.log import Feedback
from unskew.metrics import Metric, RankingMetric, Shape
from unskew.result import Estimate

DEEPEST = 1_000_000  # ranks beyond this are no ranks
SKIP = "\nTo compute the other cells and list these in the result, use refused='skip'."


class Planned(NamedTuple):
    """The plan, the cells that are not in it, and the request with the estimators that were settled on."""

    request: Request
    plan: EvaluationPlan
    refusals: tuple[Refusal, ...]


def plan_cells(request: Request, rules: Rules, aligned: Alignment) -> Planned:
    """The cells that the log supports, and the others; asked-for cells that it does not are an error unless skipped."""
    request = _with_others(request, rules, aligned)
    targets = targets_for(request, rules)
    kept, refusals = sift(targets, _estimators(request, rules), aligned.evidence)
    if not request.chosen:  # nobody asked for what the usual estimators were never made for
        refusals = [r for r in refusals if _meant(r, aligned.evidence)]
    if refusals and not (kept and (request.refused == "skip" or not request.chosen)):
        raise _refused(refusals, SKIP if kept else "")
    plan = make_plan(kept, aligned.summary, len(request.models), _depth(request.metrics, aligned.facts))
    return Planned(request, plan, tuple(refusals))


def _meant(refusal: Refusal, evidence: Evidence) -> bool:
    """Whether a usual estimator is one for this target and this kind of log, so that its refusal says something."""
    estimator, target = estimators.make(refusal.estimator), Target(refusal.target)
    asks = Need.CENSUS in estimator.needs(target)
    return target in estimator.valid and not (asks and not evidence.tells_outcomes)


def targets_for(request: Request, rules: Rules) -> dict[Metric, tuple[Target, ...]]:
    """For each metric the asked targets, else the usual one.

    Errors of predictions are averages over pairs. For ranks it depends on the feedback; a threshold makes items
    relevant or not, so pooled. What exists inside each user only (ndcg, map) is averaged over users. Without
    propensities the level of sums cannot be told from a log of conversions, so where nothing was asked for, the
    average over relevant items is: pooled. A metric that is divided by k is the usual one as a sum only.
    """
    usual = Target.POOLED if request.relevant is not None else Target.default(rules.feedback)
    if rules.feedback is Feedback.CONVERSIONS and not request.chose_how and request.train is not None:
        usual = Target.POOLED

    def target(metric: Metric) -> Target:
        if not isinstance(metric, RankingMetric):
            return Target.PER_PAIR
        if rules.feedback is Feedback.CONVERSIONS and metric.shape is Shape.ADDITIVE and metric.divided_by_k:
            return Target.default(rules.feedback) if request.relevant is None else usual
        inside = metric.shape is not Shape.ADDITIVE and usual is Target.POOLED
        return Target.PER_USER if inside else usual

    return {m: request.targets or (target(m),) for m in request.metrics}


def _estimators(request: Request, rules: Rules) -> tuple[Estimator, ...]:
    """The asked estimators; of the usual ones those that exist for any of the targets."""
    if request.chosen:
        return request.estimators
    targets = {target for each in targets_for(request, rules).values() for target in each}
    return tuple(e for e in request.estimators if targets & e.valid)


def _with_others(request: Request, rules: Rules, aligned: Alignment) -> Request:
    """The request with other debiased estimators, where the log supports none of the usual ones.

    Nobody who gives propensities wants to read a naive answer: where the level of propensities is not known, sums can
    still be estimated by estimators that do without it; else the reasons are an error.
    """
    if request.chosen or request.propensity is None:
        return request
    targets = targets_for(request, rules)
    kept, refusals = sift(targets, _estimators(request, rules), aligned.evidence)
    if not refusals or any(estimator.standing(target).debiased for estimator, target, _ in kept):
        return request
    without_level = ("snips(over=list)", *([] if request.outcome is None else ["sndr"]))
    others, _ = sift(targets, [estimators.make(name) for name in without_level], aligned.evidence)
    if not others:
        raise _refused(refusals)
    return replace(request, estimators=(*request.estimators, *dict.fromkeys(estimator for estimator, _, _ in others)))


def _refused(refusals: Sequence[Refusal], more: str = "") -> RefusedError:
    lines = [f"{r.metric} × {r.estimator} × {r.target}: {r.reason}" for r in refusals]
    said = codes(r.reason for r in refusals)
    return RefusedError(
        "this log cannot support:\n" + "\n".join(lines) + more, code=said[0] if said else "", codes=said
    )


def _depth(metrics: Sequence[Metric], facts: PartFacts) -> int:
    """The deepest rank that can be worth something."""
    ranking = [m for m in metrics if isinstance(m, RankingMetric)]
    depth = max((m.k for m in ranking if m.k is not None), default=1)
    if any(m.k is None for m in ranking):
        depth = max(depth, *(each.depth for each in facts.lists), 0)
    if any(m.k is None and m.shape is Shape.IDEAL for m in ranking):
        depth = max(depth, facts.rows.most_rows)
    if depth > DEEPEST:
        raise InputError(
            f"a list or metric goes down to rank {depth:,}; ranks up to {DEEPEST:,} can be worth something. Use @k.",
            code="too-large",
        )
    return depth


class NoHitsError(InputError):
    """Every score of every model is 0."""


@dataclass(frozen=True)
class Hits(Mergeable):
    """What lists hold of the relevant held-out rows of some users; those of other users are added.

    Args:
        rows: relevant held-out rows.
        first: the best rank at which any model lists any of them; infinite where none does.
        item: the code of an item of the logs.
    """

    rows: int
    first: float = merged_by(min)
    item: int = merged_by(max)

    @classmethod
    def of(cls, held: EvaluationData) -> Hits:
        """Of some users."""
        first, rank = math.inf, np.empty(len(held.item), dtype=np.int32)
        for lists in held.lists:
            find_ranks(held.indptr, held.item, lists.indptr, lists.item, lists.rank, 0, held.users, rank)
            hits = rank[(rank > 0) & (held.value > 0.0)]
            first = min(first, float(hits.min()) if len(hits) else math.inf)
        return cls(int(np.count_nonzero(held.value > 0.0)), first, int(held.item[0]) if len(held.item) else -1)


def refuse_no_hits(
    aligned: Alignment, plan: EvaluationPlan, estimates: Sequence[Estimate], look: Callable[[], Hits]
) -> None:
    """Raise where all that was asked are ranks, and every score of every model is 0; ``look`` says what lists hold."""
    if not all(isinstance(metric, RankingMetric) for run in plan.runs for metric in run.metrics):
        return  # errors of predictions say something, and show that the ids match
    if not estimates or any(estimate.value != 0.0 and not _guessed(estimate) for estimate in estimates):
        return
    if any(run.joined for run in plan.runs):
        return  # nothing relevant among so many answers says something, and intervals tell how much
    hits = look()
    raise NoHitsError(
        f"no list holds any of the {hits.rows:,} relevant held-out interactions where it counts: every score of every "
        f"model is 0, which says nothing of the models.\n{_what_to_check(aligned, hits)}",
        code="no-hits",
    )


def _guessed(estimate: Estimate) -> bool:
    """Whether nothing that was seen carries a value, which a model of unseen pairs gives all the same."""
    return Standing(estimate.standing) is Standing.SCENARIOS and estimate.hits == 0


def _what_to_check(aligned: Alignment, hits: Hits) -> str:
    """The likely remedy first: a larger k, lists without training items, else the ids."""
    if math.isfinite(hits.first):
        first = int(hits.first)
        return f"The first hit stands at rank {first}: ask for a larger k, such as metrics=['recall@{max(first, 10)}']."
    repeats = sum(account.get("training_items_in_lists", 0) for account in aligned.account["models"].values())
    again = aligned.account["test"]["dropped"].get("already in training", 0)
    found = []
    if repeats or again:
        found.append(
            f"{repeats:,} listed items and {again:,} held-out interactions repeat training items, which are no "
            "candidates: judge them with candidates='all', or close the lists up with drop_seen=True."
        )
    found.append(
        "Check that lists and logs mean the same items by the same ids (items of the logs look like "
        f"'{aligned.items.values[hits.item]}'), that lists are long enough, and that they were made for these users."
    )
    return " ".join(found)
