"""recently_popular against a loop over rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_models import expected, ids, lists_of
from tests.said import refuses

from unskew.log import Log
from unskew.models import make

Timed = list[tuple[int, int, int]]
START = datetime(2024, 2, 28)
timed = st.lists(  # hours, many of them equal
    st.tuples(st.integers(7, 13), st.integers(5, 13), st.sampled_from([0, 1, 6, 12, 24, 25, 48, 60, 200])),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
)


def log_of(rows: Timed, unit: str = "datetime") -> Log:
    """A log of (user, item, hour) rows; hours become datetimes or Unix seconds."""
    frame = pl.DataFrame(rows, schema=["user", "item", "hour"], orient="row")
    time = [START + timedelta(hours=hour) for hour in frame["hour"]]
    column = pl.Series(time) if unit == "datetime" else pl.Series([int(t.timestamp()) for t in time])
    return Log.from_frame(frame.drop("hour").with_columns(time=column))


@settings(deadline=None)
@given(
    train=timed,
    last=st.none() | st.integers(1, 45),
    days=st.none() | st.sampled_from([0.25, 1, 2.5]),
    unit=st.sampled_from(["datetime", "Unix"]),
)
def test_counts_of_the_last_positives(train: Timed, last: int | None, days: float | None, unit: str) -> None:
    """A positive counts if it is inside both windows; those of the N-th last time share the places that are left."""
    log, users = log_of(train, unit), ids(*range(10, 17))
    hours = sorted((hour for _, _, hour in train), reverse=True)
    many = last or (1000 if days is None else len(train))
    weight: dict[int, Fraction] = {}
    for hour in set(hours):
        later, same = sum(h > hour for h in hours), hours.count(hour)
        inside = days is None or hours[0] - hour < 24 * days
        weight[hour] = Fraction(min(same, max(0, many - later)), same) * inside
    score: dict[tuple[int, int], float] = {}
    for item in log.items.values:
        total = sum(weight[hour] for _, i, hour in train if i == item)
        score |= {(u, item): float(total) for u in range(17)}
    given_options = [f"{name}={value}" for name, value in (("last", last), ("days", days)) if value is not None]
    model = make(f"recently_popular({', '.join(given_options)})" if given_options else "recently_popular").fit(log)
    assert lists_of(model.recommend(users, 12)) == expected(score, log, users, 12, set())


@settings(deadline=None)
@given(train=timed, half_life=st.sampled_from([0.25, 1.0, 4.0]), last=st.none() | st.integers(1, 45))
def test_a_positive_counts_half_after_a_half_life(train: Timed, half_life: float, last: int | None) -> None:
    """Scores are Σ 2^(−age/half-life), of the last N positives where both are given."""
    hours = sorted((hour for _, _, hour in train), reverse=True)
    text = f"recently_popular(half_life={half_life}" + (f", last={last})" if last else ")")
    model = make(text).fit(log := log_of(train))
    for code, item in enumerate(log.items.values):
        total = 0.0
        for _, i, hour in train:
            later, same = sum(h > hour for h in hours), hours.count(hour)
            share = min(same, max(0, (last or len(train)) - later)) / same
            total += (i == item) * share * 2.0 ** (-(hours[0] - hour) / 24 / half_life)
        assert model.scores_[code] == pytest.approx(total, rel=1e-12)  # type: ignore[attr-defined]


def test_logs_without_times_are_refused() -> None:
    """Without a column 'time' nothing is recent; numbers that are no Unix times have no days."""
    bare = Log.from_frame(pl.DataFrame({"user": [1], "item": [2]}))
    with refuses("missing-column", column="time"):
        make("recently_popular").fit(bare)
    counted = Log.from_frame(pl.DataFrame({"user": [1, 1], "item": [2, 3], "time": [1, 2]}))
    with refuses("bad-time"):
        make("recently_popular(days=1)").fit(counted)
    assert lists_of(make("recently_popular(last=1)").fit(counted).recommend(ids(9), 1)) == {9: [3]}
