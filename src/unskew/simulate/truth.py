"""The true worth of given lists, when every relevant pair is known.

    per_user       mean over users with n_u > 0 of (1/n_u) Σ over relevant items of y λ(Z_ui)
    pooled         Σ_u Σ y λ(Z_ui) / Σ_u n_u
    per_user_sum   mean over all users of Σ y λ(Z_ui); normalised=pooled is pooled, normalised=per_user is per_user with
                   0 for users who have nothing relevant

y is 1 for every relevant item, or its grade, and n_u is their sum.

Only additive metrics are sums of λ; for the others the truth is their naive value on the full log.
"""

from __future__ import annotations

import numpy as np

from unskew.errors import RefusedError
from unskew.estimators.target import Target
from unskew.kernels.ranks import find_ranks
from unskew.log import Log, Recommendations
from unskew.metrics import RankingMetric, Shape


def true_value(lists: Recommendations, full: Log, metric: RankingMetric, target: Target) -> float:
    """The worth of lists on a full log, whose rows are all relevant candidate pairs; NaN if there are none."""
    if metric.shape is not Shape.ADDITIVE:
        raise RefusedError(
            f"'{metric}' is not a sum over relevant items. Its truth is its naive estimate on the full log."
        )
    lists = lists.recode(full.users, full.items)
    rank = np.zeros(len(full), dtype=np.int32)
    find_ranks(full.indptr, full.item, lists.indptr, lists.item, lists.rank, 0, len(full.users), rank)
    y = np.ones(len(full)) if full.value is None else full.value
    worth = np.bincount(full.user, weights=y * metric.table(lists.depth)[rank], minlength=len(full.users))
    n = np.bincount(full.user, weights=y, minlength=len(full.users))
    if target is Target.PER_USER_SUM:
        return float(worth.mean())
    if target is Target.PER_PAIR:
        raise RefusedError("lists alone have no value per pair: the truth of per_user_sum is the same sum per user.")
    if n.sum() == 0:
        return float("nan")
    if target is Target.SUM_PER_USER:
        return float(np.divide(worth, n, out=np.zeros(len(n)), where=n > 0).mean())
    if target in (Target.POOLED, Target.SUM_POOLED):
        return float(worth.sum() / n.sum())
    return float((worth[n > 0] / n[n > 0]).mean())
