"""Ratings 1 … R from any values, with given shares (schnabel16 §6.2).

The lowest p₁ of all pairs get a 1, the next p₂ a 2, and so on: values keep their order, and the shares come out as
asked to the nearest pair. Equal values at a border are ordered by the hash of (user, item).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log import Ids, Log
from unskew.simulate.noise import uniform_of

Ratings = npt.NDArray[np.int8]

# Shares of the ratings 1 … 5. schnabel16 takes them from Marlin & Zemel 2009; these are the ones behind its Table 1.
SCHNABEL16 = (0.5263, 0.2419, 0.1447, 0.0616, 0.0255)
FEWEST, MOST = 3, 20  # different ratings


def to_ratings(values: npt.NDArray[Any], marginals: Sequence[float], users: Ids, items: Ids) -> Ratings:
    """The rating of every pair of a full matrix, by the quantile of its value.

    Args:
        values: [users, items], whatever their scale.
        marginals: the share of each rating, from 1 upwards.
    """
    shares = np.asarray(marginals, dtype=np.float64)
    if not FEWEST <= len(shares) <= MOST or (shares < 0.0).any() or not np.isclose(shares.sum(), 1.0, atol=1e-6):
        shown = plain(", ".join(f"{share:g}" for share in shares))
        raise InputError(
            f"marginals are the shares of the ratings 1, 2, 3, …: {FEWEST} to {MOST} numbers, none negative, that add "
            f"up to 1; not {shown} (sum {shares.sum():g}).",
            code="bad-value",
            option="marginals",
        )
    flat = values.reshape(-1)
    borders = np.round(np.cumsum(shares)[:-1] * flat.size).astype(np.int64)  # pairs below each border
    cuts = np.unique(np.partition(flat, borders[borders < flat.size])[borders[borders < flat.size]])
    out = np.ones(flat.size, dtype=np.int8)
    for cut in cuts:
        at = np.flatnonzero(flat == cut)
        below = int(np.count_nonzero(flat < cut))
        out[flat > cut] = 1 + np.searchsorted(borders, below + len(at), side="right")
        by_hash = at[np.argsort(uniform_of("quantiles", users, items, at), kind="stable")]
        out[by_hash] = 1 + np.searchsorted(borders, below + np.arange(len(at)), side="right")
    return out.reshape(values.shape)


def marginals_of(log: Log) -> tuple[float, ...]:
    """The shares of a log's own ratings, the lowest first."""
    if log.value is None or len(log) == 0:
        raise InputError(
            f"{log.account.source}: the shares of its ratings are asked for, and this log has none.",
            code="missing-column",
            column="value",
        )
    values, counts = np.unique(log.value, return_counts=True)
    if not FEWEST <= len(values) <= MOST:
        raise InputError(
            f"{log.account.source}: its own ratings were to be used, but it has {len(values):,} different ones; "
            f"{FEWEST} to {MOST} are possible. Round them, or give the shares of the ratings 1, 2, 3, … yourself.",
            code="bad-value",
            column="value",
        )
    return tuple(float(count) / len(log) for count in counts)
