"""Poisson bootstrap by user: every replicate weighs each user by an independent Poisson(1) number.

The weight is a hash of (seed, the user id's text, the replicate's number), so it is the same whatever the batching, the
order of users or the engine, and replicates merge like any sum. Ratios are recomputed in every replicate; those whose
divisor is empty are dropped and counted.
"""

from __future__ import annotations

import math

import numpy as np

from unskew.kernels.arrays import Floats, Hashes
from unskew.kernels.bootstrap import draw, resample
from unskew.kernels.hashing import mix


def _limits() -> Hashes:
    """P(Poisson(1) ≤ w) on the scale of 64 bits, w = 0, 1, …: the quantiles that a uniform hash is compared with."""
    below = [sum(math.exp(-1.0) / math.factorial(j) for j in range(w + 1)) for w in range(16)]
    return np.array([int(p * 2**64) for p in below if p * 2**64 < 2**64 - 1], dtype=np.uint64)


LIMITS = _limits()


def replicate_sums(x: Floats, hashes: Hashes, seed: int, replicates: int) -> Floats:
    """Column sums of a block of users in every replicate, (replicates, columns)."""
    out = np.zeros((x.shape[1], replicates))
    resample(np.ascontiguousarray(x.T), hashes, np.uint64(mix(np.uint64(seed))), LIMITS, out)
    return out.T


def user_weights(hashes: Hashes, seed: int, replicate: int) -> Floats:
    """The weights of all users in one replicate, the same as in ``replicate_sums``."""
    out = np.empty(len(hashes))
    draw(hashes, np.uint64(mix(np.uint64(seed))), replicate, LIMITS, out)
    return out
