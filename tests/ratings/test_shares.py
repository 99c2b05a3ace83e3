"""Splits: a model fixed in advance is judged without bias, whichever part it is judged on; a memorising one is not.

Of n pairs each was seen with its P and then held out by chance: all 3ⁿ ways (unseen, training, test) are enumerated.
"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.log import Log

VALUE = np.array([[5.0, 1.0], [2.0, 4.0]])
P = np.array([[0.9, 0.3], [0.5, 0.8]])
GUESS = np.array([[4.0, 2.5], [3.0, 3.0]])


def log() -> Log:
    user, item = (index.ravel() for index in np.indices(P.shape))
    columns = {"user": user, "item": item, "value": VALUE.ravel(), "propensity": P.ravel()}
    return Log.from_frame(pl.DataFrame(columns), feedback="ratings")


@pytest.mark.parametrize("candidates", ["all", "unseen"])
@pytest.mark.parametrize("share", [0.3, 1 / 4], ids=["hold-out", "4-fold"])
def test_ips_on_the_test_part_is_unbiased(share: float, candidates: Literal["all", "unseen"]) -> None:
    """P·s over all pairs, or P·s/(1 − P(1−s)) over those outside training: E[R̂ − R] = 0 for fixed predictions.

    Over pairs outside training the target itself depends on the split: (Σ δ outside) / (pairs outside).
    """
    whole, delta = log(), np.abs(GUESS - VALUE).ravel()
    p = P.ravel()
    gap = total = 0.0
    for states in itertools.product((0, 1, 2), repeat=len(p)):  # not seen, training, test
        state = np.array(states)
        ways = np.stack([1.0 - p, p * (1.0 - share), p * share])
        chance = float(np.prod(ways[state, np.arange(len(p))]))
        total += chance
        there = state != 1 if candidates == "unseen" else np.full(len(p), True)
        if not there.any():
            continue  # everything was in training: there is nothing to estimate
        truth = delta[there].mean()
        found = 0.0  # nothing seen: a sum of nothing
        if (state == 2).any() and (state == 1).any():
            test, train = whole.take(state == 2), whole.take(state == 1)
            result = us.evaluate(
                test, {"m": GUESS}, metrics=["mae"], estimators=["ips"], propensity=f"known(share={share})",
                train=train, candidates=candidates, threads=1,
            )  # fmt: skip
            found = result.estimates[0].value
        elif (state == 2).any():  # no training row: nothing to leave out
            scaled = p * share if candidates == "all" else p * share / (1.0 - p * (1.0 - share))
            found = float(np.sum((delta / scaled)[state == 2])) / len(p)
        gap += chance * (found - truth)
    assert total == pytest.approx(1.0)
    assert gap == pytest.approx(0.0, abs=1e-10)
