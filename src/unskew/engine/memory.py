"""The engine in memory: fixed blocks of users, walked by threads, merged in order.

Blocks depend on the number of users only, not on that of threads, and are merged in their order, so the numbers don't
depend on threads either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import numpy as np

from unskew.engine.arm import Arm
from unskew.engine.held import Floats, Held, Ints64
from unskew.engine.rated import RatedArm
from unskew.engine.summed import SummedArm
from unskew.engine.tilts import Pull, fill_pulls
from unskew.inference.bootstrap import replicate_sums
from unskew.inference.form import Form
from unskew.inference.moments import Moments
from unskew.inference.tally import Carried, Tally
from unskew.threads import Threads

BLOCK = 4096  # users at most
BLOCKS = 8  # of fewer users there are so many blocks at least, for every thread to have its share ...
LEAST = 512  # ... unless they were smaller than this
T = TypeVar("T")
AnyArm = Arm | RatedArm | SummedArm
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Cell:
    """One metric of one arm, its columns, and how its estimate is made of them."""

    arm: int
    metric: int
    columns: Ints64
    form: Form


@dataclass(frozen=True, eq=False)
class Sums:
    """Everything that the first pass brings; merges over users.

    Args:
        moments: one per cell.
        tallies: one per arm.
        carried: one per arm: the pairs that carry each metric's number for each model.
        totals: column sums.
        replicates: bootstrap column sums, (replicates, columns).
        x: the per-user columns themselves, kept on request.
    """

    moments: tuple[Moments, ...]
    tallies: tuple[Tally, ...]
    carried: tuple[Carried, ...]
    totals: Floats
    replicates: Floats | None = None
    x: tuple[Floats, ...] = ()

    def merge(self, other: Sums) -> Sums:
        """The sums of both sets of users."""
        replicates = self.replicates
        if replicates is not None and other.replicates is not None:
            replicates = replicates + other.replicates
        return Sums(
            tuple(a.merge(b) for a, b in zip(self.moments, other.moments, strict=True)),
            tuple(a.merge(b) for a, b in zip(self.tallies, other.tallies, strict=True)),
            tuple(a.merge(b) for a, b in zip(self.carried, other.carried, strict=True)),
            self.totals + other.totals,
            replicates,
            self.x + other.x,
        )


def estimate(
    held: Held,
    arms: Sequence[AnyArm],
    cells: Sequence[Cell],
    *,
    replicates: int = 0,
    seed: int = 0,
    keep: bool = False,
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> Sums:
    """First pass: per-user columns of every arm, reduced to sums that merge."""
    columns = sum(arm.width for arm in arms)

    def one(low: int, high: int) -> Sums:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, columns))
        tallies, carried = zip(*(arm.fill(batch, ranked, x) for arm in arms), strict=True) if arms else ((), ())
        moments = tuple(Moments.of(x, cell.columns, cell.form) for cell in cells)
        drawn = replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None
        return Sums(moments, tallies, carried, x.sum(axis=0), drawn, (x,) if keep else ())

    return reduce(Sums.merge, walk(held.users, one, threads, block, progress))


def weighted_sums(
    held: Held, arms: Sequence[AnyArm], weights: Floats, *, threads: int | None = None, block: int | None = None
) -> Floats:
    """Column sums of every arm with a weight per user: one replicate whose propensities were fitted anew."""
    columns = sum(arm.width for arm in arms)

    def one(low: int, high: int) -> Floats:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, columns))
        for arm in arms:
            arm.fill(batch, ranked, x)
        return np.asarray((weights[low:high, None] * x).sum(axis=0))

    return reduce(np.add, walk(held.users, one, threads, block))


@dataclass(frozen=True, eq=False)
class TippingSums:
    """What the second pass brings: column sums, sums of their squares or products, and column sums per replicate.

    Worst cases on a grid need squares only; closed forms are sums of columns, and need products.
    """

    totals: Floats
    products: tuple[Floats, ...]
    replicates: Floats | None = None

    def merge(self, other: TippingSums) -> TippingSums:
        """The sums of both sets of users."""
        drawn = None
        if self.replicates is not None and other.replicates is not None:
            drawn = self.replicates + other.replicates
        products = tuple(a + b for a, b in zip(self.products, other.products, strict=True))
        return TippingSums(self.totals + other.totals, products, drawn)


def tilt(
    held: Held,
    pulls: Sequence[Pull],
    *,
    replicates: int = 0,
    seed: int = 0,
    threads: int | None = None,
    block: int | None = None,
    progress: Progress | None = None,
) -> TippingSums:
    """Second pass: sums for tipping points, and the same in every replicate."""
    held = replace(held, guess=None)  # ranks will do: what an outcome model says of the lists stands in the first pass
    columns = sum(pull.width for pull in pulls)
    groups = [[p for p in pulls if p.arm is arm] for arm in dict.fromkeys(p.arm for p in pulls)]

    def one(low: int, high: int) -> TippingSums:
        batch, ranked = held.batch(low, high), held.ranked(low, high)
        x = np.empty((high - low, columns))
        for group in groups:
            fill_pulls(group, batch, ranked, held.relative, x)
        squares = np.einsum("uc,uc->c", x, x)
        products = tuple(squares[p.columns] if p.grid else _products(x[:, p.columns]) for p in pulls)
        drawn = replicate_sums(x, held.hashes[low:high], seed, replicates) if replicates else None
        return TippingSums(x.sum(axis=0), products, drawn)

    return reduce(TippingSums.merge, walk(held.users, one, threads, block, progress))


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
