"""One protocol on one log: every number of a cross-validation that the study needs, as a unit that a store keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from unskew.cross_validation import Average, CrossValidation
from unskew_papers.jeunen18.joint import Joint

LOOCV, SW, HOLDOUT = "LOOCV", "SW-EVAL", "hold-out"
AHEAD, BEHIND = ("better", "ahead"), ("worse", "behind")


def kept(found: CrossValidation, average: Average = Average.MACRO) -> dict[str, Any]:
    """Values, errors, errors of differences and verdicts by metric and estimator; what was judged."""
    over = found.macro if average is Average.MACRO else found.pooled
    models = list(dict.fromkeys(row.model for row in found.rows()))
    cells = list(dict.fromkeys((row.metric, row.estimator) for row in found.rows()))
    shape = len(cells), len(models)
    value, se = np.full(shape, np.nan), np.full(shape, np.nan)
    for each in over.estimates:
        at = cells.index((each.metric, each.estimator)), models.index(each.model)
        value[at], se[at] = each.value, each.se
    apart, verdict = np.full((*shape, len(models)), np.nan), np.zeros((*shape, len(models)), dtype=np.int64)
    for said in over.verdicts_:
        if (said.metric, said.estimator) in cells:
            c, a, b = cells.index((said.metric, said.estimator)), models.index(said.a), models.index(said.b)
            apart[c, a, b] = apart[c, b, a] = said.se
            verdict[c, a, b] = (said.verdict in AHEAD) - (said.verdict in BEHIND)
            verdict[c, b, a] = -verdict[c, a, b]
    return {
        "models": models,
        "cells": [list(cell) for cell in cells],
        "value": value,
        "se": se,
        "apart": apart,
        "verdict": verdict,
        "folds": [fold.fold for fold in found.folds_],
        "judged": [fold.users for fold in found.folds_],
        "skipped": [[each.label, each.reason] for each in found.skipped],
    }


def joint(unit: Mapping[str, Any], metric: str, estimator: str = "naive") -> Joint:
    """The values of all models under a protocol."""
    cell = cell_of(unit, metric, estimator)
    return Joint.of(tuple(unit["models"]), unit["value"][cell], unit["se"][cell], unit["apart"][cell])


def decided(unit: Mapping[str, Any], metric: str, names: Sequence[str], estimator: str = "naive") -> list[int]:
    """Of every pair of models: 1 if the first is ahead, −1 if it is behind, 0 if that is not decided."""
    verdict = unit["verdict"][cell_of(unit, metric, estimator)]
    place = [unit["models"].index(name) for name in names]
    return [int(verdict[a, b]) for a, b in combinations(place, 2)]


def cell_of(unit: Mapping[str, Any], metric: str, estimator: str) -> int:
    """Where a metric and an estimator stand; an estimator by its name, whatever its options."""
    found = [n for n, (m, e) in enumerate(unit["cells"]) if m == metric and e.split("(")[0] == estimator]
    return found[0]
