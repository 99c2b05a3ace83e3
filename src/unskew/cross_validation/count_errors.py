"""Training counts are estimates too, and folds count the same rows again (``judging/count_error.py``).

With t_if what item i brings to the columns of fold f, each weight w_if = (n_if + c)^−a,

    Σ_i Σ_f Σ_g t_if t_igᵀ Cov(log w_if, log w_ig)        Cov = a² / (max(n_if, n_ig) + ½)

since for windows with all that came before them the rows of an earlier fold are among those of a later one, and the
covariance of log n is one over the larger count. Folds that learn from other rows (k-fold, a short history) share fewer
of them: what they count is then taken to go together more than it does.

Folds are added in the order of an item's counts, so that of any two the later one has the larger count:
Σ_f Σ_g t_f t_gᵀ v_max = Σ_g v_g (t_g c_gᵀ + c_g t_gᵀ − t_g t_gᵀ), c_g the sum up to g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unskew.kernels.arrays import Floats, Ints64

Variance = Callable[[Floats], Floats]


def spread_over_folds(
    item: Sequence[Ints64], seen: Sequence[Floats], totals: Sequence[Floats], variance: Variance
) -> Floats:
    """What the chance of counts adds to Σ x xᵀ of columns, (columns, columns).

    Args:
        item: of every fold, its items by code.
        seen: of every fold, how often training showed them.
        totals: of every fold, what they bring to the columns, (columns, items).
        variance: of log w, by count.
    """
    known = np.unique(np.concatenate(item))
    folds, width = len(item), totals[0].shape[0]
    counts, brought = np.zeros((folds, len(known))), np.zeros((folds, width, len(known)))
    for f in range(folds):
        place = np.searchsorted(known, item[f])
        counts[f, place], brought[f][:, place] = seen[f], totals[f]
    order = np.argsort(counts, axis=0, kind="stable")
    counts = np.take_along_axis(counts, order, axis=0)
    brought = np.take_along_axis(brought, order[:, None, :], axis=0)
    before, out = np.zeros((width, len(known))), np.zeros((width, width))
    for f in range(folds):
        own = brought[f] * variance(counts[f])
        crossed = own @ before.T
        out += crossed + crossed.T + own @ brought[f].T
        before += brought[f]
    return out
