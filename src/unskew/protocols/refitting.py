"""How much of a value is the chance of whom its models were fitted on: fits on halves of the users.

The errors of users (``cross_validation/user_errors.py``) take the fitted models as given. Parts of a log that differ in
nothing but chance still give different models, and so different values; between disjoint groups of users that must
count. A group's users are divided at random into halves A and B, again and again; with V(F, J) the value of models that
are fitted on the users F and judged on the users J, on the log scale,

    d_A = log V(A, A) − log V(all, A)          what fitting on A instead of on all does to the same held-out rows
    ℓ   = (d_A − d_B) / 2                      the part of it that depends on who is in A; that fewer users are in it
                                               than in all is common to both, and drops out
    T   = mean over divisions of ℓ ℓᵀ − N      as many degrees of freedom as divisions

For sums over users Var(ℓ) is the variance of what is fitted on all of them (a half from two halves). d_A is a mean
over the users who are judged, whose lists change by chance: N = (Σ_u f_u f_uᵀ over A and B) / 4, f_u what user u brings
to d_A or d_B, is that chance, which the errors of users hold already. T is cut at 0, direction by direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.core.errors import InputError
from unskew.cross_validation.averaging import Average
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.user_errors import joined, user_errors
from unskew.inference.log_contrasts import MoreSpread
from unskew.kernels.arrays import Bools, Floats, Ints64
from unskew.kernels.hashing import pair_uniform
from unskew.log import Log
from unskew.log.ids import stream_of
from unskew.protocols.policy_parts import cut
from unskew.split import Split, Splits

Judge = Callable[[Log, Splits, str], Folds]


@dataclass(frozen=True, eq=False)
class Moves:
    """Of one group: ℓ of every division, cell and model, and N of every division, cells and models in one row."""

    cells: tuple[Key, ...]
    moved: Floats
    chance: Floats

    def spread(self, keys: Sequence[Key]) -> Floats:
        """T of some cells, (cells × models, cells × models)."""
        models = self.moved.shape[1] // len(self.cells)
        own = np.concatenate([self.cells.index(key) * models + np.arange(models) for key in keys])
        moved, chance = self.moved[:, own], self.chance[:, own][:, :, own]
        total = moved.T @ moved / len(moved) - chance.mean(axis=0)
        roots, axes = np.linalg.eigh((total + total.T) / 2.0)
        return np.asarray((axes * np.maximum(roots, 0.0)) @ axes.T)


def half(log: Log, division: int, seed: int) -> Bools:
    """Who is in the first half: of all users with rows, those with the smaller hashes."""
    active = np.flatnonzero(np.diff(log.indptr) > 0)
    stream = stream_of(f"half {seed} {division}")
    draw = pair_uniform(stream, log.users.hashes, np.zeros(len(log.users), dtype=np.uint64))
    out = np.zeros(len(log.users), dtype=np.bool_)
    out[active[np.argsort(draw[active], kind="stable")[: len(active) // 2]]] = True
    return out


def moved(
    log: Log, splits: Splits, folds: Folds, keys: Sequence[Key], way: Average, refits: int, seed: int, judge: Judge
) -> Moves:
    """What fits on halves do to the values of one group."""
    shifts, chances = [], []
    for division in range(refits // 2):
        first = half(log, division, seed)
        sides = []
        for n, users in enumerate((first, ~first)):
            rows = np.flatnonzero(users[log.user])
            part = log.take(rows)
            cuts = tuple(_of_half(fold, part, rows) for fold in splits)
            again = judge(part, Splits(part, splits.splitter, cuts), f"refit {2 * division + n + 1} of {refits}")
            sides.append(_moved(again, folds, users, keys, way))
        shifts.append((sides[0][0] - sides[1][0]) / 2.0)
        chances.append((sides[0][1] + sides[1][1]) / 4.0)
    return Moves(tuple(keys), np.array(shifts), np.array(chances))


def _of_half(fold: Split, part: Log, rows: Ints64) -> Split:
    """A fold with the rows of half of the users."""
    test, train = fold.held_out[rows], fold.kept[rows]
    if not (test.any() and train.any()):
        missing = "learn from" if test.any() else "judge"
        raise InputError(
            f"{part.account.source}: fold {fold.label}: half of a policy's users have no row to {missing}, and fits on "
            "halves tell how far values depend on whom models were fitted on.\nSkip such folds with a larger "
            "min_users=…, use wider windows, or take fitted models as given with refits=0.",
            code="too-few-rows",
            fold=fold.label,
        )
    return cut(fold, part, test, train)


def _moved(again: Folds, folds: Folds, users: Bools, keys: Sequence[Key], way: Average) -> tuple[Floats, Floats]:
    """d of every cell and model, and Σ f fᵀ; 0 where a value has no log."""
    shifts, shares = [], []
    for key in keys:
        found = joined([user_errors(again, key, way), user_errors(folds, key, way, users)])
        models = len(found.values) // 2
        usable = np.isfinite(found.values) & (found.values > 0.0)
        both = usable[:models] & usable[models:]
        values = np.where(usable, found.values, 1.0)
        logs, errors = np.log(values), np.nan_to_num(found.errors) / values  # unknown chance counts as none
        shifts.append(np.where(both, logs[:models] - logs[models:], 0.0))
        shares.append(np.where(both, errors[:, :models] - errors[:, models:], 0.0))
    f = np.concatenate(shares, axis=1)  # the users of both are the same in every cell
    return np.concatenate(shifts), f.T @ f


def spreads(by_group: Sequence[Moves], keys: Sequence[Key]) -> tuple[MoreSpread, ...]:
    """T of every group; columns are those of the first cell, group by group and model by model, then of the next."""
    out = []
    for g, found in enumerate(by_group):
        covariance = found.spread(keys)
        models = len(covariance) // len(keys)
        own = ((np.arange(len(keys))[:, None] * len(by_group) + g) * models + np.arange(models)).ravel()
        whole = np.zeros((len(keys) * len(by_group) * models,) * 2)
        whole[np.ix_(own, own)] = covariance
        out.append(MoreSpread(whole, float(len(found.moved))))
    return tuple(out)
