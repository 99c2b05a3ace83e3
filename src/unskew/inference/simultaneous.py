"""One simultaneous level for all verdicts that are read together: pairs of models, times segments (MATHS §13).

If all models were equal, the standardised differences of all pairs would be jointly normal, with correlations that the
models' covariance tells: max-|t| of draws from that distribution says how large the largest of them gets by chance.
The error probability α* that each single comparison may have follows from it; tests, intervals and adjusted p-values
all use α*, so they always agree.

    α* = 2 (1 − Φ(z)),  z = the level's quantile of max |Z_a − Z_b| / √Var(Z_a − Z_b)        α/K ≤ α* ≤ α

Segments share users, and how much is not known from their sums. They count as independent, which errs on the safe
side: for normal variables symmetric events never hold less often together than independent ones (Royen 2014).

Draws come from merged sums and a fixed stream of random numbers: no second pass, the same numbers in every engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from unskew.kernels.arrays import Floats, Ints64

DRAWS = 50_000  # the level is then right to ± 0.1 of a percentage point
NUMBERS = 40_000_000  # pairs × draws at most; many models get fewer draws, at least ...
FEWEST_DRAWS = 4_000


class Family(NamedTuple):
    """The pairs of models of one table, by the covariance of the models' estimates and the pairs that differ."""

    covariance: Floats
    pairs: tuple[tuple[int, int], ...]

    @property
    def errors(self) -> Floats:
        """The standard error of each pair's difference."""
        a, b = (np.array(side, dtype=np.int64) for side in zip(*self.pairs, strict=True))
        c = self.covariance
        return np.sqrt(np.maximum(c[a, a] + c[b, b] - 2.0 * c[a, b], 0.0))

    @classmethod
    def of(cls, covariance: Floats, differ: Ints64) -> Family:
        """The pairs that can be compared at all: models that differ for some user, with an error."""
        models = len(covariance)
        scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        pairs = [
            (a, b)
            for a, b in combinations(range(models), 2)
            if differ[a, b]
            and (error := covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]) > 0.0
            and error > 1e-14 * scale[a] * scale[b]
        ]
        return cls(covariance, tuple(pairs))


def single_error(families: Sequence[Family], level: float) -> float:
    """α*: the error probability of each comparison, so that any false verdict among all has probability 1 − level."""
    alpha = 1.0 - level
    kept = [family for family in families if family.pairs]
    count = sum(len(family.pairs) for family in kept)
    if count <= 1:
        return alpha
    draws = max(FEWEST_DRAWS, min(DRAWS, NUMBERS // count))
    random = np.random.default_rng(20_231_113)
    largest = np.zeros(draws)
    for family in kept:
        np.maximum(largest, _largest(family, random, draws), out=largest)
    z = float(np.quantile(largest, level, method="higher"))
    return min(alpha, max(math.erfc(z / math.sqrt(2.0)), alpha / count))


def _largest(family: Family, random: np.random.Generator, draws: int) -> Floats:
    """max over pairs of |Z_a − Z_b| / its error, in every draw."""
    if len(family.pairs) == 1:
        return np.abs(random.standard_normal(draws))
    order = np.argsort(np.diag(family.covariance), kind="stable")  # so that the order of the models does not matter
    roots, axes = np.linalg.eigh(family.covariance[np.ix_(order, order)])
    signs = np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(len(roots))])
    z = np.empty((len(roots), draws))
    z[order] = (axes * signs * np.sqrt(np.maximum(roots, 0.0))) @ random.standard_normal((len(roots), draws))
    out = np.zeros(draws)
    for (a, b), error in zip(family.pairs, family.errors, strict=True):
        np.maximum(out, np.abs(z[a] - z[b]) / error, out=out)
    return out
