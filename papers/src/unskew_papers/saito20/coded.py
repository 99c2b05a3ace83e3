"""Recall and DCG as the author's code has them: every user's sum over that user's own total, with two slips in DCG.

    value   mean over users of S/T, cut to [0, 1]; 0 where T = 0 (below 0 it divides as well)
    recall  S = Σ over ranks 1 … k of x                T = Σ over all items of x
    dcg     S = x₁ + Σ over ranks 2 … k of x / log2 r  T = Σ over all items of x + Σ over ranks 2 … k of z (y − x)/p

x = q + z (y − q)/p as in Eq. 4; ips has q = 0, naive q = 0 and p = 1. The slips: from rank 2 on, rank r is discounted
by log2 r instead of log2(r + 1); and x of the ranks 2 … k is computed in place of their q (an array changed through a
view), so that T corrects these guesses a second time. Where p is small, that takes T far below 0 for y = 1. Naive
estimates are not harmed, nor are true values, which have no clicks. "divided dcg" is DCG over the same total without
the slips.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unskew_papers.arrays import Codes, Floats
from unskew_papers.saito20 import dense
from unskew_papers.saito20.dense import Flags

KINDS = ("recall", "divided dcg", "dcg")


def metrics_of(cuts: Sequence[int]) -> list[str]:
    """Names of the metrics, in the order of ``measure``."""
    return [f"{kind}@{k}" for kind in KINDS for k in cuts]


def measure(z: Flags, y: Floats, p: Floats, q: Floats, total: Floats, cuts: Sequence[int]) -> Floats:
    """The value of every list, [metric, model], from its pairs, [model, user, rank], and Σ x of users or their lists.

    Args:
        total: [user] or [model, user].
    """
    x = dense.dr(z, y, p, q)
    twice = np.where(z, (y - x) / p, 0.0)
    worth, rank = dense.worths(cuts, x.shape[2]), np.arange(1, x.shape[2] + 1)
    slipped = worth[: len(cuts)] / np.log2(np.maximum(rank, 2))
    sums = np.einsum("mur,cr->cmu", x, np.vstack([worth, slipped]))
    totals = np.broadcast_to(total, sums.shape).copy()
    totals[-len(cuts) :] += np.einsum("mur,cr->cmu", twice[:, :, 1:], worth[: len(cuts), 1:])
    ratio = np.divide(sums, totals, out=np.zeros_like(sums), where=totals != 0.0)
    return np.asarray(np.clip(ratio, 0.0, 1.0).mean(axis=2))


def of_matrices(z: Flags, y: Floats, p: Floats, q: Floats, lists: Codes, cuts: Sequence[int]) -> Floats:
    """The same from matrices, [user, item], and lists."""
    y_, p_, q_ = (dense.at(matrix, lists) for matrix in (y, p, q))
    return measure(dense.at(z, lists), y_, p_, q_, dense.dr(z, y, p, q).sum(axis=1), cuts)


def noisy_totals(z: Flags, y: Floats, p: Floats, cvr: Floats, noise: Floats) -> Floats:
    """Σ x of users by number of noise, for q = cvr + noise, cut to [0, 1]; noise[user, n] is the same for all items.

    From ascending rates and their running sums: below −noise a guess is 0, from 1 − noise on it is 1.
    """
    totals = np.empty_like(noise)
    for u, (rates, shift, seen) in enumerate(zip(np.sort(cvr, axis=1), noise, z, strict=True)):
        running = np.concatenate([[0.0], rates.cumsum()])
        low, high = np.searchsorted(rates, -shift), np.searchsorted(rates, 1.0 - shift)
        guesses = running[high] - running[low] + shift * (high - low) + (len(rates) - high)
        q = np.clip(cvr[u, seen, None] + shift, 0.0, 1.0)
        totals[u] = guesses + ((y[u, seen, None] - q) / p[u, seen, None]).sum(axis=0)
    return totals
