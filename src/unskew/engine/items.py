"""Ratios per item (``snips(over=item)``): the mean over items of Σ rδ / Σ r over the item's seen pairs.

Sums over items do not belong to any user, so there is no error clustered by user: a point estimate only.
"""

from __future__ import annotations

import numpy as np

from unskew.engine.held import Floats, Held
from unskew.engine.rated import RatedArm
from unskew.inference.tally import Tally


def item_ratios(held: Held, arm: RatedArm) -> tuple[Floats, Tally]:
    """The estimate of every metric and model, (metrics, models), and the tally of the weights."""
    batch, ranked = held.batch(0, held.users), held.ranked(0, held.users)
    (term,) = arm.estimator.terms(batch, arm.target)
    assert term.seen is not None
    assert term.divisor.numbers is not None
    below = np.bincount(held.item, weights=term.divisor.numbers)
    there = below > 0.0
    values = np.full((len(arm.metrics), arm.models), np.nan)
    for t in range(len(arm.metrics)):
        for j, model in enumerate(ranked):
            above = np.bincount(held.item, weights=term.seen * arm.costs(batch, model, t))
            if there.any():
                mean = np.mean(above[there] / below[there])
                values[t, j] = np.sqrt(mean) if arm.metrics[t].root else mean
    tally = Tally.of(batch.indptr, term.seen, 1.0 / below[held.item], np.ones(batch.users), term.raised)
    return values, tally
