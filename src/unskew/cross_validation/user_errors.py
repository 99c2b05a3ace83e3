"""What every user brings to the values of all models over folds: what cross-validations are compared by.

Macro: e_u of ``averaging.py``. Pooled: e_u = ∇R · x_u with a user's columns added up over the folds. In both
Σ_u e_u = 0, and m/(m−1) Σ_u e_u² is the square of the standard error that the cross-validation shows.
"""

from __future__ import annotations

import numpy as np

from unskew.cross_validation.averaging import MacroColumns
from unskew.cross_validation.fold import key_of
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Average, Folds
from unskew.inference.log_contrasts import UserErrors
from unskew.kernels.arrays import Ints64


def cells_of(folds: Folds) -> list[Key]:
    """The cells with errors that users tell: those whose weights come from training counts have more (not here)."""
    plan = folds.plan
    return [
        key_of(plan, cell)
        for place, cell in enumerate(plan.cells)
        if place not in plan.in_scenarios and plan.runs[cell.run].estimator.counted_error is None
    ]


def user_errors(folds: Folds, key: Key, way: Average) -> tuple[Ints64, UserErrors]:
    """The users, by their codes in the whole log, and what they bring to the values of one cell."""
    plan = folds.plan
    form = next(cell.form for cell in plan.cells if key_of(plan, cell) == key)
    columns = folds.cell(key, form)
    if way is Average.MACRO and len(folds.sums) > 1:
        errors = MacroColumns.of(columns).errors
        values = columns.values[columns.there].mean(axis=0) if columns.there.any() else np.full(form.models, np.nan)
    else:
        x = columns.pooled()
        sums = x.sum(axis=0)
        values, errors = form.values(sums), x @ form.gradients(sums).T
    hit = np.zeros((len(folds.users), form.models), dtype=np.bool_)
    own = form.places[0][0][0]
    for user, x in zip(columns.user, columns.x, strict=True):
        hit[user] |= x[:, own] != 0.0
    return folds.users, UserErrors(values, errors, np.count_nonzero(hit, axis=0))
