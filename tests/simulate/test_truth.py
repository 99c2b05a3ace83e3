"""The true value against loops."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.said import refuses

from unskew.core.errors import RefusedError
from unskew.estimators.target import Target
from unskew.log import Ids, Log, Recommendations
from unskew.metrics import ranking
from unskew.simulate import true_value


def grade(user: int, item: int) -> int:
    return 1 + (user + item) % 3


Pairs = list[tuple[int, int]]
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=20, unique=True)


def full_log(relevant: Pairs, users: int, graded: bool = False) -> Log:
    """A full log over users 0 … users − 1, also those without a row; graded pairs are worth 1 to 3."""
    frame = pl.DataFrame(relevant, schema=["user", "item"], orient="row")
    worth = pl.Series([float(grade(*pair)) for pair in relevant])
    log = Log.from_frame(frame.with_columns(value=worth), feedback="conversions") if graded else Log.from_frame(frame)
    return log.recode(Ids(pl.Series("id", range(users))), log.items)


def lists_of(listed: Pairs) -> tuple[Recommendations, dict[tuple[int, int], int]]:
    """Lists in the order of the pairs, and the rank of each pair."""
    rank: dict[tuple[int, int], int] = {}
    for user, item in listed:
        rank[user, item] = 1 + sum(u == user for u, _ in rank)
    rows = [(user, item, r) for (user, item), r in rank.items()]
    frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
    return Recommendations.from_frame(frame), rank


@settings(deadline=None)
@given(
    relevant=pairs,
    listed=pairs,
    k=st.integers(1, 7),
    target=st.sampled_from([t for t in Target if t is not Target.PER_PAIR]),
    graded=st.booleans(),
)
def test_truth_is_the_definition(relevant: Pairs, listed: Pairs, k: int, target: Target, graded: bool) -> None:
    """dcg@k under each target equals the double loop over users and relevant items, values of pairs added up."""
    lists, rank = lists_of(listed)
    worth, n = [0.0] * 8, [0] * 8
    for user, item in relevant:
        value = grade(user, item) if graded else 1
        n[user] += value
        if rank.get((user, item), 99) <= k:
            worth[user] += value / math.log2(rank[user, item] + 1)
    with_any = [u for u in range(8) if n[u] > 0]
    expected = {
        Target.PER_USER: sum(worth[u] / n[u] for u in with_any) / len(with_any),
        Target.POOLED: sum(worth) / sum(n),
        Target.PER_USER_SUM: sum(worth) / 8,
        Target.SUM_POOLED: sum(worth) / sum(n),
        Target.SUM_PER_USER: sum(worth[u] / n[u] for u in with_any) / 8,
    }
    assert true_value(lists, full_log(relevant, 8, graded), ranking(f"dcg@{k}"), target) == pytest.approx(
        expected[target]
    )


def test_without_relevant_items_there_is_no_truth() -> None:
    """Shares of nothing are NaN; a sum of nothing is 0."""
    lists, _ = lists_of([(0, 1)])
    empty = full_log([(0, 1)], 3).take(pl.Series([False]).to_numpy())
    assert math.isnan(true_value(lists, empty, ranking("recall@5"), Target.PER_USER))
    assert math.isnan(true_value(lists, empty, ranking("recall@5"), Target.POOLED))
    assert true_value(lists, empty, ranking("recall@5"), Target.PER_USER_SUM) == 0.0


def test_metrics_that_are_no_sums_are_refused() -> None:
    """ndcg points to its naive value on the full log."""
    lists, _ = lists_of([(0, 1)])
    with refuses("not-supported", RefusedError):
        true_value(lists, full_log([(0, 1)], 1), ranking("ndcg@5"), Target.PER_USER)
