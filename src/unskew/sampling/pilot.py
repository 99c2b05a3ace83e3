"""Where the m-th least key of n lies, guessed from every 256th row.

Of p rows drawn at random, about p·m/n have keys below the m-th least of all, with a standard deviation of at most
√(p·m/n·(1 − m/n)). The keys of those ranks in the pilot that are several deviations away bracket it; where the pilot is
too small for that, the bracket has no end on that side. Rows are chosen by their hash, so by no order. The rows of the
pilot have other keys than in the draw, so that rows which repeat each other have different ones.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unskew.kernels.arrays import Hashes
from unskew.sampling.draw import row_keys
from unskew.sampling.tallies import Tallies, Weights

_TOP = np.uint64(56)  # of 64 bits of a hash, those above decide: one row of 256
MARGIN = 6.0  # standard deviations
WIDER = 4.0  # times the margin, each time that it was too narrow


class Pilot:
    """Some of the rows: ``add`` all of them, piece by piece, then ask for a ``bracket``."""

    def __init__(self) -> None:
        self._rows: list[pl.DataFrame] = []

    def add(self, piece: pl.DataFrame, hashes: Hashes) -> None:
        """Keep some of the rows of a piece."""
        chosen = np.flatnonzero(hashes >> _TOP == 0)
        self._rows.append(piece[chosen].select("user", "item").with_columns(hash=hashes[chosen]))

    def bracket(self, counted: Tallies, weights: Weights, share: float, margin: float) -> tuple[float, float]:
        """Two keys between which the one lies that a share of all keys are below, if the margin is wide enough."""
        rows = pl.concat(self._rows)
        user, item = counted.users.ids.encode(rows["user"]), counted.items.ids.encode(rows["item"])
        weight = weights.user[user] * weights.item[item]
        keys = np.sort(row_keys(rows["hash"].to_numpy(), np.arange(len(rows)), weight))
        middle, apart = len(rows) * share, margin * np.sqrt(len(rows) * share * (1.0 - share))
        low, high = int(middle - apart) - 1, int(middle + apart) + 1
        return float(keys[low]) if low >= 0 else 0.0, float(keys[high]) if high < len(keys) else np.inf
