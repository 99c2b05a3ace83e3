"""Shrunk means against loops."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.outcome.worlds import World, all_pairs
from unskew.log import Ids, Log
from unskew.outcome import Crossfit, Means, Outcome

rows = st.lists(
    st.tuples(
        st.integers(7, 12), st.integers(5, 12), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.1, 0.5, 1.0])
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[:2],
)
Row = tuple[int, int, float, float]


def reference(rows: list[Row], shrink: float, times: dict[int, float], user: int, item: int) -> float:
    """q by loops over dictionaries."""

    def effect(of: list[tuple[float, float, float]]) -> float:
        total = sum(t * w for w, t, _ in of)
        if total == 0.0:
            return 0.0
        size = total**2 / sum(t * w * w for w, t, _ in of)
        return sum(t * w * v for w, t, v in of) / total * size / (size + shrink)

    inverse = {(u, i): 1.0 / p for u, i, _, p in rows}
    mean = sum(times[u] * inverse[u, i] * y for u, i, y, _ in rows) / sum(
        times[u] * inverse[u, i] for u, i, _, _ in rows
    )
    items = {
        j: effect([(inverse[u, i], times[u], y - mean) for u, i, y, _ in rows if i == j]) for j in {r[1] for r in rows}
    }
    mine = effect([(inverse[u, i], 1.0, y - mean - items[i]) for u, i, y, _ in rows if u == user])
    largest = max(y for u, _, y, _ in rows if times[u] > 0.0)
    return min(max(mean + items.get(item, 0.0) + mine, 0.0), largest)


@given(rows=rows, shrink=st.sampled_from([0.0, 1.0, 10.0]), doubled=st.integers(7, 12))
def test_means_are_the_formula(rows: list[Row], shrink: float, doubled: int) -> None:
    """Weighted and shrunk as a loop has it, graded outcomes, unknown users and items, users who count twice."""
    frame = pl.DataFrame(rows, schema=["user", "item", "value", "propensity"], orient="row")
    log = Log.from_frame(frame, feedback="conversions")
    times = {u: 2.0 if u == doubled else 1.0 for u in range(7, 13)}
    weights = np.array([times[u] for u in log.users.values])
    found = Means(shrink).fit(log, propensity=log.propensity, weights=weights)
    asked = [(u, i) for u in (6, *range(7, 13)) for i in (4, *range(5, 13))]
    q = found.predict([u for u, _ in asked], [i for _, i in asked])
    expected = [reference(rows, shrink, times, u, i) for u, i in asked]
    np.testing.assert_allclose(q, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", [Means(), Means(shrink=0.0), Crossfit(Means(), folds=3, seed=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_parts_of_the_users_are_those_of_all(model: Outcome, weighted: bool) -> None:
    """Fitted to merged sums, and asked in each part, the model says what it says when it is fitted to all rows."""
    world = World.draw(60, 30)
    log, p = world.log, world.p[world.seen] if weighted else None
    part = np.arange(len(log.users)) % 4  # those of the last have no rows
    rows = [(part == k)[log.user] & (k < 3) for k in range(4)]
    logs = [(log.take(mine), None if p is None else p[mine]) for mine in rows]
    first, *others = (model.tally(mine, propensity=weight) for mine, weight in logs)
    for other in others:
        first = first.merge(other)
    kept = part[log.user] < 3
    whole = model.copy().fit(log.take(kept), propensity=None if p is None else p[kept])
    found = model.copy().fit_tally(first)
    for k, (mine, weight) in enumerate(logs):
        here = found.of_part(mine, propensity=weight)
        users = [user for user, at in zip(log.users.values, part, strict=True) if at == k]
        pairs = np.repeat(users, len(log.items)), np.tile(log.items.values, len(users))
        np.testing.assert_allclose(here.predict(*pairs), whole.predict(*pairs), rtol=1e-12, atol=1e-14)
        assert [side.tolist() for side in here.known(Ids.of(pl.Series(users)), log.items)] == [
            side.tolist() for side in whole.known(Ids.of(pl.Series(users)), log.items)
        ]


def test_weights_remove_the_bias_of_what_was_shown() -> None:
    """What is liked is shown more: plain means are too high, weighted ones are not (± 0.02)."""
    world = World.draw()
    log = world.log
    plain = Means().fit(log).predict(*all_pairs(world.p.shape))
    weighted = Means().fit(log, propensity=world.p[world.seen]).predict(*all_pairs(world.p.shape))
    assert plain.mean() - world.chance.mean() > 0.05
    assert abs(weighted.mean() - world.chance.mean()) < 0.02
    assert world.error(weighted) < world.error(plain)
