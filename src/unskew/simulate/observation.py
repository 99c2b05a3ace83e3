"""Who gets to rate what: the better the rating, the likelier it is seen (schnabel16 §6.2).

    P_ui = min(1, k · α^max(0, R − 1 − y_ui))        for ratings 1 … R; with R = 5: k for 4 and 5, k·α^(4 − y) below

α = 1 shows all alike, α → 0 only the best two ratings. k makes the expected share of seen pairs what was asked for:

    Σ_r p_r · min(1, k·α^max(0, R − 1 − r)) = share           p_r the share of the rating r among all pairs

The left side grows with k, in pieces that are straight: with the c best ratings capped at 1, k follows by a division,
and it is the solution if no other rating reaches 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.bounds import Number
from unskew.errors import InputError
from unskew.log.log import Floats

PART = Number(above=0.0, high=1.0)


def propensities(shares: Floats, alpha: float, share: float) -> Floats:
    """P(seen) of the ratings 1 … R.

    Args:
        shares: of the ratings among all pairs, adding up to 1.
        alpha: how much less a rating is seen than the next better one, in (0, 1].
        share: of all pairs that is to be seen, in (0, 1].
    """
    alpha = float(replace(PART, why="1 shows all ratings alike, less hides low ones.").of(alpha, "alpha"))
    share = float(PART.of(share, "the share of pairs that is seen"))
    levels = len(shares)
    weight = alpha ** np.maximum(0, levels - 1 - np.arange(1, levels + 1)).astype(np.float64)
    for capped in range(levels):  # the best ones first
        rest = slice(0, levels - capped)
        left = share - shares[levels - capped :].sum()
        free = float(shares[rest] @ weight[rest])
        k = left / free if free > 0.0 else 1.0
        if capped:  # the worst of the capped ratings just reaches 1, even where rounding leaves nothing to the others
            k = max(k, 1.0 / weight[levels - capped])
        if k * weight[levels - capped - 1] <= 1.0:
            break
    table = np.ones(levels)
    table[rest] = np.minimum(1.0, k * weight[rest])
    if not table.min() > 0.0:
        raise InputError(
            f"alpha = {alpha:g} is so small that low ratings would never be seen. Every pair must have a chance: "
            "take a larger alpha."
        )
    return table
