"""What lists put at stake: one pass over users, block by block, over the pairs that stand in some list.

    d = λ_a − λ_b,  V = Σ q (1 − q) d²,  N_m = Σ_L y λ_m + Σ q λ_m,  B = Σ_u (N_ua − N_ub)²

by pairs of models, from sums of products of the models' worth: Σ v d² = G_aa + G_bb − 2 G_ab with G = Σ v λ λᵀ. B is
not centred, as in the score test of MATHS §13. A sample of users is kept as it is: from it comes how variances fall
where probabilities meet a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.design.candidates import Candidates
from unskew.design.probabilities import ListDesign, Weights
from unskew.engine.walk import walk
from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64
from unskew.kernels.design import add_lists, close_up
from unskew.kernels.ranks import find_ranks
from unskew.log import Log, Recommendations
from unskew.log.order import starts_of
from unskew.outcome.base import PairPredictor

LEAST = 1e-3  # q is taken to lie so far from 0 and 1 in the design: every differing pair keeps a chance
KEPT = 200_000  # listed places of the users that are kept


@dataclass(frozen=True, eq=False)
class Block:
    """The listed pairs of some users that may be asked about: those whose worth differs between models."""

    counts: Ints64
    item: Ints32
    weight: Weights
    q: Floats
    worth: Floats


@dataclass(frozen=True, eq=False)
class Stakes:
    """Sums over all users, by [model, model] or by model.

    Args:
        differing: pairs with d ≠ 0.
        variance: V.
        hits: Σ q over pairs with d ≠ 0.
        between: B, as predicted.
        value: N_m.
        ahead, places, lean: over pairs to which a gives more than b, by [a, b]: Σ d, their number, Σ (1 − 2q) d².
        gone: listed places that the log or earlier data answers already.
        barred: pairs with different worth that may not be asked about.
    """

    differing: Floats
    variance: Floats
    hits: Floats
    between: Floats
    value: Floats
    ahead: Floats
    places: Floats
    lean: Floats
    gone: int
    barred: int

    def __add__(self, other: Stakes) -> Stakes:
        names = self.__dataclass_fields__
        return Stakes(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, eq=False)
class Looked:
    """The design's pairs, what is at stake, and the kept users as a small design of their own."""

    design: ListDesign
    stakes: Stakes
    sample: ListDesign
    sample_q: Floats
    sample_worth: Floats


def apart(gram: Floats) -> Floats:
    """Σ v (λ_a − λ_b)² from G = Σ v λ λᵀ."""
    own = np.diag(gram)
    return np.maximum(own[:, None] + own[None, :] - 2.0 * gram, 0.0)


def look(
    lists: Sequence[Recommendations],
    worth: Floats,
    candidates: Candidates,
    q: PairPredictor,
    judged: Log | None,
    *,
    uniform: float,
    per_user: int | None,
    threads: int | None = None,
) -> Looked:
    """Look at all lists.

    Args:
        lists: over the candidates' users and items.
        worth: by rank.
        judged: rows with gains that count as they are (logs with zeros), over the same users and items.
    """
    entries = sum(len(each.item) for each in lists)
    limit = np.uint64(min(int(KEPT / max(entries, 1) * 2**64), 2**64 - 1))
    keep = candidates.users.hashes <= limit

    def one(low: int, high: int) -> tuple[Block, Stakes, Block]:
        return _block(lists, worth, candidates, q, judged, keep, low, high)

    parts = list(walk(len(candidates.users), one, threads))
    blocks, kept = [part[0] for part in parts], [part[2] for part in parts]
    stakes = sum((part[1] for part in parts[1:]), parts[0][1])
    parts.clear()
    sizes = candidates.sizes()
    start = starts_of(np.concatenate([block.counts for block in blocks]))
    item, weight = np.concatenate([b.item for b in blocks]), np.concatenate([b.weight for b in blocks])
    blocks.clear()
    design = ListDesign(candidates, start, item, weight, sizes - np.diff(start), uniform, per_user, threads)
    counts = np.concatenate([block.counts for block in kept])
    sample = ListDesign(
        candidates, starts_of(counts), np.concatenate([b.item for b in kept]),
        np.concatenate([b.weight for b in kept]), np.where(keep, design.others, 0), 0.0, per_user, threads,
    )  # fmt: skip
    return Looked(design, stakes, sample, np.concatenate([b.q for b in kept]), np.concatenate([b.worth for b in kept]))


def _block(
    lists: Sequence[Recommendations],
    worth: Floats,
    candidates: Candidates,
    q: PairPredictor,
    judged: Log | None,
    keep: Bools,
    low: int,
    high: int,
) -> tuple[Block, Stakes, Block]:
    models, users = len(lists), high - low
    lengths = sum((np.diff(each.indptr[low : high + 1]) for each in lists), np.zeros(users, dtype=np.int64))
    start, filled = starts_of(lengths), np.zeros(users, dtype=np.int64)
    items, worths = np.empty(start[-1], dtype=np.int32), np.zeros((start[-1], models))
    for m, each in enumerate(lists):
        add_lists(low, high, each.indptr, each.item, each.rank, worth, m, start, filled, items, worths)
    user, item, value = np.empty(start[-1], np.int32), np.empty(start[-1], np.int32), np.empty((start[-1], models))
    n, gone = close_up(
        low, start, filled, items, worths, candidates.gone_start, candidates.gone, user, item, value
    )  # fmt: skip
    may = candidates.asked[user[:n]] & (candidates.place[item[:n]] >= 0)
    spread = value[:n].var(axis=1)
    barred = int(np.count_nonzero(~may & (spread > 0.0)))
    user, item, value, spread = user[:n][may], item[:n][may], value[:n][may], spread[may]
    chance = q(user, item) if len(user) else np.empty(0)
    noise = chance * (1.0 - chance)
    own = _known(lists, worth, judged, low, high)
    for m in range(models):
        own[:, m] += np.bincount(user - low, chance * value[:, m], users)
    own[~candidates.asked[low:high]] = 0.0
    count, hits = np.zeros((models, models)), np.zeros((models, models))
    for a in range(models):
        for b in range(a):
            apart_here = value[:, a] != value[:, b]
            count[a, b] = count[b, a] = np.count_nonzero(apart_here)
            hits[a, b] = hits[b, a] = chance[apart_here].sum()
    stakes = Stakes(
        count,
        apart(value.T @ (noise[:, None] * value)),
        hits,
        apart(own.T @ own),
        own.sum(axis=0),
        *_one_sided(value, chance),
        int(gone),
        barred,
    )
    safe = np.clip(chance, LEAST, 1.0 - LEAST)
    weight = np.sqrt(safe * (1.0 - safe) * spread).astype(np.float32)
    held = weight > 0.0

    def chosen(mask: Bools) -> Block:
        counts = np.bincount(user[mask] - low, minlength=users).astype(np.int64)
        return Block(counts, item[mask], weight[mask], chance[mask], value[mask])

    kept = chosen(held & keep[user])
    whole = chosen(held)
    return Block(whole.counts, whole.item, whole.weight, np.empty(0), np.empty((0, models))), stakes, kept


def _one_sided(value: Floats, chance: Floats) -> tuple[Floats, Floats, Floats]:
    """Over pairs to which one model gives more than another: Σ d, their number, Σ (1 − 2q) d²."""
    models = value.shape[1]
    ahead, places, lean = np.zeros((3, models, models))
    for a in range(models):
        for b in range(models):
            more = value[:, a] > value[:, b]
            d = value[more, a] - value[more, b]
            ahead[a, b], places[a, b], lean[a, b] = d.sum(), len(d), ((1.0 - 2.0 * chance[more]) * d * d).sum()
    return ahead, places, lean


def _known(lists: Sequence[Recommendations], worth: Floats, judged: Log | None, low: int, high: int) -> Floats:
    """Σ_L y λ of these users, by model."""
    out = np.zeros((high - low, len(lists)))
    if judged is None or judged.gain is None:
        return out
    first, last = judged.indptr[low], judged.indptr[high]
    rank = np.zeros(last - first, dtype=np.int32)
    user = np.repeat(np.arange(high - low), np.diff(judged.indptr[low : high + 1]))
    for m, each in enumerate(lists):
        find_ranks(judged.indptr, judged.item, each.indptr, each.item, each.rank, low, high, rank)
        of_rank = np.where(rank < len(worth), worth[np.minimum(rank, len(worth) - 1)], 0.0)
        out[:, m] = np.bincount(user, judged.gain[first:last] * of_rank, high - low)
    return out
