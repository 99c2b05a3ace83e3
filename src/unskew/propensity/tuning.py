"""How strong a penalty: the one under which pairs that were held out of the fit are likeliest.

Pairs, seen or not, are divided into folds by a hash of user and item; a held-out pair is missing from the fit, not
unseen. Penalties go from strong to weak, as each fit then starts near the one before, and stop once held-out pairs have
become less likely twice. Small worlds judge by all folds; in larger ones fewer folds hold enough pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unskew.kernels.arrays import Bools
from unskew.log import Ids
from unskew.propensity.crossfit import folds_of
from unskew.propensity.two_way import Pairs, SampledPairs

GRID = tuple(float(f"1e{power}") for power in range(-3, 4))  # c from 0.001 to 1,000
FOLDS = 5
ENOUGH = 200_000  # folds are judged until the fits have seen so many pairs, one fold at least
PATIENCE = 2  # worse values of c in a row


def choose(users: Ids, items: Ids, pairs: Pairs, loss: Callable[[float, int, Bools], float]) -> float:
    """The c of the least held-out loss.

    Args:
        loss: of the pairs held out, given c, the number of the fold and which pairs are held out.
    """
    shape = (len(pairs.user), len(pairs.item))
    if isinstance(pairs, SampledPairs):
        shape, left, right = pairs.left.shape, pairs.left, pairs.right
    else:
        left, right = (code.ravel().astype(np.int32) for code in np.indices(shape, dtype=np.int32))
    fold = folds_of(users, items, left, right, FOLDS)[0].reshape(shape)
    judged = range(min(FOLDS, -(-ENOUGH // fold.size)))
    losses: list[float] = []
    for c in GRID:
        losses.append(sum(loss(c, k, fold == k) for k in judged))
        if len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE:
            break
    return GRID[int(np.argmin(losses))]
