"""Where a fairer test set helps and where it hurts: two worlds whose truth is known exactly.

3,000 users, 100 items, a list of the ten items with the most training rows for everybody. The target is recall@10 over
all relevant pairs outside training. ``exposure``: all items are liked alike, and some are shown more; ``taste``: all
are shown alike, and some are liked more.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.kernels.arrays import Bools, Ints64
from unskew.log import Log

USERS, ITEMS, LIST = 3000, 100, 10


def world(kind: str, seed: int) -> tuple[Log, Log, Ints64, float]:
    """Training rows, held-out rows, the list, and the share of relevant pairs outside training that it holds."""
    rng = np.random.default_rng(seed)
    skew = 0.02 + 0.48 / np.arange(1, ITEMS + 1)
    liked, shown = (np.full(ITEMS, 0.2), skew) if kind == "exposure" else (skew, np.full(ITEMS, 0.2))
    relevant = rng.random((USERS, ITEMS)) < liked
    train, test = (relevant & (rng.random((USERS, ITEMS)) < shown) for _ in range(2))
    test &= ~train
    first = np.argsort(-train.sum(0))[:LIST]
    rest = relevant & ~train
    return log_of(train), log_of(test), first, float(rest[:, first].sum() / rest.sum())


def log_of(seen: Bools) -> Log:
    user, item = np.nonzero(seen)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item}))


def recall(log: Log, first: Ints64) -> float:
    """The share of the rows that the list holds: pooled recall."""
    return float(np.isin(log.items.values.to_numpy()[log.item], first).mean())


def errors(kind: str, strategy: str, worlds: int = 5) -> float:
    """The mean of estimate − truth over some worlds."""
    found = []
    for seed in range(worlds):
        train, test, first, truth = world(kind, seed)
        found.append(recall(us.sample(test, strategy, train=train, seed=seed), first) - truth)
    return float(np.mean(found))


@pytest.mark.parametrize("strategy", ["skew", "wtd_h"])
def test_it_helps_against_exposure_and_hurts_against_taste(strategy: str) -> None:
    """Against uneven exposure a sample is nearer to the truth than the log; against taste the log was right before."""
    assert abs(errors("exposure", strategy)) < 0.5 * abs(errors("exposure", "full"))
    assert abs(errors("taste", "full")) < 0.02 < 0.1 < -errors("taste", strategy)
