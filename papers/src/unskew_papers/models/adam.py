"""Logistic matrix factorisation of outcomes as saito20 ran it: Adam on batches of rows, weighted by 1/P (Eq. 8).

    min of   −Σ w [ y log q + (1 − y) log(1 − q) ] / Σ w  +  ½ l2 (Σ|v_u|² + Σ|w_i|²),   w = 1/P

5,000 batches of 256 rows, drawn with replacement, rate 1e-3, l2 1e-5, 10 factors, in sample, nothing held out. Factors
start uniform in ±√(6/(rows + dim)) (Glorot & Bengio 2010), offsets as small noise. For the reproduction: with few rows
it learns them by heart, and ``logistic_mf`` finds the same kind of model faster and knows when to stop.

``factorise`` fits the same model to any rows, also with squared loss (ratings) or to seen and unseen pairs (Eq. 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew import InputError, outcome
from unskew.core import COUNTLESS, Whole, option, require
from unskew.log import Log
from unskew.outcome import Factored, Found, Rows, refuse_graded, with_rows
from unskew.propensity import FitInputs
from unskew_papers.arrays import Floats, Ints32
from unskew_papers.kernels.adam import descend
from unskew_papers.models.options import DIM, NOT_NEGATIVE, POSITIVE, SEED

AT_ONCE = 500  # steps whose batches are drawn together, where that are no more rows than
DRAWN = 1 << 22
STEPS = Whole(1, 1_000_000, COUNTLESS)
BATCH = Whole(1, 10_000_000, COUNTLESS)
SMALL = 10_000  # rows of a batch that may be more than there are

Codes = Ints32


@outcome.register
@dataclass(frozen=True)
class AdamMF(Factored):
    """Factors and offsets of users and items, by Adam."""

    dim: int = option(10, DIM, "factors")
    rate: float = option(1e-3, POSITIVE, "of learning")
    l2: float = option(1e-5, NOT_NEGATIVE, "penalty")
    steps: int = option(5000, STEPS, "of learning")
    batch: int = option(256, BATCH, "pairs of a step")
    seed: int = option(0, SEED, "of start and draws")
    found: Found | None = field(default=None, compare=False, repr=False)

    name = "adam_mf"

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Fit to the seen pairs. Users and items without rows keep their random start, as in saito20."""
        refuse_graded(log, rows, self.name)
        if self.batch > max(len(log), SMALL):
            raise InputError(
                f"'adam_mf': batch={self.batch:,} is more than the {len(log):,} training rows, which a step would "
                "only repeat. Give a smaller one: batch=256.",
                code="too-large",
                option="batch",
            )
        weight, shape = rows.inverse * rows.times, (len(log.users), len(log.items))
        user, item, level = factorise(log.user, log.item, rows.y, weight, shape, self)
        return self.remember(found=Found(log.users, log.items, *with_rows(log, rows), user, item, level))


def factorise(
    user: Codes,
    item: Codes,
    y: Floats,
    weight: Floats,
    shape: tuple[int, int],
    options: AdamMF,
    *,
    squared: bool = False,
) -> tuple[Floats, Floats, float]:
    """Factors of users and items with their offset last, and c: σ(z) is a probability, or z a value (``squared``)."""
    require(48 * sum(shape) * (options.dim + 1), f"'{options}'", "Take a smaller dim.")
    rng = np.random.default_rng(options.seed)
    users, items = (_start(rng, rows, options.dim) for rows in shape)
    level, moments = np.array([1e-3]), np.zeros((2, users.size + items.size + 1))
    at_once = min(AT_ONCE, max(1, DRAWN // options.batch))
    for done in range(0, options.steps, at_once):
        batches = rng.integers(0, len(y), (min(at_once, options.steps - done), options.batch), dtype=np.int32)
        descend(batches, user, item, y, weight, users, items, level, moments, done, options.rate, options.l2, squared)
    if not (np.isfinite(users).all() and np.isfinite(items).all() and np.isfinite(level).all()):
        raise InputError(
            f"'{options}': the factors grew beyond all bounds. Take a smaller rate, or a larger l2.", code="not-settled"
        )
    return users, items, float(level[0])


def _start(rng: np.random.Generator, rows: int, dim: int) -> Floats:
    """Glorot's uniform factors and small offsets."""
    reach = np.sqrt(6.0 / (rows + dim))
    return np.hstack([rng.uniform(-reach, reach, (rows, dim)), rng.normal(0.0, 0.01, (rows, 1))])
