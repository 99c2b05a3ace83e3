"""How Table 2 and Figure 3 learn: every argument of ``MF.search``, written out, so that a unit's key holds them all."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from unskew.log import Log
from unskew.models import MF
from unskew.models.mf import FOLD_TOLERANCE, OFFSETS, Loss
from unskew_papers.arrays import Floats, present

FOLDS = 4
ROUNDS = 2_000  # a strong penalty on offsets takes many sweeps
FURTHER, STEP = 3, 5.0  # so many larger penalties at most, each so many times the last
LOSSES: dict[str, Loss] = {"mae": "absolute", "mse": "squared"}  # by the metric that a model is learnt for


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
    """The model that a unit's key asks for, and what it warns about, which is kept with the unit's numbers.

    While the largest penalty is the best, the grid goes on. A key with a ``reading`` has the penalties of the paper's
    Eq. 14 instead: each dim and treatment of offsets is searched over those of ``MF`` that are meant, and the best
    score wins.
    """
    search = key["search"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if reading := key.get("reading"):
            models = []
            for dim, treatment in product(search["dims"], search["offsets"]):
                penalties = [each / printed(log, dim, treatment, reading) for each in search["penalties"]]
                one = {"penalties": penalties, "dims": [dim], "offsets": [treatment]}
                models.append(MF.search(log, propensity, **{**search, **one}, seed=seed, threads=threads))
            best = min(models, key=lambda model: float(present(model.search_).table["score"][0]))
            return best, [str(each.message) for each in caught]
        for steps in range(FURTHER + 1):
            caught.clear()
            largest = furthest(search["penalties"], steps)
            penalties = [*search["penalties"], *(furthest(search["penalties"], n + 1) for n in range(steps))]
            model = MF.search(log, propensity, **{**search, "penalties": penalties}, seed=seed, threads=threads)
            if model.penalty < largest:
                break
    return model, [str(each.message) for each in caught]


def furthest(penalties: Sequence[float], steps: int = FURTHER) -> float:
    """The largest penalty after so many steps beyond the grid."""
    return max(penalties) * STEP**steps


def printed(log: Log, dim: int, offsets: str, reading: str) -> float:
    """What one unit of the penalty of ``MF`` is in Eq. 14 (``sum``), or there with the loss as an average (``mean``).

    Eq. 14 adds the losses up, Eqs. 10 and 12 average them over all U·I pairs.
    """
    users, items = len(log.users), len(log.items)
    unit = users * items / (users + items) / (dim + 1 if offsets == "penalised" else dim)
    return unit if reading == "sum" else unit / (users * items)


def last_fit() -> str:
    """What the fit to all ratings takes from the model's defaults (its tolerance, its solver)."""
    return str(MF())


def wrong(key: Mapping[str, Any], error: Floats) -> Floats:
    """What errors of predictions cost under the loss of a unit."""
    return np.abs(error) if key["search"]["loss"] == "absolute" else np.square(error)
