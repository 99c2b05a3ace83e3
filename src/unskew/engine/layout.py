"""The columns of an estimator's cells, target by target: how the sums of users become estimates.

With s_t the weighted sum over a user's items under term t of an estimator (for one metric and model) and d_t the
term's divisor, an estimate is the sum over terms of the product over factors of Σ_u a / Σ_u b:

    per_user                   (Σ_t s_t/d_t, 1)            over the users for whom all d_t > 0
    per_pair, over=user        the same
    pooled, per_pair           (s_t, d_t)
    per_user_sum               (s_t, 1)                    the target's own divisor
                               (s_t, Σ w)(|C_u|, 1)        divided by pairs
                               (s_t, Σ w·worth)(L, 1)      divided by the list; L = Σ over the list of worth
    normalised=pooled          (Σ_t s_t, D)                D = the estimated total over all candidates
    normalised=per_user        (Σ_t s_t/D, 1)              cut to [0, 1], 0 where D ≤ 0
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from unskew.estimators.base import Normaliser, Over
from unskew.estimators.target import Target


class Kind(StrEnum):
    """What a block of columns holds."""

    SUM = "s"  # by metric and model, as the next three
    LIST_WEIGHT = "Σ w·worth"
    LIST_WORTH = "L"
    LIST_OUTCOMES = "Σ q·worth"  # over the list, by itself: what no propensity changes
    DIVISOR = "d"
    COUNTS = "all d > 0"
    ANY_WEIGHT = "Σ w > 0"
    CANDIDATES = "|C|"
    TOTAL = "D"
    ONE = "1"
    SCORE = "s of a fitted model"  # one column for each of its coefficients


BY_MODEL = frozenset({Kind.SUM, Kind.LIST_WEIGHT, Kind.LIST_WORTH, Kind.LIST_OUTCOMES})

Block = tuple[Kind, int]  # and the term that it belongs to; 0 where terms share it
Factors = tuple[tuple[Block, Block], ...]

ONE: Block = (Kind.ONE, 0)


def divides_inside_users(target: Target, over: Over) -> bool:
    """Whether sums are divided user by user before users are put together."""
    return target is Target.PER_USER or (target is Target.PER_PAIR and over is Over.USER)


def factors(target: Target, divisors: tuple[Normaliser, ...], over: Over) -> tuple[Factors, ...]:
    """The factors of every term; terms that are added up inside users are one."""
    if divides_inside_users(target, over):
        return ((((Kind.SUM, 0), (Kind.COUNTS, 0)),),)
    if target.normalised:
        return ((((Kind.SUM, 0), (Kind.TOTAL, 0) if target is Target.SUM_POOLED else ONE),),)
    found: list[Factors] = []
    for t, divisor in enumerate(divisors):
        if not target.sums:
            found.append((((Kind.SUM, t), (Kind.DIVISOR, t)),))
        elif divisor is Normaliser.PAIRS:
            found.append((((Kind.SUM, t), (Kind.DIVISOR, t)), ((Kind.CANDIDATES, 0), ONE)))
        elif divisor is Normaliser.LISTED:
            found.append((((Kind.SUM, t), (Kind.LIST_WEIGHT, t)), ((Kind.LIST_WORTH, t), ONE)))
        else:
            found.append((((Kind.SUM, t), ONE),))
    return tuple(found)


@dataclass(frozen=True)
class Layout:
    """Where every block of columns stands.

    Args:
        terms: the factors of every term.
        metrics, models: how many there are.
        more: blocks that no factor holds.
    """

    terms: tuple[Factors, ...]
    metrics: int
    models: int
    more: tuple[Block, ...] = ()

    @cached_property
    def starts(self) -> dict[Block, int]:
        """The first column of every block."""
        blocks = [block for term in self.terms for pair in term for block in pair]
        found, place = {}, 0
        for block in dict.fromkeys((*blocks, *self.more)):
            found[block] = place
            place += self.metrics * self.models if block[0] in BY_MODEL else 1
        return found

    @cached_property
    def width(self) -> int:
        """How many columns there are."""
        last = list(self.starts)[-1]
        return self.starts[last] + (self.metrics * self.models if last[0] in BY_MODEL else 1)

    def columns(self, block: Block, metric: int) -> list[int]:
        """The columns of a block for one metric: one per model, or one for all."""
        first = self.starts[block]
        if block[0] not in BY_MODEL:
            return [first]
        return list(range(first + metric * self.models, first + (metric + 1) * self.models))
