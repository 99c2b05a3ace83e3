"""How evenly rows are spread over users or items, before and after sampling.

    entropy = −Σ p log2 p              p = n_i / n
    KL      = log2 K − entropy         bits to the uniform distribution over the K that had a row before sampling
    Gini    = Σ_k (2k − K − 1) n_(k) / (K n)
    distance = ½ Σ |p − q|             q the shares in a log of pairs drawn at random: the share of rows to be moved

A smaller log is less even by chance alone. ``equal`` is therefore beside them: the same number of rows drawn with equal
chances (each row independently with probability m/n, one draw).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.kernels.arrays import Floats, Ints64
from unskew.log import Ids
from unskew.sampling.tallies import Tallies, Tally

_POINTS = 41


@dataclass(frozen=True)
class Evenness:
    """How evenly some rows are spread.

    Args:
        present: how many users (items) have a row.
        curve: share of the most frequent → share of the rows.
        distance: to a log of pairs drawn at random; ``None`` without one.
    """

    present: int
    kl_bits: float
    entropy: float
    gini: float
    distance: float | None
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Side:
    """Users or items, as many as had a row: in all rows, in the sample, and in one of its size with equal chances.

    Args:
        unseen: how many of them have no training row.
        rare: how many have a training posterior below the one that the unseen are given.
    """

    number: int
    before: Evenness
    after: Evenness
    equal: Evenness
    unseen: int
    rare: int


def sides(
    before: Tallies, after: Tallies, train: Tallies | None, random: Tallies | None, zero: float
) -> dict[str, Side]:
    """Users and items; ``after`` is counted over the ids of ``before``, ``zero`` is the posterior of unseen ones."""

    def of(name: str, log: Tallies | None) -> Tally | None:
        return None if log is None else log.users if name == "users" else log.items

    return {
        "users": _side(before.users, after.users.rows, of("users", train), of("users", random), zero),
        "items": _side(before.items, after.items.rows, of("items", train), of("items", random), zero),
    }


def _side(before: Tally, after: Ints64, train: Tally | None, random: Tally | None, zero: float) -> Side:
    there, ids = before.rows > 0, before.present()
    rows, kept = before.rows[there], after[there]
    chance = np.random.default_rng(0).binomial(rows, float(kept.sum() / rows.sum()))
    shares = None if random is None else _shares(ids, random)
    seen = None if train is None else train.of(ids) / train.rows.sum()
    return Side(
        number=len(rows),
        before=evenness(rows, shares),
        after=evenness(kept, shares),
        equal=evenness(chance if chance.any() else kept, shares),
        unseen=0 if seen is None else int(np.count_nonzero(seen == 0.0)),
        rare=0 if seen is None else int(np.count_nonzero((seen > 0.0) & (seen < zero))),
    )


def evenness(counts: Ints64, random: tuple[Floats, float] | None) -> Evenness:
    """Of rows per id, of which some may be 0."""
    share = counts / counts.sum()
    inside = share[share > 0.0]
    entropy = max(float(-(inside @ np.log2(inside))), 0.0)
    size = len(counts)
    ascending = np.sort(counts)
    gini = float((2.0 * np.arange(1, size + 1) - size - 1) @ ascending / (size * counts.sum()))
    taken = np.concatenate([[0.0], np.cumsum(ascending[::-1]) / counts.sum()])
    at = np.unique(np.linspace(0, size, _POINTS).astype(np.int64))
    return Evenness(
        present=int(np.count_nonzero(counts)),
        kl_bits=max(float(np.log2(size)) - entropy, 0.0),
        entropy=entropy,
        gini=max(gini, 0.0),
        distance=None if random is None else float(np.abs(share - random[0]).sum() + random[1]) / 2.0,
        curve=tuple(zip((at / size).tolist(), taken[at].tolist(), strict=True)),
    )


def _shares(ids: Ids, random: Tally) -> tuple[Floats, float]:
    """The shares of the ids in the random log, and that of its other ids."""
    share = random.of(ids) / random.rows.sum()
    return share, max(1.0 - float(share.sum()), 0.0)
