"""From the propensity of a whole log to that of its test part.

A random hold-out puts each interaction into the test part with probability s, so a pair with propensity P in the whole
log is in the test part with probability P·s. A candidate outside training has not been put there, which leaves

    P(in test | not in training) = P·s / (1 − P·s_train),

where s_train is the share of the training part, 1 − s if the two parts are the whole. Relative propensities are never
scaled.
"""

from __future__ import annotations

import numpy as np

from unskew.log.log import Floats


def part_propensity(whole: Floats, share: float, *, unseen: bool, train: float | None = None) -> Floats:
    """The test part's propensity, given the whole log's and the test share.

    Args:
        unseen: only pairs outside training are candidates.
        train: the share of the training part; by default the rest.
    """
    part = whole * share
    train = 1.0 - share if train is None else train
    return np.asarray(part / (1.0 - whole * train) if unseen else part, dtype=np.float64)
