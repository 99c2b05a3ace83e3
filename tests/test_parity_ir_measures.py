"""With naive weights every metric is the textbook one: parity with ir-measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import ir_measures
import numpy as np
import polars as pl
import pytest
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

import unskew as us

USERS = 50
ITEMS = 30


@dataclass(frozen=True)
class Lists:
    """Random relevant items and lists; some users have no list, some no relevant item, some neither."""

    seed: int
    graded: bool = False

    @cached_property
    def relevant(self) -> dict[int, dict[int, int]]:
        rng = np.random.default_rng(self.seed)
        sizes = np.where(rng.random(USERS) < 0.15, 0, rng.integers(1, 9, USERS))
        return {
            u: {int(i): int(rng.integers(1, 4)) if self.graded else 1 for i in rng.permutation(ITEMS)[: sizes[u]]}
            for u in range(USERS)
        }

    @cached_property
    def lists(self) -> dict[int, list[int]]:
        rng = np.random.default_rng(self.seed + 1000)
        lengths = np.where(rng.random(USERS) < 0.15, 0, rng.integers(1, 16, USERS))
        return {u: [int(i) for i in rng.permutation(ITEMS)[: lengths[u]]] for u in range(USERS)}

    def theirs(self, measure: ir_measures.Measure) -> dict[int, float]:
        """Per user; ir-measures leaves out users without relevant items, and scores those without a list 0."""
        qrels = [
            ir_measures.Qrel(str(u), str(i), gain) for u, gains in self.relevant.items() for i, gain in gains.items()
        ]
        run = [
            ir_measures.ScoredDoc(str(u), str(i), float(-rank))
            for u, items in self.lists.items()
            for rank, i in enumerate(items)
        ]
        found = {int(m.query_id): float(m.value) for m in ir_measures.iter_calc([measure], qrels, run)}
        return {u: found.get(u, 0.0) for u in range(USERS)}

    def ours(self, metric: str, target: str) -> float:
        rows = [(u, i, float(gain)) for u, gains in self.relevant.items() for i, gain in gains.items()]
        listed = [(u, i, rank) for u, items in self.lists.items() for rank, i in enumerate(items, 1)]
        result = us.evaluate(
            pl.DataFrame(rows, schema=["user", "item", "value"], orient="row"),
            {"m": pl.DataFrame(listed, schema=["user", "item", "rank"], orient="row")},
            metrics=[metric],
            estimators=["naive"],
            target=target,
            feedback="conversions" if self.graded else "implicit",
            users=pl.DataFrame({"user": list(range(USERS))}),
        )
        return result.estimates[0].value

    def mean_of_those_with_relevant_items(self, scores: dict[int, float]) -> float:
        counted = [scores[u] for u in range(USERS) if self.relevant[u]]
        assert 0 < len(counted) < USERS
        return sum(counted) / len(counted)


SEEDS = [0, 1]
PER_USER = {
    "recall@5": R @ 5,
    "recall@20": R @ 20,
    "ndcg@5": nDCG @ 5,
    "ndcg": nDCG,
    "map@5": AP @ 5,
    "map": AP,
    "mrr@5": RR @ 5,
    "mrr": RR,
    "hit@5": Success @ 5,
    "r_precision": Rprec,
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", PER_USER)
def test_naive_per_user_is_the_mean_over_users_with_relevant_items(metric: str, seed: int) -> None:
    """recall, ndcg, map, mrr, hit and r_precision equal ir-measures' R, nDCG, AP, RR, Success and Rprec."""
    world = Lists(seed)
    expected = world.mean_of_those_with_relevant_items(world.theirs(PER_USER[metric]))
    assert expected > 0.0
    assert world.ours(metric, "per_user") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg"])
def test_graded_ndcg_has_linear_gains(metric: str, seed: int) -> None:
    """With graded values ndcg equals ir-measures' nDCG, whose gain is the grade itself."""
    world = Lists(seed, graded=True)
    expected = world.mean_of_those_with_relevant_items(world.theirs(PER_USER[metric]))
    assert world.ours(metric, "per_user") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_precision_sums_over_the_whole_population(seed: int) -> None:
    """precision@5 under per_user_sum is ir-measures' P@5, averaged over all users, those without anything as 0."""
    world = Lists(seed)
    expected = sum(world.theirs(P @ 5).values()) / USERS
    assert world.ours("precision@5", "per_user_sum") == pytest.approx(expected, abs=1e-6)
