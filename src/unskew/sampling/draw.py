"""A sample of a log in memory.

The key of a row is a hash of (seed, user, item, time, count), so that a sample depends neither on the order of the rows
nor on whether they are in memory; a log in memory holds a pair once, so that its count is always 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from unskew.core.bounds import SEED
from unskew.core.errors import InputError
from unskew.kernels.arrays import Bools, Floats, Hashes, Ints64
from unskew.kernels.sampling import BOUNDS, exponential_keys, hash_rows, place_keys
from unskew.log import Log, read_log
from unskew.log.ids import stream_of
from unskew.log.log import WEIGHT
from unskew.sampling.base import Sampler
from unskew.sampling.least import Placed, least
from unskew.sampling.size import Size, checked_size, number_of
from unskew.sampling.tallies import Tallies, Weights

BLOCK = 1 << 16  # rows whose hashes and keys stay in the cache from one step to the next
NONE = np.empty(0, dtype=np.int64)


def sample(
    log: Any,
    strategy: str | Sampler = "wtd_h",
    *,
    train: Any = None,
    size: Size = None,
    seed: int = 0,
    mcar: Any = None,
) -> Log:
    """Draw rows of a log without replacement, so that users and items are less skewed, or as in a random sample.

    The values of rows are ignored, and no row is invented. The sample keeps the log's users and items, and remembers
    the weight of each row in its column ``sampling_weight``. Where all rows were equally likely (``reg``), a part of a
    split also knows its new share of the whole, and a log that was never split has its propensities multiplied by the
    share drawn. What a sample is good for, and what not: docs/sample.md.

    Args:
        log: a held-out log, or a training log: a ``Log``, a path, or any dataframe.
        strategy: a canonical string: ``full``, ``reg``, ``skew``, ``wtd``, ``wtd_h``,
            ``weighted(user_power=1, item_power=2, target=uniform)``.
        train: the log on which users and items are counted; to sample a training log, that log itself.
        size: a share of the rows (0.5 by default) or, as a whole number, how many.
        seed: picks one of the samples.
        mcar: a log of pairs drawn at random, the target of ``wtd``.
    """
    from unskew.sampling import make

    sampler, seed = make(strategy), int(SEED.of(seed, "the seed"))
    asked = checked_size(size, sampler)
    rows = as_log(log, "log")
    refuse_samples(rows)
    tallies = Tallies.of_log(rows)
    number = number_of(asked, len(rows), rows.account.source)
    weights = Weights.by(sampler, tallies, _tallies(train, "train"), _tallies(mcar, "mcar"))
    taken = drawn(rows, weights, number, seed)
    kept = rows.take(taken)
    weight = weights.user[kept.user] * weights.item[kept.item]
    kept = replace(kept, columns={**kept.columns, WEIGHT: pl.Series(WEIGHT, weight)})
    return remembered(kept, sampler, number / len(rows))


def drawn(log: Log, weights: Weights, number: int, seed: int) -> Bools:
    """Which rows of a log are drawn."""
    if number == len(log):
        return np.ones(len(log), dtype=np.bool_)
    return least(drawing_keys(log, weights, seed), number)


def drawing_keys(log: Log, weights: Weights, seed: int) -> Floats:
    """The key of each row of a log: the rows with the least keys are drawn."""
    time = NONE if log.time is None else log.time
    rows = row_hashes(seed, log.users.hashes[log.user], log.items.hashes[log.item], time)
    return row_keys(rows, NONE, weights.user[log.user] * weights.item[log.item])


def refuse_samples(log: Log) -> None:
    """A sample of a sample has weights that nobody knows."""
    if log.sampled_by or WEIGHT in log.columns:
        raise InputError(
            f"{log.account.source}: this log is a sample already, and a sample of a sample has weights that nobody "
            "knows.\nSample the whole log.",
            code="sampled-already",
        )


def row_hashes(seed: int, user: Hashes, item: Hashes, time: Ints64) -> Hashes:
    """A hash of seed, user, item and time of each row, from the hashes of its ids; without times, ``time`` is empty."""
    out = np.empty(len(user), dtype=np.uint64)
    hash_rows(_stream(seed), user, item, time, out)
    return out


@cache
def _stream(seed: int) -> np.uint64:
    return np.uint64(stream_of(f"sample {seed}"))


def row_keys(rows: Hashes, count: Ints64, weight: Floats) -> Floats:
    """The exponential key of each row; ``count`` is empty where no row repeats another."""
    out = np.empty(len(rows), dtype=np.float64)
    exponential_keys(rows, count, weight, out)
    return out


def placed_keys(rows: Hashes, count: Ints64, weight: Floats, bracket: tuple[float, float]) -> Placed:
    """The same keys beside a bracket."""
    below, place = np.empty(len(rows), dtype=np.bool_), np.empty(len(rows), dtype=np.int64)
    keys = np.empty(len(rows), dtype=np.float64)
    n = place_keys(rows, count, weight, *bracket, BOUNDS, below, place, keys)
    return Placed(below, place[:n].copy(), keys[:n].copy())


def times_of(piece: pl.DataFrame) -> Ints64:
    """The times of some rows; empty where there are none."""
    return piece["time"].to_numpy() if "time" in piece.columns else NONE


def blocks(rows: int) -> Iterator[slice]:
    """Rows that are worked on together."""
    return (slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK))


def remembered(part: Log, sampler: Sampler, share: float) -> Log:
    """The sample with what is known of the chance of its rows: nothing but the strategy where chances are unequal.

    A part of a split has a share of the whole, and now a smaller one. A log that was never split has none: its
    propensities are those of its own rows, which become those of the sample's rows. (A share would say that the
    training log holds all the other rows.) Where time has cut, propensities have no level that could change.
    """
    if not sampler.equal:
        return replace(part, share=None, sampled_by=str(sampler))
    if part.share is not None:
        return replace(part, share=part.share * share, drawn=part.drawn * share)
    own = part.propensity if part.propensity is None or part.cut_by_time else part.propensity * share
    return replace(part, propensity=own, drawn=part.drawn * share)


def as_log(given: Any, name: str) -> Log:
    """A log from a log, a path or a frame."""
    if isinstance(given, Log):
        return given
    if isinstance(given, str | PathLike):
        return read_log(given)
    return Log.from_frame(given, source=name)


def _tallies(given: Any, name: str) -> Tallies | None:
    return None if given is None else Tallies.of_log(as_log(given, name))
