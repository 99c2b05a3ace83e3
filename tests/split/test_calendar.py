"""Widths of the calendar: days when clocks change, months of different lengths, and every way of writing times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.said import only, refuses
from tests.split.reference import pairs_of
from unskew.log import Log
from unskew.log.clock import Clock
from unskew.split import Splits, sliding_window
from unskew.split.durations import Calendar, Duration

ZONES = ("UTC", "Europe/Brussels", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo")
BRUSSELS = ZONES[1]
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
    ("last", "zone", "unit", "expected"),
    [
        # a day when clocks change is one day: 31 March has 23 hours from noon to noon, 27 October 25
        ("2024-04-01T12:00", BRUSSELS, "d", ["04-01T12:00:00+02:00", "03-31T12:00:00+02:00", "03-30T12:00:00+01:00"]),
        ("2024-10-28T12:00", BRUSSELS, "d", ["10-28T12:00:00+01:00", "10-27T12:00:00+01:00", "10-26T12:00:00+02:00"]),
        # 02:30 does not exist on 31 March in Brussels, and exists twice on 27 October: the first one is meant
        ("2024-04-01T02:30", BRUSSELS, "d", ["04-01T02:30:00+02:00", "03-31T03:30:00+02:00"]),
        ("2024-10-28T02:30", BRUSSELS, "d", ["10-28T02:30:00+01:00", "10-27T02:30:00+02:00"]),
        # months have different lengths; the day comes back where the month has it
        ("2024-05-31T10:00", "UTC", "mo", ["05-31T10:00:00", "04-30T10:00:00", "03-31T10:00:00", "02-29T10:00:00"]),
        ("2024-02-29T00:00", "UTC", "y", ["02-29", "02-28"]),
    ],
)  # fmt: skip
def test_steps_back_as_a_calendar_shows_them(last: str, zone: str, unit: str, expected: list[str]) -> None:
    calendar = unix(zone)
    steps = [calendar.back(seconds(last, zone), Duration(1, unit), k) for k in range(len(expected))]
    assert [calendar.text(step)[5:] for step in steps] == expected


def hourly(first: str, last: str, zone: str) -> pl.DataFrame:
    """One user per parity of the hour, a row an hour."""
    begin, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    time = pl.datetime_range(begin, end, "1h", time_zone=zone, eager=True)
    return pl.DataFrame({"user": [k % 2 for k in range(len(time))], "item": range(len(time)), "time": time})


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
    assert [(len(train), len(test)) for train, test in expected] == [(32, 2), (34, 2), (36, 2), (38, 2)]
    midnight = dates.cast(pl.Datetime("us"))
    local_days = midnight.dt.replace_time_zone("Europe/Brussels")
    for other in (dates.cast(pl.String), midnight, midnight.dt.epoch("s"), midnight.dt.epoch("ms"), local_days):
        assert folds(other) == expected


def test_a_zone_needs_moments() -> None:
    """Times without an offset are what some clock showed: nobody knows when that was."""
    frame = hourly("2024-03-25T00:00", "2024-03-27T00:00", "UTC")
    zoned, naive = Log.from_frame(frame), Log.from_frame(frame.with_columns(pl.col("time").dt.replace_time_zone(None)))
    for log, width, many, options, code in (
        (naive, "1d", 1, {"tz": BRUSSELS}, "unusable-zone"),
        (naive, "1d", 1, {"until": "2024-03-26T00:00:00Z"}, "bad-date"),
        (naive, "1d", 1, {"until": True}, "bad-date"),
        (zoned, "1d", 1, {"tz": "Mars/Olympus"}, "bad-value"),
        (zoned, "100y", 30, {}, "bad-date"),
    ):
        with refuses(code):
            sliding_window(log, width, many, min_users=1, **options)
    for until in (datetime(2024, 3, 27), datetime(2024, 3, 27).date(), "2024-03-27"):
        assert sliding_window(naive, "1d", 1, until=until, min_users=1)[0].label == "2024-03-26"
    noon = sliding_window(zoned, "1d", 1, until=datetime(2024, 3, 26, 12, tzinfo=UTC), min_users=1)[0]
    assert noon.label.startswith("2024-03-25T12:00")


def test_windows_over_a_change_of_clocks() -> None:
    """Daily windows that end at midnight hold the 24, 23 and 24 hours of three days; in UTC they do not."""
    log = Log.from_frame(hourly("2024-03-25T00:00", "2024-04-02T00:00", "Europe/Brussels"))
    found = sliding_window(log, "1d", 3, tz="Europe/Brussels", min_users=1, until="2024-04-02")
    assert [fold.test_count for fold in found] == [24, 23, 24]
    assert [fold.label for fold in found] == ["2024-03-30", "2024-03-31", "2024-04-01"]
    only("unused-rows", found.notes, rows=1)
    same = sliding_window(log, "1d", 3, min_users=1, until="2024-04-02")  # the zone of the column
    assert [fold.window for fold in same] == [fold.window for fold in found]
    abroad = sliding_window(log, "1d", 3, tz="UTC", min_users=1, until="2024-04-01T22:00:00")
    assert [fold.test_count for fold in abroad] == [24, 24, 24]
