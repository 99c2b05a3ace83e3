"""Widths of the calendar: days when clocks change, months of different lengths, and every way of writing times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.split.reference import pairs_of
from unskew.errors import InputError
from unskew.log import Log
from unskew.log.clock import Clock
from unskew.split import Splits, sliding_window
from unskew.split.durations import Calendar, Duration, written_moment

ZONES = ("UTC", "Europe/Brussels", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo")
CLOCKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MOMENTS = st.integers(946_684_800, 2_208_988_800)  # 2000 to 2040, in seconds


def unix(zone: str, per_second: int = 1) -> Calendar:
    return Calendar(Clock("Unix", per_second, zoned=True, zone="UTC"), zone)


def seconds(text: str, zone: str) -> int:
    """A local time as Unix seconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp())


def local(moment: int, zone: str) -> datetime:
    return datetime.fromtimestamp(moment, ZoneInfo(zone)).replace(tzinfo=None)


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["d", "w", "mo", "y"]), st.integers(1, 5))
def test_steps_of_the_calendar_keep_the_time_of_day(moment: int, zone: str, unit: str, amount: int) -> None:
    """Each window begins at the same local time, at another hour only where clocks skip it; later steps lie before."""
    calendar, width = unix(zone), Duration(amount, unit)
    steps = [calendar.back(moment, width, k) for k in range(6)]
    assert steps[0] <= moment < steps[0] + 7_200 and all(later > earlier for later, earlier in pairwise(steps))
    here = local(moment, zone)
    for k, step in enumerate(steps):
        there = local(step, zone)
        if unit in ("d", "w"):
            day = here.date() - timedelta(days=k * amount * (7 if unit == "w" else 1))
        else:
            months = here.year * 12 + here.month - 1 - k * amount * (12 if unit == "y" else 1)
            last = datetime(months // 12 + (months % 12 == 11), (months + 1) % 12 + 1, 1) - timedelta(days=1)
            day = last.date().replace(day=min(here.day, last.day))
        expected = datetime.combine(day, here.time())
        exists = expected.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).astimezone(ZoneInfo(zone))
        assert there == exists.replace(tzinfo=None)
        if exists.replace(tzinfo=None) == expected:
            assert there.time() == here.time() and there.date() == day


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["s", "min", "h"]), st.integers(1, 100), st.integers(0, 50))
def test_hours_and_less_are_spans_of_time(moment: int, zone: str, unit: str, amount: int, times: int) -> None:
    """They do not care for clocks; nor do days where no clock changes."""
    length = {"s": 1, "min": 60, "h": 3_600}[unit]
    assert unix(zone).back(moment, Duration(amount, unit), times) == moment - times * amount * length
    assert unix("UTC").back(moment, Duration(amount, "d"), times) == moment - times * amount * 86_400


@given(MOMENTS, st.integers(0, 999_999_999), st.sampled_from(ZONES), st.sampled_from(["d", "mo"]), st.integers(0, 40))
def test_the_unit_of_the_times_does_not_matter(moment: int, nano: int, zone: str, unit: str, times: int) -> None:
    """Seconds to nanoseconds: the same moment, and fractions of a second stay."""
    whole = unix(zone).back(moment, Duration(1, unit), times)
    for per_second in CLOCKS.values():
        fraction = nano * per_second // 10**9
        found = unix(zone, per_second).back(moment * per_second + fraction, Duration(1, unit), times)
        assert found == whole * per_second + fraction


@pytest.mark.parametrize(
    ("last", "hours"),
    [("2024-04-01T12:00", 23), ("2024-10-28T12:00", 25), ("2024-06-10T12:00", 24)],
)
def test_a_day_when_clocks_change_is_one_day(last: str, hours: int) -> None:
    """The day before the last window: 31 March has 23 hours from noon to noon, 27 October 25."""
    calendar = unix("Europe/Brussels")
    starts = [calendar.back(seconds(last, "Europe/Brussels"), Duration(1, "d"), k) for k in range(4)]
    lengths = [(later - earlier) / 3_600 for later, earlier in pairwise(starts)]
    assert lengths == [24, hours, 24]


def test_months_have_different_lengths() -> None:
    """Counted from 31 March of a leap year; the day comes back where the month has it."""
    calendar = unix("UTC")
    last = seconds("2024-03-31T10:00", "UTC")
    starts = [calendar.text(calendar.back(last, Duration(1, "mo"), k)) for k in range(5)]
    assert [text[:10] for text in starts] == ["2024-03-31", "2024-02-29", "2024-01-31", "2023-12-31", "2023-11-30"]
    assert calendar.text(calendar.back(seconds("2024-02-29T00:00", "UTC"), Duration(1, "y"))) == "2023-02-28"


def test_hours_that_are_skipped_or_come_twice() -> None:
    """02:30 does not exist on 31 March 2024 in Brussels, and exists twice on 27 October: the first one is meant."""
    zone = "Europe/Brussels"
    calendar = unix(zone)
    spring = calendar.back(seconds("2024-04-01T02:30", zone), Duration(1, "d"))
    assert calendar.text(spring) == "2024-03-31T03:30:00+02:00"
    autumn = calendar.back(seconds("2024-10-28T02:30", zone), Duration(1, "d"))
    assert calendar.text(autumn) == "2024-10-27T02:30:00+02:00"


def hourly(first: str, last: str, zone: str) -> pl.DataFrame:
    """One user per parity of the hour, a row an hour."""
    begin, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    time = pl.datetime_range(begin, end, "1h", time_zone=zone, eager=True)
    return pl.DataFrame({"user": [k % 2 for k in range(len(time))], "item": range(len(time)), "time": time})


def test_windows_over_a_change_of_clocks() -> None:
    """Daily windows that end at midnight hold the 24, 23 and 24 hours of three days; in UTC they do not."""
    log = Log.from_frame(hourly("2024-03-25T00:00", "2024-04-02T00:00", "Europe/Brussels"))
    found = sliding_window(log, "1d", 3, tz="Europe/Brussels", min_users=1, until="2024-04-02")
    assert [fold.test_count for fold in found] == [24, 23, 24]
    assert [fold.label for fold in found] == ["2024-03-30", "2024-03-31", "2024-04-01"]
    assert found.notes == ("1 row is not used: from 2024-04-02 on (until), nothing is.",)
    same = sliding_window(log, "1d", 3, min_users=1, until="2024-04-02")  # the zone of the column
    assert [fold.window for fold in same] == [fold.window for fold in found]
    abroad = sliding_window(log, "1d", 3, tz="UTC", min_users=1, until="2024-04-01T22:00:00Z")
    assert [fold.test_count for fold in abroad] == [24, 24, 24]


def test_histories_begin_one_after_the_other() -> None:
    """Half-hours of the night in which clocks go back: a day before them, 02:30 comes before 02:00 that comes again."""
    log = Log.from_frame(hourly("2024-10-25T00:00", "2024-10-27T06:00", "Europe/Brussels"))
    found = sliding_window(log, "30min", 12, min_users=1, history="1d")
    since = [fold.window.since for fold in found if fold.window is not None]
    assert len(since) >= 4 and since == sorted(since, key=lambda moment: moment or 0)
    for fold in found:
        train, window = fold.train, fold.window
        assert window and window.since and train.time is not None and train.time.min() >= window.since
        assert len(train) == fold.train_count


def test_months_of_a_log() -> None:
    """A row per day: windows of a month hold 31, 29 and 31 of them; a history of one month the month before."""
    day = pl.date_range(pl.date(2023, 11, 1), pl.date(2024, 3, 31), eager=True)
    log = Log.from_frame(pl.DataFrame({"user": [1] * len(day), "item": range(len(day)), "time": day}))
    found = sliding_window(log, "1mo", 3, min_users=1, history="1mo")
    assert [(fold.label, fold.train_count, fold.test_count) for fold in found] == [
        ("2024-01-01", 31, 31),
        ("2024-02-01", 31, 29),
        ("2024-03-01", 29, 31),
    ]


def folds(time: pl.Series, width: str = "1d") -> list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]:
    frame = pl.DataFrame({"user": [1, 2] * 20, "item": range(40)}).with_columns(time=time)
    found: Splits = sliding_window(Log.from_frame(frame), width, 4, min_users=1)
    return [(pairs_of(train), pairs_of(test)) for train, test in found]


def test_numbers_datetimes_and_texts_are_the_same_times() -> None:
    """Unix times in four units, datetimes with and without a zone, ISO texts with and without an offset."""
    begin = datetime(2024, 2, 25, 7, 30)
    moments = pl.Series([begin + timedelta(hours=7 * k) for k in range(40)])
    expected = folds(moments)
    assert len(expected) == 4
    epoch = moments.dt.epoch("s")
    others = [epoch * unit for unit in CLOCKS.values()]
    others += [moments.dt.cast_time_unit(unit) for unit in ("ms", "ns")]
    others += [moments.dt.replace_time_zone("UTC"), moments.dt.to_string("%Y-%m-%dT%H:%M:%S")]
    others += [moments.dt.to_string("%Y-%m-%dT%H:%M:%SZ"), moments.dt.to_string("%Y-%m-%d %H:%M:%S")]
    others += [epoch.cast(pl.String), epoch.cast(pl.Float64)]
    for other in others:
        assert folds(other) == expected


def test_dates_stand_for_whole_days() -> None:
    """Dates, their texts, midnights and Unix times of midnights: each window of a day holds one date."""
    day = pl.date_range(pl.date(2024, 2, 1), pl.date(2024, 2, 20), eager=True)
    dates = pl.Series([day[k // 2] for k in range(40)])
    expected = folds(dates)
    assert [len(test) for _, test in expected] == [2, 2, 2, 2] and [len(train) for train, _ in expected] == [
        32,
        34,
        36,
        38,
    ]
    midnight = dates.cast(pl.Datetime("us"))
    local_days = midnight.dt.replace_time_zone("Europe/Brussels")
    for other in (dates.cast(pl.String), midnight, midnight.dt.epoch("s"), midnight.dt.epoch("ms"), local_days):
        assert folds(other) == expected


def test_a_zone_needs_moments() -> None:
    """Times without an offset are what some clock showed: nobody knows when that was."""
    frame = hourly("2024-03-25T00:00", "2024-03-27T00:00", "UTC")
    naive = Log.from_frame(frame.with_columns(pl.col("time").dt.replace_time_zone(None)))
    with pytest.raises(InputError, match=r"the times have no time zone.*\nLeave tz out"):
        sliding_window(naive, "1d", 1, tz="Europe/Brussels", min_users=1)
    with pytest.raises(InputError, match="until=2024-03-26T00:00:00Z has an offset"):
        sliding_window(naive, "1d", 1, until="2024-03-26T00:00:00Z", min_users=1)
    with pytest.raises(
        InputError, match="tz must be the name of a time zone such as Europe/Brussels or UTC, not 'Mars"
    ):
        sliding_window(Log.from_frame(frame), "1d", 1, tz="Mars/Olympus", min_users=1)
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        sliding_window(Log.from_frame(frame), "100y", 30, min_users=1)


def test_moments_as_people_and_python_write_them() -> None:
    """Dates and datetimes become their texts."""
    assert written_moment(datetime(2024, 3, 31, 12, tzinfo=UTC), "until") == "2024-03-31T12:00:00+00:00"
    assert written_moment(datetime(2024, 3, 31).date(), "until") == "2024-03-31"
    assert written_moment(7, "until") == 7
    with pytest.raises(InputError, match="until must be a date"):
        written_moment(True, "until")
