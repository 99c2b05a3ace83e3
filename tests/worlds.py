"""How many worlds a Monte Carlo test draws: enough to fail in ``make test``, all of a study in ``make verify``.

Tests whose number of worlds depends on this are marked ``study``: ``make verify`` runs them again with all worlds.
"""

from __future__ import annotations

import math
import os

ALL = os.environ.get("UNSKEW_WORLDS") == "all"


def worlds(few: int, all_of_them: int) -> int:
    """So many worlds."""
    return all_of_them if ALL else few


def monte_carlo_error(share: float, worlds: int) -> float:
    """The standard error of a share that was counted over so many worlds."""
    return math.sqrt(share * (1.0 - share) / worlds)
