"""One protocol on one log: every number of a cross-validation that the study needs, as a unit that a store keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from unskew.cross_validation import CrossValidation
from unskew_papers.jeunen18.joint import Joint

LOOCV, SW, HOLDOUT = "LOOCV", "SW-EVAL", "hold-out"
AHEAD, BEHIND = ("better", "ahead"), ("worse", "behind")


def kept(found: CrossValidation) -> dict[str, Any]:
    """Values, errors, errors of differences and verdicts by metric and estimator; values of every fold."""
    models = list(dict.fromkeys(row.model for row in found.rows()))
    cells = list(dict.fromkeys((row.metric, row.estimator) for row in found.rows()))
    shape = len(cells), len(models)
    value, se = np.full(shape, np.nan), np.full(shape, np.nan)
    for row in found.rows():
        at = cells.index((row.metric, row.estimator)), models.index(row.model)
        value[at], se[at] = row.macro, row.macro_se
    apart, verdict = np.full((*shape, len(models)), np.nan), np.zeros((*shape, len(models)), dtype=np.int64)
    for each in found.macro.verdicts_:
        if (each.metric, each.estimator) in cells:
            c, a, b = cells.index((each.metric, each.estimator)), models.index(each.a), models.index(each.b)
            apart[c, a, b] = apart[c, b, a] = each.se
            verdict[c, a, b] = (each.verdict in AHEAD) - (each.verdict in BEHIND)
            verdict[c, b, a] = -verdict[c, a, b]
    folds = [fold.fold for fold in found.folds_]
    by_fold = np.full((len(folds), *shape), np.nan)
    for each_value in found.values_:
        if (each_value.metric, each_value.estimator) in cells:
            cell = cells.index((each_value.metric, each_value.estimator))
            by_fold[folds.index(each_value.fold), cell, models.index(each_value.model)] = each_value.value
    return {
        "models": models,
        "cells": [list(cell) for cell in cells],
        "value": value,
        "se": se,
        "apart": apart,
        "verdict": verdict,
        "folds": folds,
        "by_fold": by_fold,
        "judged": [fold.users for fold in found.folds_],
        "skipped": [[each.label, each.reason] for each in found.skipped],
        "notes": list(found.notes),
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
