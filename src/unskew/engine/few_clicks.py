"""How much do ratios inside users owe to few clicks? Leave one click out, and see where the ratio moves (MATHS §13).

    b_u = (n*_u − 1) · (mean over clicks j of R_u without j  −  R_u)        for users with n*_u ≥ 2 clicks

is the jackknife's estimate of the bias of a user's own ratio R_u. Any estimator and metric will do: its per-user
columns are filled again for users who lack one of their clicks. Of many users a sample serves, those with the least
hashes, so that it is the same in all engines, and of many clicks a few, evenly spaced; the error of the mean is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unskew.engine.data import EvaluationData, Ranked
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.walk import walk
from unskew.estimators import Batch, Target
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Floats, Ints64

CLICKS = 6  # left out, each in turn
BLOCK = 512  # users at once: a run of neighbours, so that only their lists are looked at


@dataclass(frozen=True, eq=False)
class FewClicks(Mergeable):
    """Sums of b over users with two clicks or more; they merge.

    Args:
        total: Σ b by [metric, model].
        squares: Σ b bᵀ by [metric, model, model].
        users: how many of them were looked at.
        eligible: how many there are.
    """

    total: Floats
    squares: Floats
    users: int
    eligible: int

    @property
    def mean(self) -> Floats:
        """The mean of b, by [metric, model]."""
        return self.total / max(self.users, 1)

    @property
    def covariance(self) -> Floats:
        """The covariance of the mean, by [metric, model, model]."""
        mean, users = self.mean, max(self.users, 1)
        return np.asarray((self.squares / users - mean[:, :, None] * mean[:, None, :]) / users)

    @property
    def sampled(self) -> bool:
        """Whether not all such users were looked at, so that the mean has an error of its own."""
        return self.users < self.eligible


def few_clicks(
    held: EvaluationData, run: EstimatorRun, limit: np.uint64 | None = None, threads: int | None = None
) -> FewClicks:
    """The leave-one-click-out bias of every metric and model of a run whose ratios are taken inside users.

    Args:
        limit: of the hashes of the users that are looked at (``sampled_users.py``); ``None`` for everybody.
    """
    counts = np.diff(held.indptr) if run.target is Target.PER_PAIR else held.clicks  # errors rest on all rows
    eligible = np.flatnonzero(counts >= 2)
    metrics, models = len(run.metrics), run.models
    total, squares = np.zeros((metrics, models)), np.zeros((metrics, models, models))
    bare, rows_only = replace(run, start=0), replace(held, listed=None, with_answers=None, all_pairs=None)
    chosen = eligible
    if limit is not None:
        chosen = eligible[held.hashes[eligible] < limit]
        rows_only, chosen = rows_only.of_users(chosen.astype(np.int32)), np.arange(len(chosen))

    def one(low: int, high: int) -> Floats:
        return _of_block(rows_only, bare, chosen[low:high])

    for b in walk(len(chosen), one, threads, BLOCK):
        total += b.sum(axis=0)
        squares += np.einsum("uta,utb->tab", b, b)
    return FewClicks(total, squares, len(chosen), len(eligible))


def _of_block(held: EvaluationData, run: EstimatorRun, users: Ints64) -> Floats:
    """b of some users, (users, metrics, models)."""
    low, high = int(users[0]), int(users[-1]) + 1
    batch, ranked = held.batch(low, high), held.ranked(low, high)
    keep = np.zeros(high - low, dtype=np.bool_)
    keep[users - low] = True
    lengths = np.diff(batch.indptr)
    counted = np.repeat(keep, lengths)
    if run.target is not Target.PER_PAIR:
        counted &= batch.value > 0.0
    rows = np.flatnonzero(counted)
    sizes = np.bincount(np.repeat(np.arange(high - low), lengths)[rows], minlength=high - low)[keep]
    whole = _ratios(run, batch, ranked, rows, sizes, users - low)
    picks = np.minimum(sizes, CLICKS)
    owner = np.repeat(np.arange(len(users)), picks)  # which user each of the shortened users is
    place = np.arange(len(owner)) - np.repeat(np.cumsum(picks) - picks, picks)
    out = ((place + 0.5) * sizes[owner] / picks[owner]).astype(np.int64)  # which click it lacks
    first = np.cumsum(sizes) - sizes
    short = sizes[owner] - 1
    inside = np.arange(int(short.sum())) - np.repeat(np.cumsum(short) - short, short)
    inside += inside >= np.repeat(out, short)
    without = _ratios(run, batch, ranked, rows[np.repeat(first[owner], short) + inside], short, (users - low)[owner])
    mean = np.add.reduceat(without, np.cumsum(picks) - picks, axis=0) / picks[:, None, None]
    return np.asarray((sizes - 1)[:, None, None] * (mean - whole))


def _ratios(
    run: EstimatorRun, batch: Batch, ranked: Sequence[Ranked], rows: Ints64, sizes: Ints64, users: Ints64
) -> Floats:
    """R_u of users made of these rows, so many each, (users, metrics, models)."""
    made = replace(
        batch.of_rows(rows, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        relevant=None if batch.relevant is None else batch.relevant[users],
        candidates=None if batch.candidates is None else batch.candidates[users],
        q=None,
        q_total=None,
    )
    theirs = [Ranked(r.rank[rows], None if r.predicted is None else r.predicted[rows]) for r in ranked]
    x = np.empty((len(sizes), run.width))
    run.fill_columns(made, theirs, x)
    return np.stack([x[:, run.columns(t)[: run.models]] for t in range(len(run.metrics))], axis=1)
