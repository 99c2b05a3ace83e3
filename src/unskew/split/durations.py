"""Durations as people write them, and calendars that count them back: 6h, 1d, 1w, 1mo, 1y, or a plain number.

Seconds, minutes and hours are spans of time. Days, weeks, months and years are steps of a calendar in a time zone: a
day lasts 23 or 25 hours when clocks change, and a month before 31 March is 28 or 29 February. A local time that clocks
skip is read as if they had not been changed yet; of one that comes twice, the first is meant.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from numbers import Integral
from zoneinfo import ZoneInfo

import polars as pl

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.kernels.arrays import Ints64, present
from unskew.log.clock import EPOCH, MICRO, Clock

SECONDS = {"s": 1, "min": 60, "h": 3_600}
DAYS = {"d": 1, "w": 7}
MONTHS = {"mo": 1, "y": 12}
KINDS = "a duration such as 6h, 1d, 1w or 1mo, or a number in the unit of the log's times"
LARGEST = 2**62  # as of times
FEW = 1_000  # times that are looked at before all are
_WRITTEN = re.compile(r"\s*([0-9]{1,12})\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Duration:
    """So many units; without a unit, so many of the numbers that the log's times are."""

    amount: int
    unit: str = ""

    @classmethod
    def make(cls, given: object, what: str) -> Duration:
        """A duration as it was written; anything else is refused in words about ``what``."""
        if isinstance(given, Duration):
            return given
        if isinstance(given, Integral) and not isinstance(given, bool) and 0 < int(given) <= LARGEST:
            return cls(int(given))
        written = _WRITTEN.fullmatch(given) if isinstance(given, str) else None
        if written is None or not int(written[1]) or written[2] not in (*SECONDS, *DAYS, *MONTHS, ""):
            hint = " Minutes are written min, months mo." if written is not None and written[2].lower() == "m" else ""
            raise InputError(
                f"{what} must be {KINDS}, not {shown(given)}.{hint}\nUnits are s, min, h, d, w, mo and y, with a whole "
                "number of at least 1 in front.",
                code="bad-value",
                option=what,
            )
        return cls(int(written[1]), written[2])

    def __str__(self) -> str:
        return f"{self.amount}{self.unit}"


@dataclass(frozen=True)
class Calendar:
    """The calendar by which the times of a log are counted.

    Args:
        clock: what the times are.
        zone: the name of the time zone; None where times are what clocks on some wall showed, or have no unit.
    """

    clock: Clock
    zone: str | None

    @classmethod
    def of(cls, clock: Clock, zone: str | None, source: str) -> Calendar:
        """The calendar of a log in the zone that was asked for; without one, in that of its column, or in UTC."""
        if zone is None:
            return cls(clock, clock.zone)
        if not clock.zoned:
            what = "are numbers without a known unit" if clock.per_second is None else "have no time zone"
            raise InputError(
                f"{source}: tz={plain(zone)} cannot be used: the times {what}, so that the moment that each of them "
                "stands for is not known.\nLeave tz out (days then begin and end as the times are written), or give "
                "times with their offset, as in 2024-03-31T01:30:00+01:00.",
                code="unusable-zone",
            )
        made = cls(clock, zone)
        made._where  # noqa: B018 - refuses names that are none
        return made

    @cached_property
    def _where(self) -> tzinfo:
        if self.zone in (None, "UTC"):
            return UTC
        try:
            return ZoneInfo(str(self.zone))
        except (OSError, ValueError, KeyError):
            raise InputError(
                f"tz must be the name of a time zone such as Europe/Brussels or UTC, not {shown(self.zone)}.",
                code="bad-value",
                option="tz",
            ) from None

    def back(self, moment: int, width: Duration, times: int = 1) -> int:
        """The time that lies ``times`` widths before a moment (behind it, where that is negative)."""
        if not width.unit:
            return moment - times * width.amount
        per_second = present(self.clock.per_second)  # ``check`` has refused the others
        if width.unit in SECONDS:
            return moment - times * width.amount * SECONDS[width.unit] * per_second
        if width.unit in DAYS and self._where is UTC:
            return moment - times * width.amount * DAYS[width.unit] * 86_400 * per_second
        try:
            local, rest = self._local(moment)
            return self._number(
                _steps(local.replace(tzinfo=None, fold=0), width, -times).replace(tzinfo=self._where), rest
            )
        except (OverflowError, ValueError):
            raise InputError(
                f"{abs(times) * width.amount:,}{width.unit} before {self.text(moment)} lies outside the years 1 to "
                "9999.\nTake fewer or narrower windows.",
                code="bad-date",
            ) from None

    def moment(self, given: int | str, source: str) -> int:
        """A time that somebody wrote, in the numbers of the log; a local time is one of this calendar's zone."""
        if isinstance(given, int):
            return given
        if self.clock.per_second is None:
            raise InputError(
                f"{source}: until={given} is a date, and the log's times are numbers without a known unit.\n"
                "Give a number, or convert the times to dates or datetimes.",
                code="bad-date",
                option="until",
            )
        read = datetime.fromisoformat(given)
        if read.tzinfo is not None and not self.clock.zoned:
            raise InputError(
                f"{source}: until={given} has an offset, and the log's times have no time zone.\nLeave the offset out.",
                code="bad-date",
                option="until",
            )
        return self._number(read if read.tzinfo is not None else read.replace(tzinfo=self._where), 0)

    def whole_days(self, time: Ints64) -> bool:
        """Whether all times are dates: moments at which a day of this calendar begins."""
        if self.clock.per_second is None:
            return False
        if self._where is UTC:
            day = 86_400 * self.clock.per_second
            return not (time[:FEW] % day).any() and not (time % day).any()
        return self._midnights(time[:FEW]) and self._midnights(time)

    def _midnights(self, time: Ints64) -> bool:
        local = (self._local(moment) for moment in pl.Series(time).unique())
        return all(moment.time() == datetime.min.time() and not rest for moment, rest in local)

    def _local(self, moment: int) -> tuple[datetime, int]:
        """A number as a local time, and what microseconds cannot hold of it."""
        per_second = present(self.clock.per_second)
        micro, rest = divmod(moment, per_second // MICRO) if per_second > MICRO else (moment * (MICRO // per_second), 0)
        return (EPOCH + timedelta(microseconds=micro)).replace(tzinfo=UTC).astimezone(self._where), rest

    def _number(self, local: datetime, rest: int) -> int:
        """The number of a local time."""
        per_second = present(self.clock.per_second)
        micro = (local.astimezone(UTC).replace(tzinfo=None) - EPOCH) // timedelta(microseconds=1)
        return micro * (per_second // MICRO) + rest if per_second > MICRO else micro // (MICRO // per_second)

    def text(self, moment: int) -> str:
        """A time for people, with its offset where the zone is not UTC."""
        return self.clock.text(moment, None if self._where is UTC else self._where)

    def check(self, width: Duration, what: str, source: str, time: Ints64) -> None:
        """Refuse a duration of days and hours where the log's numbers have no unit."""
        if width.unit and self.clock.per_second is None:
            raise InputError(
                f"{source}: {what}={width} cannot be counted: the log's times are numbers, and they are no Unix times "
                f"of the years 1990 to 2099 in any usual unit: they go from {int(time.min())} to {int(time.max())}.\n"
                f"Give a number in their own unit, as in {what}=1000, or "
                "convert the times to dates or datetimes.",
                code="bad-time",
                option=what,
            )


def written_moment(given: object, what: str) -> int | str:
    """A time as it was written, a date or datetime in ISO 8601 or a number; anything else is refused."""
    if isinstance(given, date | datetime):
        return given.isoformat()
    if isinstance(given, Integral) and not isinstance(given, bool) and -LARGEST <= int(given) <= LARGEST:
        return int(given)
    try:
        datetime.fromisoformat(given)  # type: ignore[arg-type]  # anything else is refused
    except (TypeError, ValueError):
        raise InputError(
            f"{what} must be a date such as 2024-03-31 or 2024-03-31T12:00:00+02:00, or a number in the unit of the "
            f"log's times, not {shown(given)}.",
            code="bad-date",
            option=what,
        ) from None
    return str(given)


def _steps(local: datetime, width: Duration, times: int) -> datetime:
    """So many calendar steps from a local time; the last day of a month stands for days that it does not have."""
    steps = times * width.amount
    if width.unit in DAYS:
        return local + timedelta(days=steps * DAYS[width.unit])
    year, month = divmod(local.year * 12 + local.month - 1 + steps * MONTHS[width.unit], 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return local.replace(year=year, month=month + 1, day=min(local.day, monthrange(year, month + 1)[1]))
