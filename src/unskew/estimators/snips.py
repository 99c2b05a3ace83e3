"""Self-normalised inverse propensity scoring (schnabel16 Eq. 11; gs23 §3.1).

    per_user       Σ rλ / Σ r          per_user_sum   (Σ_u |C_u| / Σ_O r) · Σ r y λ / U          r = 1/P
    per_pair       Σ_O rδ / Σ_O r;     over=user, over=item: the mean of the users' (items') own ratios
    per_user_sum, over=list: (Σ_list λ / U) · Σ_O r y λ / Σ_O r λ, the seen pairs of the list only: usually less spread

Any constant factor of P cancels, so relative propensities will do. Over a handful of clicks a user's own ratio leans
towards naive (with one click it is naive); ``pooled`` does not suffer from that.
"""

from __future__ import annotations

from dataclasses import dataclass

from unskew.core.parts import Words, option
from unskew.estimators.base import Batch, Estimator, Need, Over, Sensitivity, Standing, Term, listed, pairs
from unskew.estimators.target import Target


@dataclass(frozen=True)
class SNIPS(Estimator):
    """Weigh by one over the propensity, and divide by the sum of the weights.

    Args:
        over: of averages over pairs: one divisor for all ``pairs``, or one per ``user`` or ``item``, whose ratios are
            averaged. The latter cancel propensities that are off by a factor per user or per item, and describe the
            users or items that were seen at all. Of sums: ``list`` normalises over the seen pairs of the list.
    """

    over: str = option(str(Over.PAIRS), Words(tuple(map(str, Over))), "what is divided by", unnamed=True, changed=True)

    name = "snips"

    @property
    def valid(self) -> frozenset[Target]:  # type: ignore[override]
        """All targets; divisors per user or item are a matter of averages over pairs."""
        if self.normalised is Over.LIST:
            return frozenset({Target.PER_USER_SUM})
        plain = frozenset(target for target in Target if not target.normalised)
        return plain if self.normalised is Over.PAIRS else frozenset({Target.PER_PAIR})

    @property
    def normalised(self) -> Over:
        """Over what averages are normalised."""
        return Over(self.over)

    def needs(self, target: Target) -> frozenset[Need]:
        """Propensities; for sums also the seen zeros and the number of candidates."""
        if target is Target.PER_USER_SUM:
            size = Need.LISTS if self.normalised is Over.LIST else Need.CANDIDATES
            return frozenset({Need.PROPENSITY, Need.ZEROS, size})
        return frozenset({Need.PROPENSITY, *([Need.ZEROS] if target is Target.PER_PAIR else [])})

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        few = "; leans towards naive for users with few clicks" if target is Target.PER_USER else ""
        if self.normalised in (Over.USER, Over.ITEM):
            few = f" per {self.over}; leans towards naive for {self.over}s with few interactions"
        return f"consistent if the propensities are right up to a constant{few}"

    def standing(self, target: Target) -> Standing:
        """Consistent with one divisor for all; ratios inside users or items lean towards naive."""
        inside = target is Target.PER_USER or self.normalised in (Over.USER, Over.ITEM)
        return Standing.LEANS if inside else Standing.CONSISTENT

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """Weight 1/P over the sum of 1/P."""
        inverse = batch.inverse
        divisor = listed(inverse) if self.normalised is Over.LIST else pairs(inverse)
        return (Term(inverse, divisor, sensitivity=Sensitivity(inverse)),)
