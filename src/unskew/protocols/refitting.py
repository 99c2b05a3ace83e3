"""How much of a value is the chance of what its models were fitted on: fits without some of the users.

The errors of users (``cross_validation/user_errors.py``) take the fitted models as given. Parts of a log that differ in
nothing but chance still give different models, and so different values: between disjoint groups of users that must
count. With blocks g = 1 … G of a group's users, on the log scale,

    d_g = log V(fitted without g, judged without g) − log V(fitted on all, judged without g)
    T   = (G−1)/G Σ_g (d_g − d̄)(d_g − d̄)ᵀ                        G − 1 degrees of freedom

which is the delete-a-group jackknife of what fitting does. Both values are over the same held-out rows, so that the
chance of who is judged, which users tell, is not counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Average, Folds
from unskew.cross_validation.user_errors import values_of
from unskew.inference.log_contrasts import MoreSpread
from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.ids import stream_of
from unskew.protocols.policy_parts import cut
from unskew.split import Splits

Judge = Callable[[Log, Splits, str], Folds]


def blocks(log: Log, count: int, seed: int) -> Ints64:
    """A block for every user of a log, −1 for those without rows: as large as each other, by a hash of their ids."""
    active = np.flatnonzero(np.diff(log.indptr) > 0)
    draw = pair_uniform(stream_of(f"blocks {seed}"), log.users.hashes, np.zeros(len(log.users), dtype=np.uint64))
    out = np.full(len(log.users), -1, dtype=np.int64)
    out[active[np.argsort(draw[active], kind="stable")]] = np.arange(len(active)) * count // max(len(active), 1)
    return out


def moved(
    log: Log, splits: Splits, folds: Folds, keys: Sequence[Key], way: Average, count: int, seed: int, judge: Judge
) -> dict[Key, Floats]:
    """d_g of every cell, (blocks, models)."""
    block = blocks(log, count, seed)
    found: dict[Key, list[Floats]] = {key: [] for key in keys}
    for g in range(count):
        kept = block != g
        rows = np.flatnonzero(kept[log.user])
        part = log.take(rows)
        cuts = tuple(cut(fold, part, fold.held_out[rows], fold.kept[rows]) for fold in splits)
        again = judge(part, Splits(part, splits.splitter, cuts), f"refit {g + 1} of {count}")
        everyone = np.ones(len(log.users), dtype=np.bool_)
        for key in keys:
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = [np.log(values_of(f, key, way, who)) for f, who in ((again, everyone), (folds, kept))]
                found[key].append(logs[0] - logs[1])
    return {key: np.array(rows) for key, rows in found.items()}


def spreads(by_group: Sequence[Mapping[Key, Floats]], keys: Sequence[Key]) -> tuple[MoreSpread, ...]:
    """T of every group; columns are those of the first cell, group by group and model by model, then of the next."""
    out = []
    for g, found in enumerate(by_group):
        d = np.stack([found[key] for key in keys], axis=1)  # (blocks, cells, models)
        count, cells, models = d.shape
        apart = np.nan_to_num(d - d.mean(axis=0), nan=0.0, posinf=0.0, neginf=0.0).reshape(count, -1)
        own = (np.arange(cells)[:, None] * len(by_group) + g) * models + np.arange(models)
        covariance = np.zeros((cells * len(by_group) * models,) * 2)
        covariance[np.ix_(own.ravel(), own.ravel())] = (count - 1.0) / count * (apart.T @ apart)
        out.append(MoreSpread(covariance, count - 1.0))
    return tuple(out)
