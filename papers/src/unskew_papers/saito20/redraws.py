"""Validation clicks drawn many times over for the same lists: the errors that a run could have had, not one of them.

Given training, a pair is clicked in validation with probability

    0                                  where it was clicked in training (lists contain such items too)
    (1 − s) P^ctr / (1 − s P^ctr)      elsewhere, s the share of training

independently of everything else, so that each draw here is distributed as the run's own. Only listed pairs are drawn:
the estimators as printed (Eqs. 2–4) read no others. Each is a linear function of what was clicked,

    R̂ = Σ q·c(rank) + Σ over clicked pairs of (y − q)/p · c(rank)          ips: q = 0;  naive: q = 0, p = 1

so that a draw costs what its clicks cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from unskew_papers.arrays import Codes, Floats
from unskew_papers.saito20.dense import Flags, relative_rmse, worths
from unskew_papers.saito20.world import TRAINING

DRAWS = 1000


def redrawn(
    ctr: Floats,
    cvr: Floats,
    train: Flags,
    guesses: Sequence[Floats],
    lists: Codes,
    cuts: Sequence[int],
    seed: int,
    draws: int = DRAWS,
) -> npt.NDArray[np.float32]:
    """Relative RMSE over candidates of naive, ips and a dr by guess: [draw, estimator, metric].

    Args:
        ctr, cvr: P(click) and P(conversion), [user, item].
        train: pairs clicked in training.
        guesses: q of every dr.
        lists: items by rank, [model, user, rank].
    """
    listed, worth = _worths(lists, ctr.shape[1], cuts)
    click, rate, known = ctr.ravel()[listed], cvr.ravel()[listed], train.ravel()[listed]
    chance = np.where(known, 0.0, (1.0 - TRAINING) * click / (1.0 - TRAINING * click))
    q = np.column_stack([np.zeros((len(listed), 2)), *(guess.ravel()[listed] for guess in guesses)])
    p = np.broadcast_to((1.0 - TRAINING) * click[:, None], q.shape).copy()
    p[:, 0] = 1.0
    shape = 2 * len(cuts), len(lists), q.shape[1]
    truth, start = (worth @ rate).reshape(*shape[:2], 1), worth @ q
    rng, out = np.random.default_rng([seed, 4]), np.empty((draws, shape[2], shape[0]), dtype=np.float32)
    for draw in range(draws):
        clicked = np.flatnonzero(rng.random(len(listed)) < chance)
        y = (rng.random(len(clicked)) < rate[clicked]).astype(np.float64)
        value = start + worth[:, clicked] @ ((y[:, None] - q[clicked]) / p[clicked])
        out[draw] = relative_rmse(np.moveaxis(value.reshape(shape), 1, 2), np.moveaxis(truth, 1, 2)).T
    return out


def _worths(lists: Codes, items: int, cuts: Sequence[int]) -> tuple[npt.NDArray[np.int64], csc_array]:
    """The listed pairs (user · items + item), and what each is worth to every metric and model, over the users."""
    models, users, length = lists.shape
    codes = np.arange(users)[None, :, None] * items + lists
    listed, place = np.unique(codes, return_inverse=True)
    model, _, rank = (axis.ravel() for axis in np.indices(lists.shape))
    worth = worths(cuts, length)[:, rank] / users
    row = np.arange(len(worth))[:, None] * models + model
    column = np.broadcast_to(place.ravel(), row.shape)
    within = worth > 0.0
    shape = len(worth) * models, len(listed)
    return listed, csc_array((worth[within], (row[within], column[within])), shape=shape)
