"""What the numbers in ``Log.time`` are: microseconds of dates and datetimes, Unix times, or numbers without a unit.

A log that was read from numbers does not say what they count. Numbers that all lie between 1990 and 2100 in one of the
usual units are Unix times in that unit: the ranges of the units do not overlap, so that at most one of them fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

import polars as pl

from unskew.log.log import Log

MICRO = 1_000_000  # microseconds in a second
EPOCH = datetime(1970, 1, 1)
_UNIX = {"Unix seconds": 1, "Unix milliseconds": 10**3, "Unix microseconds": 10**6, "Unix nanoseconds": 10**9}
_FROM, _TO = 631_152_000, 4_102_444_800  # 1990 and 2100, in seconds


@dataclass(frozen=True)
class Clock:
    """What the times of a log are.

    Args:
        name: ``datetime``, ``Unix seconds``, … or ``number``.
        per_second: how many of the numbers make a second; None for numbers without a unit.
        zoned: whether a number is a moment, the same all over the world; else it is what a clock on some wall showed.
        zone: the time zone that the column had, if it had one.
    """

    name: str
    per_second: int | None
    zoned: bool = False
    zone: str | None = None

    @classmethod
    def of(cls, log: Log, first: int, last: int) -> Clock:
        """The clock of a log whose first and last times these are."""
        if log.clock is not None:
            zone = log.clock.time_zone if isinstance(log.clock, pl.Datetime) else None
            return cls("datetime", MICRO, zone is not None, zone)
        for name, unit in _UNIX.items():
            if _FROM * unit <= first and last < _TO * unit:
                return cls(name, unit, zoned=True, zone="UTC")
        return cls("number", None)

    def text(self, moment: float, zone: tzinfo | None = None) -> str:
        """A time for people: a date where it is one; with a zone, as clocks there show it."""
        if self.per_second is None:
            return f"{int(moment)}"
        try:
            found = EPOCH + timedelta(microseconds=round(moment / self.per_second * MICRO))
            if zone is not None:
                found = found.replace(tzinfo=UTC).astimezone(zone)
        except OverflowError:
            return f"{int(moment)}"
        if found.time() == datetime.min.time():
            return found.date().isoformat()
        return found.isoformat(timespec="seconds")
