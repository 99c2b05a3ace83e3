"""The census model of one evaluation: fitted to all held-out rows, and summed over all candidates under every tilt.

Up to a thousand million pairs every candidate is looked at; beyond, every step-th of each user's, from a start that a
hash of the user chooses. Users are then still independent of each other, so that the sample's error is part of the
standard error like any other difference between users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.alignment.align import Aligned
from unskew.core.memory import require
from unskew.engine.census import Census as CensusData
from unskew.engine.census import Tilt
from unskew.engine.plan import EvaluationPlan
from unskew.engine.walk import walk
from unskew.kernels.arrays import Floats
from unskew.kernels.census import candidate_totals
from unskew.kernels.hashing import pair_uniform
from unskew.log.recommendations import exclusions
from unskew.outcome import Outcome
from unskew.outcome.census import Census
from unskew.outcome.census_features import PairFeatures
from unskew.propensity import FitInputs

MOST_PAIRS = 1_000_000_000
CELLS = 1 << 22  # pairs that one thread looks at before it tells of its progress


@dataclass(frozen=True, eq=False)
class FittedCensus:
    """The model over the evaluation's users and items, and what to tell of it, as plain values."""

    data: CensusData
    account: dict[str, Any]


def fit_census(
    given: Outcome | None,
    aligned: Aligned,
    plan: EvaluationPlan,
    threads: int | None,
    progress: Callable[[int, int], None] | None = None,
    *,
    most_pairs: int = MOST_PAIRS,
) -> FittedCensus:
    """Fit the census model that was given, else the usual one.

    Args:
        given: an outcome model; one that is no census serves other estimators.
        most_pairs: beyond so many candidate pairs a sample of them is looked at.
    """
    model = (given if isinstance(given, Census) else Census()).copy()
    rows = aligned.rows
    found = model.fit(rows, inputs=FitInputs(train=aligned.train)).state
    features = model.features(aligned.users, aligned.items)
    z = _popularity(aligned)
    runs = [run for run in plan.runs if run.estimator.tilt is not None]
    tilts = {tilt: n for n, tilt in enumerate(dict.fromkeys(r.estimator.tilt for r in runs)) if tilt is not None}
    pairs = len(aligned.users) * len(aligned.logged)
    step = max(1, -(-pairs // most_pairs))
    totals = np.empty((0, len(tilts), 5))
    if any(run.target.normalised for run in runs):
        totals = _totals(features, found.theta, z, list(tilts), aligned, step, threads, progress)
    account = {
        "model": str(model),
        "rows": len(rows),
        "coefficients": found.coefficients,
        "pairs": pairs,
        "looked_at_every": step,
    }
    data = CensusData(
        features=features,
        theta=found.theta,
        z=z,
        inverse=np.asarray(np.linalg.inv(found.hessian), dtype=np.float64),
        scores=found.scores,
        outer=found.scores.T @ found.scores,
        tilts=tilts,
        totals=totals,
    )
    return FittedCensus(data, account)


def _popularity(aligned: Aligned) -> Floats:
    """z: log(1 + n_i), n_i the training rows of an item, standardised over the unseen candidate pairs."""
    assert aligned.seen_counts is not None
    number = np.log1p(aligned.seen_counts)
    seen = np.bincount(aligned.rows.item, minlength=len(number)).astype(np.float64)
    if aligned.excluded is not None:
        _, gone = exclusions(aligned.excluded, aligned.users, aligned.items)
        seen += np.bincount(gone, minlength=len(number))
    weight = np.where(aligned.items.into(aligned.logged) >= 0, len(aligned.users) - seen, 0.0)
    if not weight.sum() > 0.0:
        return np.zeros(len(number))
    mean = float(weight @ number / weight.sum())
    spread = float(np.sqrt(weight @ (number - mean) ** 2 / weight.sum()))
    return (number - mean) / spread if spread > 1e-9 else np.zeros(len(number))


def _totals(
    features: PairFeatures,
    theta: Floats,
    z: Floats,
    tilts: list[Tilt],
    aligned: Aligned,
    step: int,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Σ q and the sums that its derivative is made of, over each user's candidates, (users, tilts, 5)."""
    users = len(aligned.users)
    require(40 * users * len(tilts), "totals over unseen candidates", "Take fewer users, or an estimator without them.")
    items = np.flatnonzero(aligned.items.into(aligned.logged) >= 0).astype(np.int32)
    gone_start, gone = exclusions(aligned.excluded, aligned.users, aligned.items)
    of_user = theta[0] + features.user @ theta[3:5]
    of_item = features.item @ theta[1:3]
    against = np.ascontiguousarray(np.stack([np.exp(delta - kappa * z) for delta, kappa in tilts], axis=1))
    start = np.zeros(users, dtype=np.int64)
    if step > 1:
        drawn = pair_uniform(0, aligned.users.hashes, np.zeros(users, dtype=np.uint64))
        start = np.minimum((drawn * step).astype(np.int64), step - 1)
    numbers = [np.ascontiguousarray(part) for part in (features.user_factors, features.item_factors, features.item)]

    def one(low: int, high: int) -> Floats:
        out = np.empty((high - low, len(tilts), 5))
        candidate_totals(
            low, high, items, gone_start, gone, of_user, of_item, *numbers, features.offset, theta[5], against, start,
            step, out,
        )  # fmt: skip
        return out

    block = max(1, CELLS * step // max(1, len(items)))
    return np.concatenate([*walk(users, one, threads, block, progress)])
