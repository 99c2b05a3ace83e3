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
from unskew.inference.ratio_form import RatioForm
from unskew.kernels.arrays import Bools, Floats, Ints64


def cells_of(folds: Folds) -> list[Key]:
    """The cells with errors that users tell: those whose weights come from training counts have more (not here)."""
    plan = folds.plan
    return [
        key_of(plan, cell)
        for place, cell in enumerate(plan.cells)
        if place not in plan.in_scenarios and plan.runs[cell.run].estimator.counted_error is None
    ]


def values_of(folds: Folds, key: Key, way: Average, kept: Bools) -> Floats:
    """The values of one cell over some of the users only, by the same fitted models.

    Args:
        kept: of all users of the whole log, who counts.
    """
    columns = folds.cell(key, _form(folds, key))
    inside = kept[folds.users]
    sums = np.array([x[inside[user]].sum(axis=0) for user, x in zip(columns.user, columns.x, strict=True)])
    if way is Average.POOLED or len(sums) == 1:
        return columns.form.values(sums.sum(axis=0))
    values = columns.form.values(sums)
    there = np.isfinite(values).all(axis=1)
    return np.asarray(values[there].mean(axis=0)) if there.any() else np.full(columns.form.models, np.nan)


def _form(folds: Folds, key: Key) -> RatioForm:
    return next(cell.form for cell in folds.plan.cells if key_of(folds.plan, cell) == key)


def user_errors(folds: Folds, key: Key, way: Average) -> tuple[Ints64, UserErrors]:
    """The users, by their codes in the whole log, and what they bring to the values of one cell."""
    form = _form(folds, key)
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
