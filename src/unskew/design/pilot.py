"""What answers so far say about the plan's guesses: is q too sure, or too low, where lists differ?

    f = Σ_S (y − q)² Var(λ) / π  ÷  Σ q (1 − q) Var(λ)        of variances
    g = Σ_S y 1{Var(λ) > 0} / π  ÷  Σ_S q 1{Var(λ) > 0} / π   of expected positives

Sums over the answers stand for all pairs where lists differ; below 20 answers both stay 1. They change how many rows
are said to be needed, never the probabilities of a draw (``rounds.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.core.notice import Notice
from unskew.design.listed import Looked
from unskew.design.power import ANSWERS
from unskew.design.rounds import Asked
from unskew.kernels.arrays import Floats
from unskew.log import Recommendations
from unskew.outcome.base import PairPredictor


@dataclass(frozen=True)
class Pilot:
    """f and g, whether answers told them, and what to tell of them."""

    variance: float = 1.0
    hits: float = 1.0
    informs: bool = False
    notes: tuple[str, ...] = ()


def pilot_of(asked: Asked, looked: Looked, lists: Sequence[Recommendations], worth: Floats, q: PairPredictor) -> Pilot:
    """The factors that the answers so far suggest."""
    order = np.lexsort((asked.item, asked.user))
    user, item = asked.user[order].astype(np.int32), asked.item[order].astype(np.int32)
    y, p = asked.value[order], asked.together[order]
    given = np.stack([_worth(each, user, item, worth) for each in lists], axis=1)
    spread = given.var(axis=1)
    use = ~np.isnan(y) & (spread > 0.0)
    answered, lacking = int(np.count_nonzero(~np.isnan(y))), int(np.count_nonzero(np.isnan(y)))
    rest = f", and {lacking:,} that were asked about are not." if lacking else "."
    notes = [Notice(f"{answered:,} rows are answered so far{rest}", code="answered", rows=answered, lacking=lacking)]
    models = given.shape[1]
    whole = float(looked.stakes.variance.sum()) / 2.0 / models**2
    chance = q(user, item)
    expected = float((chance / p)[use].sum())
    if np.count_nonzero(use) < ANSWERS or not whole > 0.0 or not expected > 0.0:
        notes.append(
            Notice(
                f"Fewer than {ANSWERS} answers lie where lists differ: the plan's guesses are kept.", code="few-answers"
            )
        )
        return Pilot(notes=tuple(notes))
    variance = float((((y - chance) ** 2 * spread / p)[use]).sum()) / whole
    ratio = float((y / p)[use].sum()) / expected
    notes.append(
        Notice(
            f"Answers so far vary {variance:.2g} times as much as expected, and {ratio:.2g} times as many are "
            "positive; the numbers of rows take that into account.",
            code="answers-vary",
        )
    )
    return Pilot(variance, ratio, True, tuple(notes))


def _worth(lists: Recommendations, user: np.ndarray, item: np.ndarray, worth: Floats) -> Floats:
    """What a model's list gives to some pairs."""
    out = np.zeros(len(user))
    for row, (u, i) in enumerate(zip(user, item, strict=True)):
        own = slice(lists.indptr[u], lists.indptr[u + 1])
        at = np.flatnonzero(lists.item[own] == i)
        if len(at) and lists.rank[own][at[0]] < len(worth):
            out[row] = worth[lists.rank[own][at[0]]]
    return out
