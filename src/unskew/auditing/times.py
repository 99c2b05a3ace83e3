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
import numpy.typing as npt

from unskew.auditing.spread import jensen_shannon, jensen_shannon_chance
from unskew.auditing.values import difference
from unskew.auditing.weights import HELD_OUT
from unskew.kernels.arrays import present
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


def times(log: Log) -> Time:
    """Periods, newcomers and drift of a log with times."""
    assert log.time is not None
    first, last = int(log.time.min()), int(log.time.max())
    clock = Clock.of(log, first, last)
    unit = clock.per_second
    origin, width, words = _periods(first, last, unit)
    place = np.clip((log.time.astype(np.float64) - origin) / width, 0, MOST_PERIODS - 1).astype(np.int32)
    number = int(place.max()) + 1
    parts = [
        Period(clock.text(origin + k * width), rows, users, items)
        for k, rows, users, items in zip(
            count(),
            np.bincount(place, minlength=number).tolist(),
            _newcomers(log.user, place, len(log.users), number),
            _newcomers(log.item, place, len(log.items), number),
            strict=False,
        )
    ]
    rows = len(log)
    late = min(round(rows * (1.0 - HELD_OUT)), rows - 1)
    at = np.partition(log.time, sorted({rows // 3, late, 2 * rows // 3}))
    return Time(
        scale=clock.name,
        start=clock.text(first),
        end=clock.text(last),
        days=None if unit is None else (last - first) / unit * _SECOND / _DAY,
        width=words,
        periods=tuple(parts),
        drift=_drift(log, int(at[rows // 3]), int(at[2 * rows // 3])),
        ahead=_ahead(log, int(at[late])),
    )


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


def _newcomers(code: npt.NDArray[np.int32], place: npt.NDArray[np.int32], size: int, periods: int) -> list[int]:
    """How many have their first row in each period."""
    first = np.full(size, periods, dtype=np.int32)
    np.minimum.at(first, code, place)
    found: list[int] = np.bincount(first, minlength=periods + 1)[:periods].tolist()
    return found


def _drift(log: Log, third: int, two_thirds: int) -> Drift | None:
    before, after = present(log.time) < third, present(log.time) >= two_thirds
    if third >= two_thirds or not before.any():
        return None
    a, b = (np.bincount(log.item[rows], minlength=len(log.items)) for rows in (before, after))
    means: tuple[float | None, ...] = (None, None, None, None)
    if log.value is not None:
        sides = (log.value[after], log.user[after], log.value[before], log.user[before])
        late, early, gap, se = difference(*sides, len(log.users))
        means = (early, late, gap, se)
    js, by_chance = jensen_shannon(a, b), jensen_shannon_chance(a, b)
    return Drift(int(a.sum()), int(b.sum()), js, by_chance, *means)


def _ahead(log: Log, cut: int) -> Ahead | None:
    """The rows from the cut on; users and items whose first row is among them are new."""
    late = present(log.time) >= cut
    if late.all():
        return None
    shares = []
    for code, size in ((log.user, len(log.users)), (log.item, len(log.items))):
        known = np.zeros(size, dtype=np.bool_)
        known[code[~late]] = True
        shares.append(float(np.mean(~known[code[late]])))
    return Ahead(int(np.count_nonzero(late)), *shares)
