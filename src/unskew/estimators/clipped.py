"""Clipping: no weight above 1/τ, in any estimator that weighs by 1/P.

    r → 1 / max(P, τ)

Less variance for some bias; the share of raised pairs is reported. An absolute threshold means nothing for relative
propensities, so for those the threshold is a quantile of the held-out pairs' propensities. ``switch`` is not clipped:
raised pairs would either all be left out by it, which is switch, or none be, which is clipped dr.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from unskew.core.bounds import SHARE
from unskew.core.errors import InputError
from unskew.core.parts import Made, option, part_of
from unskew.estimators.base import Batch, Estimator, Need, Over, Standing, Term
from unskew.estimators.snips import SNIPS
from unskew.estimators.summary import Summary
from unskew.estimators.target import Target
from unskew.kernels.arrays import Bools, present

INNER = Made(part_of("unskew.estimators"), "an estimator")


@dataclass(frozen=True)
class Clipped(Estimator):
    """An estimator whose propensities are raised to a floor."""

    inner: Estimator = option(SNIPS, INNER, "whose weights are clipped", unnamed=True)
    at: float | None = option(None, SHARE, "the least P")
    quantile: float | None = option(None, SHARE, "the least P, as a quantile of held-out pairs")
    floor: float | None = None

    name = "clipped"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.at is None) == (self.quantile is None):
            raise InputError(
                "'clipped' takes either at=… or quantile=…: clipped(snips, quantile=0.01).",
                code="conflicting-arguments",
            )
        if self.inner.unclippable:
            raise InputError(
                f"'{self.inner}' {self.inner.unclippable}", code="not-clippable", estimator=str(self.inner)
            )

    @property
    def valid(self) -> frozenset[Target]:  # type: ignore[override]
        """The inner estimator's targets."""
        return self.inner.valid

    @property
    def innermost(self) -> Estimator:
        """The estimator inside all clips."""
        return self.inner.innermost

    @property
    def needs_level_because(self) -> str:
        """An absolute threshold."""
        own = "an absolute threshold means nothing for relative propensities"
        return self.inner.needs_level_because if self.at is None else own

    def similar(self) -> Iterable[Estimator]:
        """A threshold that relative propensities have too; no clip."""
        return (*(() if self.at is None else (Clipped(self.inner, quantile=0.01),)), self.inner)

    @property
    def normalised(self) -> Over:
        """As the inner estimator."""
        return self.inner.normalised

    def needs(self, target: Target) -> frozenset[Need]:
        """The inner estimator's needs; an absolute threshold needs absolute propensities."""
        return self.inner.needs(target) | ({Need.ABSOLUTE} if self.at is not None else frozenset())

    def prepare(self, summary: Summary) -> Self:
        """Fix the floor; strata edges come from unclipped propensities."""
        quantile = np.array([self.quantile])
        floor = self.at if self.at is not None else float(present(summary.pairs).quantiles(quantile)[0])
        return replace(self, inner=self.inner.prepare(summary), floor=floor)

    def prepare_probe(self, summary: Summary) -> Self:
        """As the inner estimator, with any floor."""
        return replace(self, inner=self.inner.prepare_probe(summary), floor=0.0)

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        return f"clipped, biased on purpose; otherwise {self.inner.promise(target)}"

    def standing(self, target: Target) -> Standing:
        """Clips trade bias for spread."""
        return Standing.BIASED

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The inner estimator's terms over raised propensities."""
        floor = max(present(self.floor), batch.floor)
        below = present(batch.propensity) < floor
        terms = self.inner.terms(replace(batch, floor=floor), target)
        own = (int(np.count_nonzero(below & _counts(t, batch, target))) for t in terms)
        return tuple(replace(t, raised=max(t.raised, n)) for t, n in zip(terms, own, strict=True))  # of clips in clips


def _counts(term: Term, batch: Batch, target: Target) -> Bools:
    """The pairs that enter a term: those that weigh something, times y, y − q or, for averages over pairs, 1."""
    if term.seen is None:
        return np.zeros(len(batch.value), dtype=np.bool_)
    return np.asarray(term.seen * term.counted(batch, target) != 0.0)
