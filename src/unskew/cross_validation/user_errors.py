"""What every user brings to the values of all models over folds: what cross-validations are compared by.

Macro: what leaving the user out of every fold does (``averaging.py``), with the lean of small folds; where a few users
of tiny folds count for most of the average, these are its carriers. Pooled: e_u = ∇R · x_u with a user's columns added
up over the folds; m/(m−1) Σ_u e_u² is the square of the standard error that the cross-validation shows.

With ∇R_f · x_uf in the place of the former, alike policies differed in 21 % of worlds with folds of two users, and in
48 % where folds lean (``tests/protocols/test_small_folds.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unskew.cross_validation.averaging import Average, FoldColumns
from unskew.cross_validation.fold import key_of
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.inference.log_contrasts import UserErrors
from unskew.inference.ratio_form import RatioForm
from unskew.kernels.arrays import Bools, Ints64


def cells_of(folds: Folds) -> list[Key]:
    """The cells with errors that users tell: those whose weights come from training counts have more (not here)."""
    plan = folds.plan
    return [
        key_of(plan, cell)
        for place, cell in enumerate(plan.cells)
        if place not in plan.in_scenarios and plan.runs[cell.run].estimator.counted_error is None
    ]


def _form(folds: Folds, key: Key) -> RatioForm:
    return next(cell.form for cell in folds.plan.cells if key_of(folds.plan, cell) == key)


def user_errors(folds: Folds, key: Key, way: Average, kept: Bools | None = None) -> tuple[Ints64, UserErrors]:
    """The users, by their codes in the whole log, and what they bring to the values of one cell.

    Args:
        kept: of all users of the whole log, who counts; the others bring nothing, the fitted models stay.
    """
    columns = folds.cell(key, _form(folds, key))
    if kept is not None:
        inside = [kept[folds.users[user]] for user in columns.user]
        user = [own[rows] for own, rows in zip(columns.user, inside, strict=True)]
        columns = FoldColumns(
            columns.form, user, [x[rows] for x, rows in zip(columns.x, inside, strict=True)], columns.users
        )
    form, leans, most = columns.form, None, len(folds.users)
    if way is Average.MACRO and len(folds.sums) > 1:
        errors, leans, most = columns.left_out(), -2.0 * columns.bias(), int(columns.counting())
        values = columns.values[columns.there].mean(axis=0) if columns.there.any() else np.full(form.models, np.nan)
    else:
        x = columns.pooled()
        sums = x.sum(axis=0)
        values, errors = form.values(sums), x @ form.gradients(sums).T
    hit = np.zeros((len(folds.users), form.models), dtype=np.bool_)
    own = form.places[0][0][0]
    for places, x in zip(columns.user, columns.x, strict=True):
        hit[places] |= x[:, own] != 0.0
    return folds.users, UserErrors(values, errors, np.minimum(np.count_nonzero(hit, axis=0), most), leans)


def joined(parts: Sequence[tuple[Ints64, UserErrors]]) -> UserErrors:
    """The columns of several cross-validations of one log beside each other, a row per user of any of them."""
    users = np.unique(np.concatenate([user for user, _ in parts]))
    errors = []
    for user, found in parts:
        own = np.zeros((len(users), found.errors.shape[1]))
        own[np.searchsorted(users, user)] = found.errors
        errors.append(own)
    values, carriers, leans = (np.concatenate([getattr(f, n) for _, f in parts]) for n in ("values", "carriers", "off"))
    return UserErrors(values, np.concatenate(errors, axis=1), carriers, leans)
