"""How much do ratios inside users owe to few clicks? Leave one click out, and see where the ratio moves (MATHS §13).

    b_u = (n*_u − 1) · (mean over clicks j of R_u without j  −  R_u)        for users with n*_u ≥ 2 clicks

is the jackknife's estimate of the bias of a user's own ratio R_u. It misses most of the bias where single clicks weigh
as much as all others of their user: users who lack such a click have no bias to show, and those who have it show a part
of it only. With v the share of click j in the weight of its user,

    h_u = Σ over clicks j of v/(1 − v) · (R_u without j  −  R_u)

puts that right: of a click that few users have, the jackknife shows the part 1 − v, this all of it. It is too large
rather than too small (mostly 1 to 3 times the bias of skewed worlds, where b is .1 to .9 of it), so it is taken off
once.

Any estimator and metric will do: its per-user columns are filled again for users who lack one of their clicks. Of many
users a sample serves, those with the least hashes, so that it is the same in all engines, and of many clicks a few:
evenly spaced ones for b, the heaviest for h. The error of the means is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unskew.engine.data import EvaluationData, Ranked, empty_columns
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.walk import walk
from unskew.estimators import Batch, Target
from unskew.estimators.base import Normaliser
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Floats, Ints64

CLICKS = 6  # left out, each in turn
LARGEST = 0.99  # share of a click in its user's weight that still counts as such: beyond, the others are chance
BLOCK = 2048  # users at once: a run of neighbours, so that only their lists are looked at


@dataclass(frozen=True, eq=False)
class FewClicks(Mergeable):
    """Sums of b and h over users with two clicks or more; they merge.

    Args:
        total: Σ b by [metric, model].
        squares: Σ b bᵀ by [metric, model, model].
        heavy_total, heavy_squares: the same of h.
        users: how many of them were looked at.
        eligible: how many there are.
    """

    total: Floats
    squares: Floats
    heavy_total: Floats
    heavy_squares: Floats
    users: int
    eligible: int

    @classmethod
    def of_means(cls, b: tuple[Floats, Floats], h: tuple[Floats, Floats], users: int, eligible: int) -> FewClicks:
        """From means and their covariances."""
        sums = [(users * m, users * (users * c + m[:, :, None] * m[:, None, :])) for m, c in (b, h)]
        return cls(*sums[0], *sums[1], users, eligible)

    @property
    def mean(self) -> Floats:
        """The mean of b, by [metric, model]."""
        return self.total / max(self.users, 1)

    @property
    def covariance(self) -> Floats:
        """The covariance of the mean of b, by [metric, model, model]."""
        return self._covariance(self.mean, self.squares)

    @property
    def heavy(self) -> Floats:
        """The mean of h, by [metric, model]."""
        return self.heavy_total / max(self.users, 1)

    @property
    def heavy_covariance(self) -> Floats:
        """The covariance of the mean of h, by [metric, model, model]."""
        return self._covariance(self.heavy, self.heavy_squares)

    def _covariance(self, mean: Floats, squares: Floats) -> Floats:
        users = max(self.users, 1)
        return np.asarray((squares / users - mean[:, :, None] * mean[:, None, :]) / users)

    @property
    def sampled(self) -> bool:
        """Whether not all such users were looked at, so that the mean has an error of its own."""
        return self.users < self.eligible


@dataclass(frozen=True, eq=False)
class ClickSample:
    """Users with two clicks or more, all or some of them: of whom ratios are looked at without a click.

    Args:
        held: rows and lists, without what no ratio needs.
        users: their places in it.
        eligible: how many such users there are.
    """

    held: EvaluationData
    users: Ints64
    eligible: int

    @classmethod
    def of(cls, held: EvaluationData, limit: np.uint64 | None, *, by_rows: bool) -> ClickSample:
        """Those with hashes below a limit (``sampled_users.py``), or all; ``by_rows`` counts every row as a click."""
        eligible = np.flatnonzero((np.diff(held.indptr) if by_rows else held.clicks) >= 2)
        rows_only = replace(held, listed=None, with_answers=None, all_pairs=None)
        if limit is None:
            return cls(rows_only, eligible, len(eligible))
        chosen = eligible[held.hashes[eligible] < limit]
        return cls(rows_only.of_users(chosen.astype(np.int32)), np.arange(len(chosen)), len(eligible))


def few_clicks(sample: ClickSample, run: EstimatorRun, threads: int | None = None) -> FewClicks:
    """The leave-one-click-out bias of every metric and model of a run whose ratios are taken inside users."""
    metrics, models = len(run.metrics), run.models
    sums = [np.zeros((metrics, models, *more)) for more in ((), (models,), (), (models,))]
    bare = replace(run, start=0)

    def one(low: int, high: int) -> tuple[Floats, Floats]:
        return _of_block(sample.held, bare, sample.users[low:high])

    for block in walk(len(sample.users), one, threads, BLOCK):
        for n, found in enumerate(block):
            sums[2 * n] += found.sum(axis=0)
            sums[2 * n + 1] += np.einsum("uta,utb->tab", found, found)
    return FewClicks(sums[0], sums[1], sums[2], sums[3], len(sample.users), sample.eligible)


def _of_block(held: EvaluationData, run: EstimatorRun, users: Ints64) -> tuple[Floats, Floats]:
    """b and h of some users, each (users, metrics, models)."""
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
    clicks = _Clicks(run, batch, ranked, rows, sizes, users - low)
    whole = clicks.ratios(rows, sizes, users - low)
    picks = np.minimum(sizes, CLICKS)
    owner = np.repeat(np.arange(len(users)), picks)  # which user each of the shortened users is
    starts = np.cumsum(picks) - picks
    place = np.arange(len(owner)) - np.repeat(starts, picks)
    spaced = ((place + 0.5) * sizes[owner] / picks[owner]).astype(np.int64)
    mean = np.add.reduceat(clicks.without(owner, spaced), starts, axis=0) / picks[:, None, None]
    share, heaviest = clicks.heaviest(owner, place)
    odds = share / (1.0 - np.minimum(share, LARGEST))
    moved = clicks.without(owner, heaviest) - whole[owner]
    heavy = np.add.reduceat(odds[:, None, None] * moved, starts, axis=0)
    return np.asarray((sizes - 1)[:, None, None] * (mean - whole)), np.asarray(heavy)


@dataclass(frozen=True, eq=False)
class _Clicks:
    """The clicks of a block of users that count.

    Args:
        rows: which of the block they are, user by user.
        sizes: how many each user has.
        users: whose they are, by their places in the block.
    """

    run: EstimatorRun
    batch: Batch
    ranked: Sequence[Ranked]
    rows: Ints64
    sizes: Ints64
    users: Ints64

    def heaviest(self, owner: Ints64, place: Ints64) -> tuple[Floats, Ints64]:
        """The share of each user's heaviest clicks in its weight, and which of its clicks they are.

        Args:
            owner: which user.
            place: 0 for the heaviest one.
        """
        made = self.batch.of_rows(self.rows, _starts(self.sizes))
        weight = _weights(self.run, made)
        user = np.repeat(np.arange(len(self.sizes)), self.sizes)
        first = np.cumsum(self.sizes) - self.sizes
        total = np.add.reduceat(weight, first)
        order = np.lexsort((-weight, user))[first[owner] + place]
        share = np.divide(weight[order], total[owner], out=np.zeros(len(order)), where=total[owner] > 0.0)
        return share, order - first[owner]

    def without(self, owner: Ints64, out: Ints64) -> Floats:
        """R_u of users who each lack one click, (shortened users, metrics, models)."""
        first, short = np.cumsum(self.sizes) - self.sizes, self.sizes[owner] - 1
        inside = np.arange(int(short.sum())) - np.repeat(np.cumsum(short) - short, short)
        inside += inside >= np.repeat(out, short)
        return self.ratios(self.rows[np.repeat(first[owner], short) + inside], short, self.users[owner])

    def ratios(self, rows: Ints64, sizes: Ints64, users: Ints64) -> Floats:
        """R_u of users made of these rows, so many each, (users, metrics, models)."""
        batch, run = self.batch, self.run
        made = replace(
            batch.of_rows(rows, _starts(sizes)),
            relevant=None if batch.relevant is None else batch.relevant[users],
            candidates=None if batch.candidates is None else batch.candidates[users],
            q=None,
            q_total=None,
        )
        theirs = [Ranked(r.rank[rows], None if r.predicted is None else r.predicted[rows]) for r in self.ranked]
        x = empty_columns(len(sizes), run.width)
        run.fill_columns(made, theirs, x)
        return np.stack([x[:, run.columns(t)[: run.models]] for t in range(len(run.metrics))], axis=1)


def _starts(sizes: Ints64) -> Ints64:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _weights(run: EstimatorRun, batch: Batch) -> Floats:
    """What each pair adds to the divisor of its user; where that is no sum over pairs, what it weighs."""
    weight = np.zeros(len(batch.value))
    for term in run.estimator.terms(batch, run.target):
        own = term.divisor.numbers if term.divisor.kind is Normaliser.PAIRS else term.seen
        weight += 0.0 if own is None else own * term.counted(batch, run.target)
    return weight
