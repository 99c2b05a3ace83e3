"""Census and tilt (MATHS §15): what holds if unseen pairs are less relevant than seen ones of their kind.

    R = [ Σ_L yλ + Σ_{C∖L} qλ ] / [ Σ_L y + Σ_{C∖L} q ]        q = σ(η − δ + κz)

The held-out log L is a census of what was seen; only the relevance of the unseen candidates C∖L is unknown. A model η,
fitted to L, guesses it, and people tend to see what they like: unseen pairs are less relevant than the model thinks, by
odds of up to Γ = e^δ, and popular ones may be more relevant than others (κ, z standardised log popularity over C∖L).
How much of either is right cannot be told from the log, so none is chosen: R is computed all over the box
0 ≤ δ ≤ log Γ, 0 ≤ κ ≤ slope.

Written with residuals, N_u = Σ_L (y − q)λ + Σ over the list of qλ: λ vanishes beyond the list. Sums per user have the
same numerator and no divisor. The model's own error is part of the standard error (``inference/model_error.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from unskew.core.bounds import Number
from unskew.core.notice import Notice
from unskew.core.parts import Words, option
from unskew.estimators.base import OWN, Batch, Estimator, Need, Standing, Term
from unskew.estimators.scenarios import Axis, Scenario, Scenarios
from unskew.estimators.target import Target

BOX, CORNER = "box", "corner"
ODDS_STEPS, SLOPE_STEPS = 4, 2
ODDS = Axis(
    "odds",
    "factor by which an unseen pair's odds of being relevant are lower than the model's",
    "the odds that an unseen pair is relevant are lower than the model's by a factor of {}",
    start=1.0,
)
SLOPE = Axis(
    "slope",
    "log-odds that one standard deviation of log popularity adds to an unseen pair's",
    "one standard deviation of log popularity adds {} to the log-odds that an unseen pair is relevant",
)


@dataclass(frozen=True)
class Tilted(Estimator):
    """Take what was seen as it is, model the rest, and tilt the model by all that the log cannot tell.

    Args:
        odds: by which factor the odds that an unseen pair is relevant may be lower than the model says.
        slope: how much one standard deviation of log popularity may add to the log-odds of unseen pairs.
        at: the whole box from 1 to these odds and from 0 to this slope, or its far corner alone.
    """

    odds: float = option(4.0, Number(low=1.0, high=1e6), "unseen pairs' odds of being relevant may be lower by this")
    slope: float = option(0.4, Number(low=0.0, high=10.0), "log-odds that popularity may add to unseen pairs")
    at: str = option(BOX, Words((BOX, CORNER)), "the whole box, or its far corner", changed=True)

    name = "tilted"
    valid = frozenset({Target.POOLED, Target.PER_USER_SUM, Target.SUM_POOLED})

    def needs(self, target: Target) -> frozenset[Need]:
        """A census model (seen pairs that brought nothing, a training log), and everybody's lists."""
        return frozenset({Need.CENSUS, Need.LISTS})

    def promise(self, target: Target) -> str:
        """What may be claimed."""
        if self.at == BOX:
            return "holds for every tilt inside the box, if the model of relevance is right up to it"
        return "right if the model of relevance is right up to this tilt"

    def standing(self, target: Target) -> Standing:
        """Nothing inside the box is chosen; a single point of it rests on a model."""
        return Standing.SCENARIOS if self.at == BOX else Standing.MODEL

    @property
    def tilt(self) -> tuple[float, float]:
        """δ and κ at the far corner."""
        return math.log(self.odds), self.slope

    def scenarios(self, target: Target) -> Scenarios:
        """A grid over the box; pooled is the normalised sum, which for relevant or not is the same quantity."""
        under = Target.SUM_POOLED if target is Target.POOLED else target
        single = self.at == CORNER
        odds = [self.odds] if single else _grid([self.odds ** (n / ODDS_STEPS) for n in range(ODDS_STEPS + 1)])
        slopes = [self.slope] if single else _grid([self.slope * n / SLOPE_STEPS for n in range(SLOPE_STEPS + 1)])
        points = [replace(self, odds=each, slope=slope, at=CORNER) for each, slope in product(odds, slopes)]
        return Scenarios(
            axes=(ODDS, SLOPE),
            points=tuple(Scenario((point.odds, point.slope), point, under) for point in points),
            assumption=Notice(
                f"unseen pairs are as relevant as seen ones like them, or less by odds of up to {self.odds:g}, and log "
                f"popularity adds between 0 and {self.slope:g} to their log-odds for each standard deviation",
                code="assumed-range",
            ),
            not_covered=Notice(
                "The box is an assumption: it does not cover unseen pairs that are more relevant than seen ones like "
                f"them, nor less by odds of more than {self.odds:g}, nor tastes that a model has found and the census "
                "model has not.",
                code="beyond-assumed-range",
            ),
        )

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The guesses, and their errors on what was seen."""
        return (Term(np.ones(len(batch.value)), OWN, residual=True, listed=True),)


def _grid(values: list[float]) -> list[float]:
    """Each value once: a box without width has one."""
    return list(dict.fromkeys(values))
