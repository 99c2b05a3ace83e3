"""What an estimator is, read off the terms that it gives for a made-up log, so that nothing of it is declared twice.

Also why its terms do not fit a target: decided before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unskew.core.notice import Notice
from unskew.estimators.base import Batch, Estimator, Need, Normaliser, Over, Term
from unskew.estimators.summary import Histogram, Summary, TrainingRows
from unskew.estimators.target import Target
from unskew.kernels.arrays import Ints32
from unskew.metrics import Metric

T = TypeVar("T")


class _AnyColumn(Mapping[str, T]):
    """A mapping that holds the same under every name: the made-up log has any column that strata may want."""

    def __init__(self, content: T) -> None:
        self._content = content

    def __getitem__(self, name: str) -> T:
        return self._content

    def __iter__(self) -> Iterator[str]:
        return iter(("any",))

    def __len__(self) -> int:
        return 1


_CODES: Ints32 = np.zeros(3, dtype=np.int32)
_HALF = np.full(3, 0.5)
SUMMARY = Summary(
    pairs=Histogram.of(_HALF),
    seen=Histogram.of(_HALF),
    levels=_AnyColumn(("all",)),
    training=TrainingRows(_HALF, _AnyColumn(_CODES)),
    counts=np.ones(1),
)
PROBE = Batch(  # two users, with two pairs and one
    indptr=np.array([0, 2, 3], dtype=np.int64),
    value=np.ones(3),
    propensity=_HALF,
    labels=_AnyColumn(_CODES),
    relevant=np.full(2, 4.0),
    candidates=np.full(2, 8.0),
    rating=np.ones(3),
    q=_HALF,
    q_total=np.full(2, 4.0),
    counted=_CODES,
)


@dataclass(frozen=True, eq=False)
class Traits:
    """What the terms of an estimator under one target tell of it."""

    terms: tuple[Term, ...]

    @property
    def divisors(self) -> tuple[Normaliser, ...]:
        """What each term is divided by."""
        return tuple(term.divisor.kind for term in self.terms)

    @property
    def uses_seen_pairs(self) -> bool:
        """Whether anything that was seen enters; else the estimate rests on a model alone."""
        return any(term.seen is not None for term in self.terms)

    @property
    def corrects_model(self) -> bool:
        """Whether an outcome model is corrected by its errors, so that what a pair adds may be negative."""
        return any(term.residual for term in self.terms)

    @property
    def has_sensitivity(self) -> bool:
        """Whether tipping points can be told: of one ratio whose divisor does not depend on the model."""
        return len(self.terms) == 1 and self.terms[0].sensitivity is not None and Normaliser.LISTED not in self.divisors


def traits(estimator: Estimator, target: Target) -> Traits:
    """The traits of an estimator, prepared or not, under a target that is valid for it."""
    return Traits(estimator.prepare_probe(SUMMARY).terms(PROBE, target))


def terms_refusal(estimator: Estimator, target: Target) -> Notice | None:
    """Why the terms of an estimator mean nothing under a target; ``None`` where they do."""
    found = traits(estimator, target)
    if not found.terms:
        return Notice(f"{estimator} has no terms under {target}.", code="wrong-target")
    own = {Normaliser.USERS} if target is Target.POOLED else set()  # a total per user that the estimator gives itself
    if target is Target.PER_PAIR:
        own = {Normaliser.OWN}
    if not target.sums and any(
        (term.seen is None or term.residual or term.listed) and term.divisor.kind not in own for term in found.terms
    ):
        return Notice(
            f"{estimator} uses predictions of an outcome model, which enter sums per user only, not {target}.",
            code="wrong-target",
        )
    if Normaliser.LISTED in found.divisors and target is not Target.PER_USER_SUM:
        return Notice(
            f"{estimator} divides by the weights of each list, which exist under per_user_sum only, not {target}.",
            code="wrong-target",
        )
    if target.normalised and set(found.divisors) != {Normaliser.OWN}:
        return Notice(f"{estimator} has no normalised form: it is divided already.", code="not-normalised")
    if target is Target.PER_USER_SUM and Normaliser.USERS in found.divisors:
        return Notice(
            f"{estimator} divides by a number per user, and {target} adds up without dividing inside users.",
            code="wrong-target",
        )
    if target is Target.PER_PAIR and estimator.normalised is Over.ITEM and found.divisors != (Normaliser.PAIRS,):
        return Notice(
            f"{estimator} takes ratios per item, which need a single term that is divided by weights of pairs.",
            code="wrong-target",
        )
    needs = estimator.needs(target)
    own_model = {Need.OUTCOME} if {Need.CENSUS, Need.ANSWERS} & needs else set()
    undeclared = sorted(_implied(found, target) - needs - own_model)
    if undeclared:
        return Notice(
            f"{estimator} uses {', '.join(undeclared)} under {target}, and its needs({target}) does not say so.",
            code="undeclared-need",
        )
    return None


def largest_weights_refusal(metric: Metric, estimator: Estimator, target: Target) -> Notice | None:
    """Why a metric that divides by a user's largest weights has none to divide by."""
    divisors = traits(estimator, target).divisors
    if divisors == (Normaliser.PAIRS,):
        return None
    what = "a fixed divisor" if len(divisors) == 1 else "several divisors"
    return Notice(f"{metric} divides by the largest weights; {estimator} has {what}.", code="unweighted-only")


def _implied(found: Traits, target: Target) -> set[Need]:
    """What terms cannot do without."""
    implied: set[Need] = set()
    for term in found.terms:
        if term.divisor.kind is Normaliser.OWN and target in (Target.PER_USER, Target.POOLED):
            implied.add(Need.RELEVANT)
        if term.divisor.kind is Normaliser.OWN and target is Target.PER_PAIR:
            implied.add(Need.CANDIDATES)
        if term.divisor.kind is Normaliser.PAIRS and target is Target.PER_USER_SUM:
            implied.add(Need.CANDIDATES)
        if term.divisor.kind is Normaliser.LISTED or (term.listed and target is not Target.PER_PAIR):
            implied.add(Need.LISTS)
        if term.listed or term.residual:
            implied.add(Need.OUTCOME)
    return implied
