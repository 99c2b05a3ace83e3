"""When things were seen: the span, interactions per period, newcomers, and how far the items drift.

    drift = Jensen–Shannon divergence, in bits, between the item distributions of the first and the last third of the
            rows in time order; ``chance`` is what it would be if the same rows had been dealt to both at random

``ahead`` looks at the last 30 % of the rows, as a hold-out by time would: how much of it falls on users and items that
had no row before. That is the support gap which such an evaluation would report.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from unskew.auditing.looks import HELD_OUT, AuditPart, Look
from unskew.auditing.order import at_places
from unskew.auditing.spread import jensen_shannon, jensen_shannon_chance
from unskew.auditing.values import ClusteredError, SideSums, influence
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Ints32, Ints64, present
from unskew.log import Log
from unskew.log.clock import Clock

MOST_PERIODS = 60
_SECOND = 1_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3_600 * _SECOND, 86_400 * _SECOND
_WIDTHS = {
    "second": _SECOND,
    "15 seconds": 15 * _SECOND,
    "minute": _MINUTE,
    "5 minutes": 5 * _MINUTE,
    "15 minutes": 15 * _MINUTE,
    "hour": _HOUR,
    "3 hours": 3 * _HOUR,
    "6 hours": 6 * _HOUR,
    "12 hours": 12 * _HOUR,
    "day": _DAY,
    "2 days": 2 * _DAY,
    "week": 7 * _DAY,
    "2 weeks": 14 * _DAY,
    "30 days": 30 * _DAY,
    "91 days": 91 * _DAY,
    "year": 365 * _DAY,
    "5 years": 5 * 365 * _DAY,
    "25 years": 25 * 365 * _DAY,
}
_WIDEST = "25 years"
_NEVER = 2**63 - 1


@dataclass(frozen=True)
class Period:
    """Interactions of one period, and users and items that had none before."""

    start: str
    rows: int
    new_users: int
    new_items: int


@dataclass(frozen=True)
class Drift:
    """The last third of the rows against the first."""

    rows_first: int
    rows_last: int
    js_bits: float
    js_chance: float
    mean_first: float | None
    mean_last: float | None
    difference: float | None
    se: float | None


@dataclass(frozen=True)
class Ahead:
    """The last 30 % of the rows: shares of them on users and items without an earlier row."""

    rows: int
    new_users: float
    new_items: float


@dataclass(frozen=True)
class Time:
    """When things were seen.

    Args:
        scale: what the times are: ``datetime``, numbers read as Unix times, or plain ``number``.
        start, end: the first and last time, as ISO 8601 where it is a date.
        days: the span, where times are dates.
        width: of a period, in words.
        periods: at most 60, in order.
        drift, ahead: ``None`` where too many rows share one time.
    """

    scale: str
    start: str
    end: str
    days: float | None
    width: str
    periods: tuple[Period, ...]
    drift: Drift | None
    ahead: Ahead | None


def _fewest(a: Ints64, b: Ints64) -> Ints64:
    return np.asarray(np.minimum(a, b), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TimeEnds(Mergeable):
    """The first and last time of some rows, and of every item its rows and its first time."""

    rows: int
    by_item: Ints64
    first: int = merged_by(min)
    last: int = merged_by(max)
    first_of_item: Ints64 = merged_by(_fewest)

    @classmethod
    def of(cls, part: AuditPart) -> TimeEnds:
        """Of one part."""
        log, time = part.log, present(part.log.time)
        first = np.full(len(log.items), _NEVER, dtype=np.int64)
        np.minimum.at(first, log.item, time)
        low, high = int(time.min(initial=_NEVER)), int(time.max(initial=-_NEVER - 1))
        return cls(len(log), np.bincount(log.item, minlength=len(log.items)), low, high, first)


@dataclass(frozen=True, eq=False)
class TimeRows(Mergeable):
    """What happened when.

    Args:
        periods: rows of each; ``new_users`` users whose first row lies there.
        before, after: rows of each item in the first and the last third, and their values.
        late: rows from the cut on, and those of users who have no earlier one.
    """

    periods: Ints64
    new_users: Ints64
    before: Ints64
    after: Ints64
    values: tuple[SideSums, SideSums] | None
    late: int
    late_of_new: int


@dataclass(frozen=True, eq=False)
class AskTimes:
    """Asks what happened when.

    Args:
        third, two_thirds, cut: where the first third of the rows ends, and the last third and the last 30 % begin.
    """

    origin: int
    width: float
    number: int
    third: int
    two_thirds: int
    cut: int

    def __call__(self, part: AuditPart) -> TimeRows:
        """Of one part."""
        log, time = part.log, present(part.log.time)
        place = _places(time, self.origin, self.width)
        first = np.full(len(log.users), _NEVER, dtype=np.int64)
        np.minimum.at(first, log.user, time)
        came = _places(first[np.diff(log.indptr) > 0], self.origin, self.width)
        before, after = time < self.third, time >= self.two_thirds
        sides = None
        if log.value is not None:
            sides = SideSums.of(log.value[before]), SideSums.of(log.value[after])
        new = first >= self.cut
        return TimeRows(
            np.bincount(place, minlength=self.number),
            np.bincount(came, minlength=self.number),
            np.bincount(log.item[before], minlength=len(log.items)),
            np.bincount(log.item[after], minlength=len(log.items)),
            sides,
            int(np.count_nonzero(time >= self.cut)),
            int(np.diff(log.indptr)[new].sum()),
        )


@dataclass(frozen=True, eq=False)
class AskDriftError:
    """Asks for the error of the difference between both thirds."""

    third: int
    two_thirds: int
    sides: tuple[SideSums, SideSums]

    def __call__(self, part: AuditPart) -> ClusteredError:
        """Of one part."""
        log, time, users = part.log, present(part.log.time), len(part.log.users)
        value, e, rows = present(log.value), np.zeros(users), np.zeros(users, dtype=np.int64)
        masks = (time < self.third, -1.0), (time >= self.two_thirds, 1.0)
        for (inside, sign), side in zip(masks, self.sides, strict=True):
            e += sign * influence(value[inside], side, log.user[inside], users)
            rows += np.bincount(log.user[inside], minlength=users)
        return ClusteredError.of(e, rows > 0)


def times(log: Log) -> Look[Time]:
    """Periods, newcomers and drift of a log with times; all that is asked of this one is what its times are."""
    ends: TimeEnds = yield TimeEnds.of
    first, last, rows = ends.first, ends.last, ends.rows
    clock = Clock.of(log, first, last)
    unit = clock.per_second
    origin, width, words = _periods(first, last, unit)
    number = int(_places(np.array([last]), origin, width)[0]) + 1
    late = min(round(rows * (1.0 - HELD_OUT)), rows - 1)
    places = rows // 3, 2 * rows // 3, late
    third, two_thirds, cut = (int(at) for at in (yield from at_places({"time": places}))["time"])
    found: TimeRows = yield AskTimes(origin, width, number, third, two_thirds, cut)
    there = ends.by_item > 0
    came = np.bincount(_places(ends.first_of_item[there], origin, width), minlength=number)
    parts = [
        Period(clock.text(origin + k * width), *counts)
        for k, counts in enumerate(zip(found.periods.tolist(), found.new_users.tolist(), came.tolist(), strict=True))
    ]
    error: ClusteredError | None = None
    drifts = third < two_thirds and bool(found.before.any())
    if drifts and found.values is not None:
        error = yield AskDriftError(third, two_thirds, found.values)
    of_new = int(ends.by_item[ends.first_of_item >= cut].sum())
    return Time(
        scale=clock.name,
        start=clock.text(first),
        end=clock.text(last),
        days=None if unit is None else (last - first) / unit * _SECOND / _DAY,
        width=words,
        periods=tuple(parts),
        drift=_drift(found, error) if drifts else None,
        ahead=None if found.late == rows else Ahead(found.late, found.late_of_new / found.late, of_new / found.late),
    )


def _places(time: Ints64, origin: int, width: float) -> Ints32:
    """The period of every time."""
    return np.clip((time.astype(np.float64) - origin) / width, 0, MOST_PERIODS - 1).astype(np.int32)


def _periods(first: int, last: int, unit: int | None) -> tuple[int, float, str]:
    """Where the first period begins, how long each is, and that in words."""
    span = last - first
    if unit is None:
        width = next(w for k in count() for w in (10**k, 2 * 10**k, 5 * 10**k) if span / w < MOST_PERIODS - 1)
        return first // width * width, width, f"{width:,}"
    for words, micro in _WIDTHS.items():
        whole = min(micro, _DAY) * unit // _SECOND
        origin = first // whole * whole
        if (last - origin) * _SECOND < MOST_PERIODS * micro * unit or words == _WIDEST:
            break
    return origin, micro * unit / _SECOND, words


def _drift(found: TimeRows, error: ClusteredError | None) -> Drift:
    a, b = found.before, found.after
    means: tuple[float | None, ...] = (None, None, None, None)
    if found.values is not None:
        early, late = (side.mean for side in found.values)
        means = (early, late, late - early, present(error).se)
    return Drift(int(a.sum()), int(b.sum()), jensen_shannon(a, b), jensen_shannon_chance(a, b), *means)
