"""What is summed over the pairs of each user: an estimator's terms with what every pair counts, and their divisors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.engine.data import user_sums
from unskew.estimators.base import Batch, Normaliser, Term
from unskew.estimators.target import Target
from unskew.kernels.arrays import Floats, present


@dataclass(frozen=True, eq=False)
class Summand:
    """One sum over pairs.

    Args:
        seen: a weight per seen pair; ``None`` where seen pairs do not enter.
        counted: what every seen pair counts besides its weight: y, y − q, or 1 where costs hold the value.
        divisor: the divisor of every user; ``None`` where the target has none.
        numbers: the weights per pair that a divisor by pairs, or by the list, is the sum of.
        raised: how many pairs a clip raised, or switch left out.
        listed: how many times q of listed pairs is added.
    """

    seen: Floats | None
    counted: Floats
    divisor: Floats | None = None
    numbers: Floats | None = None
    raised: int = 0
    listed: int = 0

    @classmethod
    def of(cls, term: Term, batch: Batch, target: Target) -> Summand:
        """A term's sum."""
        divisor = None if target.sums and term.divisor.kind is not Normaliser.PAIRS else divisor_of(term, batch, target)
        counted = term.counted(batch, target)
        return cls(term.seen, counted, divisor, term.divisor.numbers, term.raised, int(term.listed))

    @cached_property
    def weight(self) -> Floats | None:
        """What every seen pair weighs and counts."""
        return None if self.seen is None else self.seen * self.counted


def divisor_of(term: Term, batch: Batch, target: Target) -> Floats:
    """The divisor of every user; by pairs it is Σ w, and Σ w·y where only relevant items count."""
    if term.divisor.kind is Normaliser.OWN:
        return present(batch.candidates if target is Target.PER_PAIR else batch.relevant)
    numbers = present(term.divisor.numbers)
    if term.divisor.kind is Normaliser.USERS:
        return numbers
    only_relevant = target in (Target.PER_USER, Target.POOLED)
    return user_sums(batch, numbers * batch.value if only_relevant else numbers)


def added(summands: Sequence[Summand], batch: Batch, *, divided: bool) -> Summand:
    """One sum for several: their weights are added pair by pair, divided inside each user where that is asked for."""
    if len(summands) == 1:
        return summands[0]
    lengths, weight = np.diff(batch.indptr), np.zeros(len(batch.value))
    counts = np.ones(batch.users)
    for summand in summands:
        if divided:
            counts[present(summand.divisor) <= 0.0] = 0.0
        if summand.weight is not None:
            share = np.ones(batch.users)
            if divided and summand.divisor is not None:
                share = np.divide(1.0, summand.divisor, out=np.zeros(batch.users), where=summand.divisor > 0.0)
            weight += np.repeat(share, lengths) * summand.weight
    return Summand(
        seen=weight if any(summand.seen is not None for summand in summands) else None,
        counted=np.ones(len(batch.value)),
        divisor=counts if divided else None,
        raised=max(summand.raised for summand in summands),
        listed=sum(summand.listed for summand in summands),
    )
