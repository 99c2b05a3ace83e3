"""Shops that differ from each other, so that another model is the best in each; and what leave-one-out makes of a log.

A world has its own ``sharp``, ``drift``, ``hype`` and ``search``, drawn evenly on a logarithmic scale (``VARIED``).

Leave-one-out takes one of the n rows of a user, so that a wanted item comes to its test rows with P/n, P the propensity
of the log. Users with a single row are never judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unskew.log import Log
from unskew.split import Splits, leave_one_out
from unskew_papers.arrays import present
from unskew_papers.shop.shop import ShopOverTime

VARIED = {"sharp": (0.3, 3.0), "drift": (5.0, 365.0), "hype": (3.0, 40.0), "search": (1.0, 8.0)}


def varied(shop: ShopOverTime, seed: int) -> ShopOverTime:
    """A world of its own."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, len(VARIED)]))
    drawn: dict[str, Any] = {name: float(np.exp(rng.uniform(*np.log(ends)))) for name, ends in VARIED.items()}
    return replace(shop, seed=seed, **drawn)


def left_out(log: Log, repeats: int) -> Splits:
    """Leave-one-out of a log whose propensities are those of rows that are left out."""
    weighed = replace(log, propensity=present(log.propensity) / np.diff(log.indptr)[log.user])
    folds = (replace(fold, log=weighed, sampled_by="") for fold in leave_one_out(weighed, repeats=repeats))
    return Splits(weighed, f"leave_one_out(repeats={repeats}), weighed", tuple(folds))
