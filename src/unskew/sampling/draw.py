"""A sample of a log in memory.

The key of a row is a hash of (seed, user, item, time, count), so that a sample depends neither on the order of the rows
nor on whether they are in memory; a log in memory holds a pair once, so that its count is always 0.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from unskew.bounds import SEED
from unskew.errors import InputError
from unskew.kernels.arrays import Bools, Floats, Hashes, Ints32, Ints64
from unskew.kernels.sampling import exponential_keys, hash_rows
from unskew.log import Log, read_log
from unskew.log.ids import Ids, stream_of
from unskew.log.log import WEIGHT
from unskew.sampling.base import Sampler
from unskew.sampling.least import least
from unskew.sampling.size import Size, checked_size, number_of
from unskew.sampling.tallies import Tallies, Weights

_NONE = np.empty(0, dtype=np.int64)


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
    if rows.sampled_by or WEIGHT in rows.columns:
        raise InputError(
            f"{rows.account.source}: this log is a sample already, and a sample of a sample has weights that nobody "
            "knows.\nSample the whole log."
        )
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
    rows = row_hashes(seed, log.users, log.items, log.user, log.item, log.time)
    return least(row_keys(rows, _NONE, log.user, log.item, weights), number)


def row_hashes(seed: int, users: Ids, items: Ids, user: Ints32, item: Ints32, time: Ints64 | None) -> Hashes:
    """A hash of seed, user, item and time of each row."""
    out = np.empty(len(user), dtype=np.uint64)
    stream = np.uint64(stream_of(f"sample {seed}"))
    hash_rows(stream, users.hashes, items.hashes, user, item, _NONE if time is None else time, out)
    return out


def row_keys(rows: Hashes, count: Ints64, user: Ints32, item: Ints32, weights: Weights) -> Floats:
    """The exponential key of each row; ``count`` is empty where no row repeats another."""
    out = np.empty(len(rows), dtype=np.float64)
    exponential_keys(rows, count, user, item, weights.user, weights.item, out)
    return out


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
