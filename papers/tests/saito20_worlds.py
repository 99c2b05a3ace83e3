"""Small worlds for the tests of saito20, and its measures written as loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from unskew.log import Ids, Log
from unskew_papers.arrays import Floats
from unskew_papers.saito20.candidates import Training
from unskew_papers.saito20.real import Real

SMALL = Training(epochs=5, rate=0.05, dims=(3,))


def ids(many: int) -> Ids:
    return Ids(pl.Series("id", np.arange(many)))


def small_ratings() -> Log:
    rng = np.random.default_rng(1)
    full = np.clip(np.rint(3.2 + rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))), 1, 5)
    user, item = np.nonzero(rng.random(full.shape) < 0.4)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": full[user, item]}), feedback="ratings")


def small_real(name: str) -> Real | None:
    """Everybody converts often enough to count; there is no Yahoo! R3."""
    if name != "coat":
        return None
    rng = np.random.default_rng(2)
    clicked = rng.random((50, 60)) < 0.4
    return Real(ids(50), ids(60), clicked, clicked & (rng.random((50, 60)) < 0.5), rng.random((50, 60)) < 0.15)


def measured(x: Any, lists: Any, cuts: Sequence[int]) -> Floats:
    """[target, metric, model], user by user and rank by rank; recall at all cuts, then DCG."""
    users = len(x)
    out = np.empty((2, 2 * len(cuts), len(lists)))
    for c, (name, k) in enumerate([(name, k) for name in ("recall", "dcg") for k in cuts]):
        worth = [1.0 if name == "recall" else 1.0 / math.log2(rank + 1) for rank in range(1, k + 1)]
        for m in range(len(lists)):
            total = sum(sum(x[u][lists[m][u][r]] * worth[r] for r in range(k)) for u in range(users))
            out[:, c, m] = total / users, total / sum(sum(row) for row in x)
    return out


def as_coded(z: Any, y: Any, p: Any, q: Any, lists: Any, cuts: Sequence[int]) -> Floats:
    """[metric, model] as the author's code has it: recall at all cuts, DCG without its slips, DCG.

    For DCG the array of guesses is overwritten at ranks 2 … k before the divisor is summed; log2 r from rank 2.
    """
    users, items = len(z), len(z[0])
    out = np.zeros((3 * len(cuts), len(lists)))
    for c, k in enumerate(cuts):
        for m in range(len(lists)):
            for u in range(users):
                top = list(lists[m][u][:k])
                order = top + [i for i in range(items) if i not in top]
                x = [q[u][i] + z[u][i] * (y[u][i] - q[u][i]) / p[u][i] for i in order]
                out[c, m] += ratio(sum(x[:k]), sum(x)) / users
                right = sum(x[r - 1] / math.log2(r + 1) for r in range(1, k + 1))
                out[len(cuts) + c, m] += ratio(right, sum(x)) / users
                guesses = [q[u][i] for i in order]
                guesses[1:k] = x[1:k]
                divisor = sum(g + z[u][i] * (y[u][i] - g) / p[u][i] for g, i in zip(guesses, order, strict=True))
                slipped = x[0] + sum(x[r - 1] / math.log2(r) for r in range(2, k + 1))
                out[2 * len(cuts) + c, m] += ratio(slipped, divisor) / users
    return out


def ratio(part: float, total: float) -> float:
    """Cut to [0, 1]; 0 where the divisor is 0."""
    return min(max(part / total, 0.0), 1.0) if total != 0 else 0.0
