"""Samples by exponential keys are successive weighted draws; the same one from any order of the rows."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.said import refuses
from tests.sampling import reference
from unskew.log import Log
from unskew.log.log import WEIGHT
from unskew.sampling.draw import drawn
from unskew.sampling.tallies import Weights

compiled = settings(deadline=None, max_examples=30)
SAMPLES = 5_000


def log_of(rows: list[tuple[Any, ...]], *names: str) -> Log:
    return Log.from_frame(pl.DataFrame(rows, schema=["user", "item", *names], orient="row"))


def skewed(rows: int = 3000, users: int = 120, items: int = 60, seed: int = 0) -> pl.DataFrame:
    """Distinct pairs of users and items whose frequencies fall like 1/rank."""
    rng = np.random.default_rng(seed)
    draw = [rng.choice(n, rows, p=(1 / np.arange(1, n + 1)) / (1 / np.arange(1, n + 1)).sum()) for n in (users, items)]
    return pl.DataFrame({"user": draw[0], "item": draw[1]}).unique(maintain_order=True)


LOG = Log.from_frame(skewed())


def pairs(log: Log) -> set[tuple[Any, ...]]:
    return set(log.to_frame().select("user", "item").rows())


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("weights", [[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [0.01, 1.0, 1.0, 3.0, 5.0, 100.0]])
def test_inclusion_is_that_of_successive_weighted_draws(weights: list[float], size: int) -> None:
    """5,000 seeds against exact probabilities, rows and whole samples: each within 4.5 standard errors.

    4 × (6 + 15) frequencies are compared: by chance one of them would fall outside in 0.06 % of such tests.
    """
    log = log_of([("u", k) for k in range(6)])
    model = Weights(np.ones(1), np.array(weights))
    counts: Counter[int | frozenset[int]] = Counter()
    for seed in range(SAMPLES):
        rows = np.flatnonzero(drawn(log, model, size, seed)).tolist()
        counts.update([*rows, frozenset(rows)])
    samples = reference.sets(weights, size)
    exact: dict[int | frozenset[int], float] = {row: sum(p for s, p in samples.items() if row in s) for row in range(6)}
    exact.update((chosen, p) for chosen, p in samples.items())
    assert set(counts) <= set(exact)
    for which, p in exact.items():
        assert abs(counts[which] / SAMPLES - p) < 4.5 * math.sqrt(p * (1.0 - p) / SAMPLES), (which, p)


STRATEGIES = ("reg", "skew", "wtd", "wtd_h", "weighted(user_power=0.5, item_power=-1, target=mcar)")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [0.5, 0.29, 1.0, 1, 100])
def test_a_sample_has_its_size_and_no_row_twice_and_invents_none(strategy: str, size: float) -> None:
    """MATHS §10.10: ⌊ρn⌋ rows (0.29 of 100 are 29, whatever floats say), all of them rows of the log."""
    train, test = us.split.holdout(Log.from_frame(skewed()), 0.4)
    log = test.take(np.arange(100)) if size == 0.29 else test
    found = us.sample(log, strategy, train=train, mcar=skewed(seed=5), size=size)
    expected = {0.5: len(log) // 2, 0.29: 29, 1.0: len(log)}.get(size if isinstance(size, float) else 0.0, size)
    assert len(found) == len(pairs(found)) == expected
    assert pairs(found) <= pairs(log)


def test_powers_of_nought_are_reg() -> None:
    """MATHS §10.10: (0, 0) ≡ REG, row for row, and it knows that its share is known."""
    train, test = us.split.holdout(Log.from_frame(skewed()), 0.4)
    both = [us.sample(test, s, train=train, seed=3) for s in ("reg", "weighted(user_power=0, item_power=0)")]
    assert pairs(both[0]) == pairs(both[1])
    assert both[0].share == both[1].share == pytest.approx(0.4 * len(both[0]) / len(test))
    assert len(us.sample(test, "full")) == len(test)


@pytest.mark.parametrize(
    ("strategy", "powers", "at_random"),
    [
        ("wtd_h", (1.0, 2.0), False),
        ("wtd", (1.0, 2.0), True),
        ("weighted(user_power=1, item_power=1)", (1.0, 1.0), False),
        ("weighted(user_power=0.5, item_power=-1, target=mcar)", (0.5, -1.0), True),
    ],
)
def test_weights_are_those_of_the_paper(strategy: str, powers: tuple[float, float], at_random: bool) -> None:
    """w_u^a w_i^b, counted by loops; some users and items are missing from training, some from the random rows."""
    frame = skewed(400, 60, 50)
    log, train, random = frame[:150], frame[150:], skewed(100, 60, 50, seed=9)
    found = us.sample(log, strategy, train=train, mcar=random if at_random else None, size=0.6).to_frame()
    exact = reference.weights(log.rows(), train.rows(), random.rows() if at_random else None, powers)
    known = dict(zip(log.rows(), exact, strict=True))
    for row in found.iter_rows(named=True):
        assert row[WEIGHT] == pytest.approx(known[row["user"], row["item"]], rel=1e-12)


@compiled
@given(st.permutations(list(range(40))), st.integers(0, 2**40), st.booleans())
def test_a_sample_depends_on_neither_order_nor_type_nor_values(order: list[int], seed: int, timed: bool) -> None:
    """Shuffled rows, ids as text, other values and ratings instead of clicks give the same pairs."""
    frame = skewed(60, 20, 10)[:40].with_columns(value=pl.int_range(pl.len()) % 5)
    frame = frame.with_columns(time=pl.col("user") * 3) if timed else frame
    order = [k for k in order if k < len(frame)]
    other = frame[order].with_columns(pl.col("user", "item").cast(pl.String), value=pl.lit(1))
    both = [us.sample(each, "wtd_h", train=each, seed=seed) for each in (frame, other)]
    assert {(str(u), str(i)) for u, i in pairs(both[0])} == pairs(both[1])


def test_time_and_seed_give_other_samples() -> None:
    """Two seeds overlap as independent halves do: n/4 common rows within 5 standard errors √n/4; so do two times."""
    frame = skewed(4000, 300, 100)
    log = Log.from_frame(frame)
    late = Log.from_frame(frame.with_columns(time=pl.lit(7)))
    one, *others = (pairs(us.sample(*each)) for each in ((log, "reg"), (late, "reg")))
    others.append(pairs(us.sample(log, "reg", seed=1)))
    for other in others:
        assert abs(len(one & other) - len(log) / 4) < 5 * math.sqrt(len(log)) / 4


def test_a_sample_remembers_what_it_is() -> None:
    """Weights per row; a share where chances are equal, also of a part; none where they are not, or time has cut."""
    log = Log.from_frame(skewed().with_columns(time=pl.col("user") % 7, value=pl.lit(3.0)), feedback="ratings")
    whole = us.sample(log, "reg", size=0.25)
    assert whole.share is None and whole.drawn == len(whole) / len(log) and not whole.sampled_by
    train, test = us.split.holdout(log, 0.4)
    assert us.sample(test, "reg").share == pytest.approx(0.4 * (len(test) // 2) / len(test))
    drawn_unequally = us.sample(test, "wtd_h", train=train)
    assert drawn_unequally.share is None and drawn_unequally.sampled_by == "wtd_h"
    assert drawn_unequally.feedback == "ratings" and len(drawn_unequally.columns[WEIGHT]) == len(drawn_unequally)
    late = us.split.holdout(log, 0.4, by="time").test
    assert us.sample(late, "reg").share is None


def test_propensities_of_a_reg_sample_are_those_of_its_rows() -> None:
    """Never split: P becomes P·m/n, and no share claims that training holds the rest; of a part, its share shrinks."""
    log = Log.from_frame(skewed().with_columns(propensity=0.1 + 0.8 / (1 + pl.col("item"))))
    half = us.sample(log, "reg")
    known = {row[:2]: row[2] for row in log.to_frame().select("user", "item", "propensity").rows()}
    assert half.share is None
    for user, item, p in half.to_frame().select("user", "item", "propensity").iter_rows():
        assert p == pytest.approx(known[user, item] * len(half) / len(log))
    part = us.sample(us.split.holdout(log, 0.4).test, "reg")
    for user, item, p in part.to_frame().select("user", "item", "propensity").iter_rows():
        assert p == known[user, item]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ({"strategy": "wtdh"}, "unknown-name"),
        ({"strategy": "wtd_h"}, "no-training-log"),
        ({"strategy": "wtd", "train": skewed()}, "no-random-sample"),
        *(({"strategy": "reg", "size": size}, "out-of-range") for size in (0.0, 1.5, float("nan"))),
        *(({"strategy": "reg", "size": size}, "bad-value") for size in (0, "half", True)),
        ({"strategy": "reg", "size": 10**9}, "too-large"),
        ({"strategy": "reg", "size": 1e-6}, "too-few-rows"),
        ({"strategy": "full", "size": 0.5}, "conflicting-arguments"),
        ({"strategy": "reg", "seed": -1}, "out-of-range"),
        ({"strategy": "weighted(user_power=4, zero=1e-30)", "train": skewed(5)}, "out-of-range"),
        ({"strategy": "reg", "log": us.sample(LOG, "wtd_h", train=LOG)}, "sampled-already"),
        ({"strategy": "reg", "log": LOG.take(np.zeros(len(LOG), dtype=bool))}, "empty-log"),
        ({"strategy": "reg", "log": 7}, "not-a-dataframe"),
    ],
)
def test_what_is_refused(call: dict[str, Any], code: str) -> None:
    with refuses(code):
        us.sample(**({"log": LOG} | call))
