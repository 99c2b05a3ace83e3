"""Several samples of one log in memory, each kept as a mark per row.

Draw n has a seed of its own, the first one the seed that was given: ``us.sample`` with the same seed gives the same
rows. Beside each sample of m rows one that is a little larger and one that is a little smaller is marked, with the same
keys, which tell how a score changes with the size (``inference/draw_error.py``): a tenth of the rows that are kept, or
of those that are left out where these are fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import SEED
from unskew.core.memory import require
from unskew.kernels.arrays import Floats, Ints64
from unskew.kernels.hashing import mix
from unskew.log import Log
from unskew.log.ids import stream_of
from unskew.sampling.base import Sampler
from unskew.sampling.draw import drawing_keys, refuse_samples
from unskew.sampling.least import least
from unskew.sampling.size import number_of
from unskew.sampling.tallies import Tallies, Weights

LARGER, DRAWN, SMALLER = 1, 2, 3  # a mark holds for a row in the larger sample only, in the sample, in the smaller one
BAND = 10  # the larger and the smaller sample differ by one in so many rows


@dataclass(frozen=True, eq=False)
class RepeatedDraws:
    """Several samples of a log.

    Args:
        log: what was sampled.
        number: the rows of each sample.
        seeds: one per sample; where all rows are kept, one sample is all there is.
        marks: (samples, rows): 0, ``LARGER``, ``DRAWN`` or ``SMALLER``.
        span: how many rows lie between the smaller and the larger samples.
    """

    log: Log
    sampler: Sampler
    number: int
    seeds: tuple[int, ...]
    marks: npt.NDArray[np.uint8]
    span: int

    @property
    def times(self) -> Ints64:
        """How many samples keep each row."""
        return np.asarray(np.count_nonzero(self.marks >= DRAWN, axis=0), dtype=np.int64)

    @property
    def excess(self) -> Floats:
        """t of each user of the log: rows kept, averaged over the samples, less the share m/N of all their rows."""
        kept = self.times / len(self.seeds) - self.number / len(self.log)
        return np.asarray(np.bincount(self.log.user, weights=kept, minlength=len(self.log.users)), dtype=np.float64)


def draw_repeatedly(
    log: Log,
    sampler: Sampler,
    *,
    train: Log | None,
    mcar: Log | None,
    size: float | int,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], None],
) -> RepeatedDraws:
    """Draw so many samples of a log; ``size`` is checked already."""
    refuse_samples(log)
    number = number_of(size, len(log), log.account.source, "sample_size")
    logs = (None if each is None else Tallies.of_log(each) for each in (train, mcar))
    weights = Weights.by(sampler, Tallies.of_log(log), *logs)
    if number == len(log):
        marks = np.full((1, len(log)), SMALLER, dtype=np.uint8)
        return RepeatedDraws(log, sampler, number, (seed,), marks, 0)
    require(2 * repeats * len(log) + 40 * len(log), f"drawing {repeats:,} samples", "Draw fewer, with repeats=….")
    band = max(min(number, len(log) - number) // BAND, 1)
    marks = np.zeros((repeats, len(log)), dtype=np.uint8)
    seeds = seeds_of(seed, repeats)
    for n, own in enumerate(seeds):
        progress(n, repeats)
        keys = drawing_keys(log, weights, own)
        for count in (number + band, number, number - band):
            if count:
                marks[n] += least(keys, count)
    return RepeatedDraws(log, sampler, number, seeds, marks, 2 * band)


def seeds_of(seed: int, repeats: int) -> tuple[int, ...]:
    """The seed itself, and others made from it: the samples of two seeds have nothing in common."""
    stream = np.uint64(stream_of(f"repeats of {seed}"))
    return seed, *(int(mix(np.uint64(n) ^ stream)) & SEED.high for n in range(1, repeats))
