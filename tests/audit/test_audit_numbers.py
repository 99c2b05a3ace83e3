"""Sizes, long tails, posteriors, policies and time, against obvious references."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.said import refuses
from unskew.auditing.spread import QUANTILES, chance, jensen_shannon_chance, spread
from unskew.auditing.tally import Tally

from . import logs


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_a_spread_is_what_the_definitions_say(counts: list[int]) -> None:
    """Gini, KL, effective number, top shares and quantiles equal loop-written references."""
    found = spread(Tally.of(np.array(counts)), most=60)
    total, ordered = sum(counts), sorted(counts, reverse=True)
    assert found.number == len(counts) and found.mean == pytest.approx(total / len(counts))
    assert found.gini == pytest.approx(logs.gini(counts), abs=1e-12)
    assert found.kl_bits == pytest.approx(logs.kl(counts), abs=1e-12)
    entropy = -sum(n / total * math.log2(n / total) for n in counts)
    assert found.effective == pytest.approx(2.0**entropy)
    assert found.top_1_percent == pytest.approx(ordered[0] / total)
    assert found.top_10_percent == pytest.approx(sum(ordered[: math.ceil(len(counts) / 10)]) / total)
    assert found.single == pytest.approx(counts.count(1) / len(counts))
    assert found.everybody == counts.count(60)
    assert found.quantiles == {name: logs.quantile(counts, q) for name, q in QUANTILES.items()}
    assert sum(found.histogram.count) == len(counts)
    assert found.rows_at_rank[0] == max(counts) and found.tail[-1] == (1.0, 1.0)


@pytest.mark.parametrize("mean", [1.3, 4.0, 60.0])
def test_the_chance_level_is_what_an_even_world_shows(mean: float) -> None:
    """Counts of equally likely items have the KL that is called chance, within Monte Carlo error."""
    rng = np.random.default_rng(1)
    rate = max(r for r in np.linspace(0.01, mean, 20_000) if r / -math.expm1(-r) <= mean)
    seen = [counts[counts > 0] for counts in rng.poisson(rate, (60, 3000))]
    drawn = [logs.kl(counts.tolist()) for counts in seen]
    assert chance(mean) == pytest.approx(np.mean(drawn), abs=4 * float(np.std(drawn)) / math.sqrt(60) + 2e-4)


def test_sizes_and_posteriors_of_a_log() -> None:
    """Rows, users, items, density and the posteriors (carraro20 Eqs. 1–6) are those of the table."""
    frame = logs.skewed()
    audit = us.audit(frame)
    users, items = Counter(frame["user"].to_list()), Counter(frame["item"].to_list())
    assert (audit.size.rows, audit.size.users, audit.size.items) == (len(frame), len(users), len(items))
    assert audit.size.density == pytest.approx(len(frame) / len(users) / len(items))
    assert audit.users.kl_bits == pytest.approx(logs.kl(list(users.values())))
    assert audit.items.kl_bits == pytest.approx(logs.kl(list(items.values())))
    n = len(frame)
    joint = sum(math.log2((1 / n) / (users[u] / n * items[i] / n)) / n for u, i in frame.iter_rows())
    assert audit.dependence == pytest.approx(joint)


def test_duplicates_and_wrong_rows_are_counted_not_refused() -> None:
    """Repeated pairs and dropped rows appear in the sizes and in the findings."""
    frame = pl.DataFrame({"user": [1, 1, 1, 2, None], "item": [1, 1, 2, 1, 3]})
    audit = us.audit(frame, invalid="drop")
    assert (audit.size.read, audit.size.duplicates, audit.size.rows) == (5, 1, 3)
    assert list(audit.size.dropped.values()) == [1]
    assert {"repeated-pairs", "dropped-rows"} <= logs.said(audit)
    with refuses("repeated-pair"):
        us.audit(frame, invalid="drop", duplicates="error")


def test_the_chance_level_of_a_divergence_is_that_of_a_random_deal() -> None:
    """Rows dealt at random differ by what is called chance, within Monte Carlo error."""
    rng = np.random.default_rng(2)
    item = rng.choice(200, 4000, p=np.arange(1, 201) / 20100)
    drawn = []
    for _ in range(40):
        first = rng.random(4000) < 0.4
        drawn.append(logs.jensen_shannon(Counter(item[first].tolist()), Counter(item[~first].tolist())))
    a = np.bincount(item[:1600], minlength=200)
    found = jensen_shannon_chance(a, np.bincount(item, minlength=200) - a, draws=40)
    assert found == pytest.approx(np.mean(drawn), abs=6 * float(np.std(drawn)) / math.sqrt(40))


@pytest.mark.parametrize("clock", ["seconds", "milliseconds", "datetime", "number"])
def test_time_is_cut_into_periods(clock: str) -> None:
    """At most 60 periods hold all rows, newcomers add up, and dates are dates, whatever the unit."""
    frame = logs.skewed(time=True)
    if clock == "milliseconds":
        frame = frame.with_columns(pl.col("time") * 1000)
    elif clock == "datetime":
        frame = frame.with_columns(pl.from_epoch("time", time_unit="s"))
    elif clock == "number":
        frame = frame.with_columns(pl.col("time") - 1_500_000_000)
    audit = us.audit(frame)
    time = audit.time
    assert time is not None and 20 <= len(time.periods) <= 60
    assert sum(p.rows for p in time.periods) == len(frame)
    assert sum(p.new_users for p in time.periods) == audit.size.users
    assert sum(p.new_items for p in time.periods) == audit.size.items
    if clock == "number":
        assert time.scale == "number" and time.days is None and time.start.isdigit()
    else:
        assert (
            time.start.startswith("2017-07-14") and time.days == pytest.approx(90, abs=0.5) and time.width == "2 days"
        )
        starts = [p.start for p in time.periods]
        assert starts == sorted(starts) and starts[0] == "2017-07-14"


def test_newcomers_ahead_are_the_support_gap_of_a_hold_out_by_time() -> None:
    """The share of late rows on new items is what an evaluation of that hold-out reports."""
    rng = np.random.default_rng(3)
    frame = logs.skewed(time=True).with_columns(time=pl.Series(rng.integers(0, 50, len(logs.skewed())) + 0))
    frame = frame.with_columns(time=pl.col("time") + 20 * (pl.col("item") > 60))
    audit = us.audit(frame)
    assert audit.time is not None and audit.time.ahead is not None
    train, test = us.split.holdout(us.Log.from_frame(frame), 0.3, by="time")
    result = us.evaluate(test, {"popular": us.models.MostPopular().fit(train)}, train=train)
    assert audit.time.ahead.rows == len(test)
    assert result.estimates[0].support_gap == pytest.approx(audit.time.ahead.new_items)
