"""What a rank is worth: tables over the ranks 1 … depth, nothing at rank 0 and behind the cut-off."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.said import refuses
from unskew import metrics
from unskew.kernels import hits, sums
from unskew.metrics import RankingMetric, Shape

FORMULAS: dict[str, Callable[[int], float]] = {
    "recall@4": lambda rank: 1.0,
    "precision@4": lambda rank: 1.0 / 4.0,
    "dcg@4": lambda rank: 1.0 / math.log2(rank + 1),
    "rbp(p=0.9)@4": lambda rank: 0.1 * 0.9 ** (rank - 1),
    "arhr@4": lambda rank: 1.0 / rank,
    "ndcg@4": lambda rank: 1.0 / math.log2(rank + 1),
    "ndcg(discount=lenskit)@4": lambda rank: 1.0 / max(math.log2(rank), 1.0),
    "map@4": lambda rank: 1.0,
    "mrr@4": lambda rank: 1.0 / rank,
    "hit@4": lambda rank: 1.0,
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("depth", [1, 3, 4, 5, 9])
def test_tables_hold_the_worth_of_every_rank(name: str, depth: int) -> None:
    """λ(rank) up to min(k, depth), 0 behind it, 0 for items that are not listed."""
    table = metrics.ranking(name).table(depth)
    expected = [0.0] + [FORMULAS[name](rank) if rank <= 4 else 0.0 for rank in range(1, depth + 1)]
    np.testing.assert_allclose(table, expected, rtol=1e-14)
    assert len(table) == depth + 1


@pytest.mark.parametrize("name", ["dcg", "rbp(p=0.9)", "arhr", "ndcg", "map", "mrr"])
def test_without_a_cut_off_every_rank_counts(name: str) -> None:
    """No @k means the whole list."""
    assert (metrics.ranking(name).table(500)[1:] > 0.0).all()


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("recall@3", Shape.ADDITIVE),
        ("precision@3", Shape.ADDITIVE),
        ("dcg@3", Shape.ADDITIVE),
        ("rbp@3", Shape.ADDITIVE),
        ("arhr@3", Shape.ADDITIVE),
        ("ndcg@3", Shape.IDEAL),
        ("map@3", Shape.PRECISION),
        ("mrr@3", Shape.FIRST),
        ("hit@3", Shape.FIRST),
        ("r_precision", Shape.CUT),
    ],
)
def test_shapes_say_which_metrics_are_sums(name: str, shape: Shape) -> None:
    """Only recall, precision, dcg, rbp and arhr are sums over items, the ones that estimators can promise."""
    assert metrics.ranking(name).shape is shape


@given(st.sampled_from(sorted(FORMULAS)), st.integers(1, 40))
def test_worth_never_grows_with_the_rank(name: str, depth: int) -> None:
    """A better place is never worth less."""
    table = metrics.ranking(name).table(depth)[1:]
    assert (np.diff(table) <= 0.0).all() and (table >= 0.0).all()


def test_rbp_sums_to_one() -> None:
    """(1 − p) Σ p^(rank − 1) = 1: a list of hits is worth one."""
    assert metrics.ranking("rbp(p=0.5)").table(200).sum() == pytest.approx(1.0, abs=1e-12)


def test_a_cut_off_below_one_is_refused() -> None:
    """k must be at least 1, also where the metric is made without a string."""
    with refuses("out-of-range"):
        metrics.Recall(0)


def test_metrics_are_values() -> None:
    """Equal options make equal metrics, which can be keys; the same options of another metric do not."""
    assert {metrics.make("recall@5"): 1}[metrics.Recall(5)] == 1
    assert len({metrics.make(name) for name in ("recall@5", "precision@5", "recall@6")}) == 3
    assert isinstance(metrics.make("recall@5"), RankingMetric)


ROWS = st.lists(
    st.tuples(st.floats(0.0, 9.0), st.sampled_from([0.0, 1.0, 2.0]), st.integers(0, 12)),
    max_size=9,
    unique_by=lambda row: row[2] or object(),
)


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_kernels_agree_with_loops(users: list[list[tuple[float, float, int]]]) -> None:
    """listed (additive and precision), ideal, largest, best and cut against their definitions, user by user."""
    rows = [row for user in users for row in user]
    indptr = np.concatenate([[0], np.cumsum([len(user) for user in users])]).astype(np.int64)
    value = np.array([row[1] for row in rows])
    weight = np.array([row[0] * row[1] for row in rows])
    rank = np.array([row[2] for row in rows], dtype=np.int32)
    table = np.stack([metrics.ranking(m).table(8) for m in ("recall@3", "dcg")], axis=1)
    cuts = np.array([2, 5], dtype=np.int64)
    out = {name: np.empty((len(users), 2)) for name in ("largest", "best")}
    cut = np.empty((len(users), 1))
    inside = np.arange(9)[:, None] <= cuts
    listed, best = np.empty((4, len(users))), np.empty((2, len(users)))
    none, plain = np.zeros((9, 2)), np.empty((0, 0))
    both = np.hstack([table, none, inside.astype(np.float64), none])
    columns = np.array([0, 1, -1, -1, 2, 3, -1, -1])
    starts, precision = np.empty(len(users) + 1, dtype=np.int64), np.empty(len(rows))
    row, place = np.empty((2, len(rows) + 1), dtype=np.int64)
    hits.sort_hits(indptr, rank, starts, row, place)
    hits.rate_hits(starts, row, place, value, 9, precision)
    hits.over_hits(starts, row, place, precision, weight, both, 4, plain, 0 * columns, columns, listed)
    out["additive"], out["precision"] = listed[:2].T, listed[2:].T
    sums.ideal(indptr, weight, table, best)
    out["ideal"] = best.T
    sums.largest(indptr, weight, cuts, out["largest"])
    sums.best(indptr, value, rank, table, out["best"])
    sums.cut(indptr, value, rank, cut)
    for u, user in enumerate(users):
        found = sorted(r for _, y, r in user if y > 0.0 and r > 0)
        ordered = sorted((w * y for w, y, _ in user), reverse=True)
        relevant = len([y for _, y, _ in user if y > 0.0])
        assert cut[u, 0] == pytest.approx(len([r for r in found if r <= relevant]) / relevant if relevant else 0.0)
        for t in range(2):

            def worth(r: int, t: int = t) -> float:
                return float(table[r, t]) if r < 9 else 0.0

            expected = {
                "additive": sum(w * y * worth(r) for w, y, r in user),
                "ideal": sum(w * worth(j) for j, w in enumerate(ordered, 1)),
                "largest": sum(ordered[: cuts[t]]),
                "precision": sum(
                    w * y * (found.index(r) + 1) / r for w, y, r in user if y > 0.0 and 0 < r <= int(cuts[t])
                ),
                "best": worth(found[0]) if found else 0.0,
            }
            for name, number in expected.items():
                assert out[name][u, t] == pytest.approx(number, rel=1e-12, abs=1e-12), name
