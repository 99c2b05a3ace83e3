"""Passes over held-out rows in memory: fixed blocks of users, walked by threads, merged in order.

Blocks depend on the number of users only, not on that of threads, and are merged in their order, so the numbers don't
depend on threads either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar

import numpy as np

from unskew.engine.data import EvaluationData, Floats
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair, fill_pairs
from unskew.engine.sums import Extent, Sums, TippingSums
from unskew.inference.bootstrap import replicate_sums, user_weights
from unskew.inference.moments import Moments
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.threads import Threads

BLOCK = 4096  # users at most
BLOCKS = 8  # of fewer users there are so many blocks at least, for every thread to have its share ...
LEAST = 512  # ... unless they were smaller than this
T = TypeVar("T")
Progress = Callable[[int, int], None]


def first_pass(
    held: EvaluationData,
    plan: EvaluationPlan,
    *,
    replicates: int = 0,
    seed: int = 0,
    keep: bool = False,
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> Sums:
    """Per-user columns of every run, reduced to sums that merge."""

    def one(low: int, high: int) -> Sums:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, plan.width))
        tallied = [run.fill(batch, ranked, x) for run in plan.runs]
        return Sums(
            tuple(Moments.of(x, cell.columns, cell.form) for cell in plan.cells),
            tuple(tally for tally, _ in tallied),
            tuple(carried for _, carried in tallied),
            x.sum(axis=0),
            replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None,
            (x,) if keep else (),
            reduce(PredictionRange.merge, (model.list_range for model in ranked), NO_PREDICTIONS),
            Extent.of(held, low, high),
        )

    return reduce(Sums.merge, walk(held.users, one, threads, block, progress))


def second_pass(
    held: EvaluationData,
    pairs: Sequence[ModelPair],
    *,
    replicates: int = 0,
    seed: int = 0,
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> TippingSums:
    """Sums for tipping points, and the same in every replicate."""
    held = replace(held, listed=None)  # ranks will do: what an outcome model says of the lists stands in the first pass
    columns = sum(pair.width for pair in pairs)
    groups = [[p for p in pairs if p.run is run] for run in dict.fromkeys(p.run for p in pairs)]

    def one(low: int, high: int) -> TippingSums:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, columns))
        for group in groups:
            fill_pairs(group, batch, ranked, held.relative, x)
        squares = np.einsum("uc,uc->c", x, x)
        products = tuple(squares[p.columns] if p.on_grid else _products(x[:, p.columns]) for p in pairs)
        drawn = replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None
        return TippingSums(x.sum(axis=0), products, drawn)

    return reduce(TippingSums.merge, walk(held.users, one, threads, block, progress))


def weighted_sums(
    held: EvaluationData,
    plan: EvaluationPlan,
    *,
    seed: int = 0,
    replicate: int | None = None,
    threads: int | None = None,
) -> Floats:
    """Column sums of every run with each user's weight in one replicate, or with everybody once."""

    def one(low: int, high: int) -> Floats:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, plan.width))
        for run in plan.runs:
            run.fill(batch, ranked, x)
        if replicate is None:
            return np.asarray(x.sum(axis=0))
        weights = user_weights(held.hashes[low:high], seed, replicate)
        return np.asarray((weights[:, None] * x).sum(axis=0))

    return reduce(np.add, walk(held.users, one, threads))


def _products(x: Floats) -> Floats:
    return np.asarray(np.einsum("ua,ub->ab", x, x))


def walk(
    users: int,
    one: Callable[[int, int], T],
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> Iterator[T]:
    """Run ``one`` over fixed blocks of users; results come in order, whatever the number of threads."""
    block = block or min(BLOCK, max(LEAST, -(-users // BLOCKS)))
    bounds = [(low, min(low + block, users)) for low in range(0, users, block)]
    workers = min(threads or os.cpu_count() or 1, len(bounds))
    with Threads(workers) as pool:
        for (_, high), part in zip(bounds, pool.map(lambda bound: one(*bound), bounds), strict=True):
            if progress is not None:
                progress(high, users)
            yield part
