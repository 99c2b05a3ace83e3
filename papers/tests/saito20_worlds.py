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
    out = np.empty((3, 2 * len(cuts), len(lists)))
    for c, (name, k) in enumerate([(name, k) for name in ("recall", "dcg") for k in cuts]):
        worth = [1.0 if name == "recall" else 1.0 / math.log2(rank + 1) for rank in range(1, k + 1)]
        for m in range(len(lists)):
            sums, totals, shares = [], [], []
            for u in range(users):
                sums.append(sum(x[u][lists[m][u][r]] * worth[r] for r in range(k)))
                totals.append(sum(x[u]))
                shares.append(min(max(sums[-1] / totals[-1], 0.0), 1.0) if totals[-1] > 0 else 0.0)
            out[:, c, m] = sum(sums) / users, sum(shares) / users, sum(sums) / sum(totals)
    return out


def slipped_dcg(z: Any, y: Any, p: Any, q: Any, lists: Any, k: int) -> list[float]:
    """DCG of every model as the author's code has it.

    The array of guesses is overwritten at ranks 2 … k before the divisor is summed; log2 r from rank 2.
    """
    users, items = len(z), len(z[0])
    found = []
    for m in range(len(lists)):
        values = []
        for u in range(users):
            top = list(lists[m][u][:k])
            order = top + [i for i in range(items) if i not in top]
            guesses = [q[u][i] for i in order]
            value = guesses[0] + z[u][order[0]] * (y[u][order[0]] - guesses[0]) / p[u][order[0]]
            for r in range(2, k + 1):
                i = order[r - 1]
                guesses[r - 1] += z[u][i] * (y[u][i] - guesses[r - 1]) / p[u][i]
                value += guesses[r - 1] / math.log2(r)
            divisor = sum(g + z[u][i] * (y[u][i] - g) / p[u][i] for g, i in zip(guesses, order, strict=True))
            values.append(min(max(value / divisor, 0.0), 1.0) if divisor != 0 else 0.0)
        found.append(sum(values) / users)
    return found
