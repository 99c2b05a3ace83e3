"""Bootstrap replicates of an estimate whose propensities were fitted to users who are drawn as well.

A replicate draws users once, for training and test alike: a user has the same weight ω in both. It would seem natural
to fit the propensity anew to the drawn training users, and to take percentiles. That fails where it is needed most:
1/P̂ is convex in counts that vary much where training is small. Estimates are then off by some b of the order 1/n,
replicates are off by b once more, and draws that leave out most rows of a rare item stretch the interval. Replicates
therefore go a small step ε towards the draw, and the step is prolonged. With T_b(w) the estimate under propensities
fitted with training weights w and test users weighted by ω_b, and T_0 that with all test users weighing the same:

    w_b = 1 + ε (ω_b − 1)
    d_b = [T_b(w_b) − T_b(1)] / ε                        what the draw changes through P̂, to first order
    c   = mean over b of [T_0(w_b) − T_0(1)] / ε²        what the curve of 1/P̂ adds to the estimate T_0(1)

The mean d̄ of d_b is ε c and what users common to training and test bring (their draws go together). By fitting P̂ the
estimate is off by d̄ + (1 − ε) c, and T_b(1) + d_b by d̄ more, so that replicates

    θ_b = T_b(1) + d_b − 2 d̄ − (1 − ε) c

lie around the truth. Their percentiles need not have the estimate in the middle, or inside; their mean is the corrected
estimate, and verdicts are about differences of such means. No step leaves out a user, so that every item keeps its
training support.
"""

from __future__ import annotations

import numpy as np

from unskew.kernels.arrays import Floats

STEP = 0.25  # ε: small enough for the first order, large enough that c is not drowned by 1/(ε √replicates)


def stepped(weights: Floats) -> Floats:
    """Weights a step away from everybody once, towards the draw."""
    return np.asarray(1.0 + STEP * (weights - 1.0))


def prolonged(value: Floats, drawn: Floats, near: Floats, alike: Floats) -> Floats:
    """θ_b, (replicates, models); replicates that do not exist (NaN) are left out of the means.

    Args:
        value: T_0(1) of every model.
        drawn: T_b(1), (replicates, models).
        near: T_b(w_b).
        alike: T_0(w_b).
    """
    change = (near - drawn) / STEP
    there = np.isfinite(change).all(axis=1)
    if not there.any():
        return change
    curve = (alike[there].mean(axis=0) - value) / STEP**2
    return np.asarray(drawn + change - 2.0 * change[there].mean(axis=0) - (1.0 - STEP) * curve)


def corrected(replicates: Floats) -> Floats:
    """The corrected estimate of every model: the mean of the replicates that exist, NaN where there is none."""
    there = np.isfinite(replicates).all(axis=1)
    return np.asarray(replicates[there].mean(axis=0) if there.any() else np.full(replicates.shape[1], np.nan))
