"""From the propensity of a whole log to that of its test part.

A random hold-out puts each interaction into the test part with probability s, so a pair with propensity P in the whole
log is in the test part with probability P·s. A candidate outside training has not been put there, which leaves

    P(in test | not in training) = P·s / (1 − P·(1 − s)).

Relative propensities are never scaled.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def part_propensity(whole: Floats, share: float, *, unseen: bool) -> Floats:
    """The test part's propensity, given the whole log's and the test share."""
    part = whole * share
    return np.asarray(part / (1.0 - whole * (1.0 - share)) if unseen else part, dtype=np.float64)
