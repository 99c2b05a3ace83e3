"""How Table 2 and Figure 3 learn: every argument of ``MF.search``, written out, so that a unit's key holds them all."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from unskew.log import Log
from unskew.models import MF
from unskew.models.mf import FOLD_TOLERANCE, OFFSETS, ROUNDS, Loss
from unskew_papers.arrays import Floats

FOLDS = 4


def searched(penalties: Sequence[float], dims: Sequence[int], loss: Loss = "squared") -> dict[str, Any]:
    """The arguments, as JSON knows them."""
    return {
        "penalties": list(penalties),
        "dims": list(dims),
        "offsets": list(OFFSETS),
        "loss": loss,
        "folds": FOLDS,
        "rounds": ROUNDS,
        "tolerance": FOLD_TOLERANCE,
    }


def learn(
    log: Log, propensity: str | Floats | None, key: Mapping[str, Any], seed: int, threads: int
) -> tuple[MF, list[str]]:
    """The model that a unit's key asks for, and what it warns about, which is kept with the unit's numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MF.search(log, propensity, **key["search"], seed=seed, threads=threads)
    return model, [str(each.message) for each in caught]


def last_fit() -> str:
    """What the fit to all ratings takes from the model's defaults (its tolerance, its solver)."""
    return str(MF())
