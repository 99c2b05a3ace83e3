"""Where on the page clicks come from: rows by place, and what they are worth there (MATHS §19).

    mean = Σ y / rows of a place, where rows that brought nothing are kept: the click rate, if y is 0 or 1
    share = rows of a place / rows with a place: of positives, the share of the clicks

Fewer people look at lower places, and better items may stand higher: the two are not told apart here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unskew.auditing.looks import AuditPart, Look, judges
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Floats, Ints64, present
from unskew.log import Feedback
from unskew.log.position import LAST

COUNTED = 20  # places up to this one are counted by themselves, all others together


@dataclass(frozen=True)
class Place:
    """The rows of one place (``low`` = ``high``), or of all that lie beyond; ``mean`` is ``None`` among positives."""

    low: int
    high: int
    rows: int
    share: float
    mean: float | None


@dataclass(frozen=True)
class Places:
    """The places of a log that has several of them.

    Args:
        least, largest: the first and the last.
        unknown: rows without a place.
        rates: whether means are rates, of rows that count or do not.
        places: those that have rows.
    """

    least: int
    largest: int
    unknown: int
    rates: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class PlaceSums(Mergeable):
    """Rows and Σ y by place.

    Args:
        nothing, graded: rows whose y is 0, and those whose y is neither 0 nor 1.
    """

    rows: Ints64
    totals: Floats
    unknown: int
    nothing: int
    graded: int
    least: int = merged_by(min)
    largest: int = merged_by(max)


@dataclass(frozen=True)
class AskPlaces:
    """Asks for the sums of every place.

    Args:
        judged: whether y is what an evaluation counts; else it is the value as it came.
    """

    judged: bool

    def __call__(self, part: AuditPart) -> PlaceSums:
        """Of one part."""
        position, log = present(part.log.position), part.log
        y = part.gain if self.judged or log.value is None else log.value
        known = position.is_not_null().to_numpy()
        place = position.drop_nulls().to_numpy().astype(np.int64)
        at = np.minimum(place, COUNTED + 1)
        return PlaceSums(
            np.bincount(at, minlength=COUNTED + 2),
            np.asarray(np.bincount(at, weights=y[known], minlength=COUNTED + 2), dtype=np.float64),
            int(np.count_nonzero(~known)),
            int(np.count_nonzero(y == 0.0)),
            int(np.count_nonzero((y != 0.0) & (y != 1.0))),
            int(place.min(initial=LAST)),
            int(place.max(initial=0)),
        )


def places(feedback: Feedback | None, relevant: str | None) -> Look[Places | None]:
    """Look at the places of a log with a column ``position``; ``None`` where all rows have the same."""
    judged = feedback is not None and judges(feedback, relevant)
    sums: PlaceSums = yield AskPlaces(judged)
    if sums.least >= sums.largest:
        return None
    positives = judged and not sums.nothing and relevant is None
    means = None if positives else sums.totals / np.maximum(sums.rows, 1)
    return Places(sums.least, sums.largest, sums.unknown, judged and not sums.graded, _by_place(sums, means))


def _by_place(sums: PlaceSums, means: Floats | None) -> tuple[Place, ...]:
    """The places that have rows."""
    every, found = int(sums.rows.sum()), []
    for place in np.flatnonzero(sums.rows).tolist():
        rows, beyond = int(sums.rows[place]), place > COUNTED
        low, high = (max(place, sums.least), sums.largest) if beyond else (place, place)
        found.append(Place(low, high, rows, rows / every, None if means is None else float(means[place])))
    return tuple(found)
