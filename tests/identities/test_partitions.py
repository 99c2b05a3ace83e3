"""Blocks, partitions and threads: the numbers do not depend on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew as us
from tests.engine import passes
from tests.identities.clicks import DCG, RECALL, Click, held_of, plan_of
from tests.inference.errors import difference_error
from unskew.engine.data import EvaluationData
from unskew.engine.sums import Sums
from unskew.engine.walk import BLOCK
from unskew.inference.moments import Moments


def many_users(count: int, seed: int) -> EvaluationData:
    """A larger world with silent users, graded values and lists of all lengths."""
    rng = np.random.default_rng(seed)
    users = []
    for _ in range(count):
        clicks = int(rng.integers(0, 6))
        ranks = [rng.permutation(8)[:clicks] for _ in range(2)]
        users.append(
            [
                Click(
                    float(rng.choice([0.0, 1.0, 1.0, 2.5])),
                    float(rng.uniform(0.02, 1.0)),
                    int(rng.integers(0, 3)),
                    (int(ranks[0][n]), int(ranks[1][n])),
                )
                for n in range(clicks)
            ]
        )
    seen = [sum(c.value for c in clicks) for clicks in users]
    return held_of(users, relevant=[s + float(rng.integers(0, 3)) for s in seen])


EVERY_CELL = [
    *(
        (e, t, m)
        for e in ("naive", "snips", "ips")
        for t in ("per_user", "pooled", "per_user_sum")
        for m in (RECALL, DCG)
    ),
    *((e, t, DCG) for e in ("gs(strata=3)", "clipped(gs(strata=2), at=0.2)") for t in ("per_user", "pooled")),
    *((e, "per_user", m) for e in ("naive", "snips") for m in ("ndcg@3", "map@3")),
]


def close_moments(found: Sequence[Moments], expected: Sequence[Moments]) -> None:
    """Values to 1e-12, standard errors to 1e-9, those of differences to 1e-7 of the larger single one."""
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.values, two.values, rtol=1e-12)
        errors = np.sqrt(np.diag(two.covariance))
        np.testing.assert_allclose(np.sqrt(np.diag(one.covariance)), errors, rtol=1e-9)
        assert abs(difference_error(one, 0, 1) - difference_error(two, 0, 1)) <= 1e-7 * errors.max()
        assert (one.users, one.active) == (two.users, two.active)
        np.testing.assert_array_equal(one.differ, two.differ)


def close_sums(found: Sums, expected: Sums) -> None:
    close_moments(found.moments, expected.moments)
    for one, two in zip(found.tallies, expected.tallies, strict=True):
        np.testing.assert_allclose(
            [one.ess, one.max_weight_share, one.clipped_share],
            [two.ess, two.max_weight_share, two.clipped_share],
            rtol=1e-12,
        )
        assert one.pairs == two.pairs and (one.bins == two.bins).all()
    assert found.replicates is not None and expected.replicates is not None
    np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block", [1, 2, 7, 64, 200, 1000])
def test_blocks_of_any_size_give_the_one_pass_result(block: int) -> None:
    """whole users in blocks of 1, 2, 7, …: the same estimates, errors, diagnostics and replicates."""
    held = many_users(200, seed=1)
    plan = plan_of(held, EVERY_CELL)
    whole = passes.first_pass(held, plan, replicates=60, seed=4)
    parts = passes.first_pass(held, plan, replicates=60, seed=4, block=block, threads=2)
    close_sums(parts, whole)


@settings(max_examples=12)
@given(st.randoms(use_true_random=False), st.integers(2, 6))
def test_partitions_merge_in_any_order(random: Any, parts: int) -> None:
    """users dealt out at random, shuffled inside, merged in any order: the same result."""
    held = many_users(60, seed=2)
    plan = plan_of(held, EVERY_CELL)
    whole = passes.first_pass(held, plan, replicates=50, seed=4)
    users = list(range(held.users))
    random.shuffle(users)
    dealt = [users[n::parts] for n in range(parts)]
    random.shuffle(dealt)
    shares = [held.of_users(np.array(some, dtype=np.int32)) for some in dealt]
    sums = [passes.first_pass(share, plan, replicates=50, seed=4) for share in shares]
    close_sums(reduce(Sums.merge, sums), whole)


def test_threads_do_not_change_a_bit() -> None:
    """1, 2 and 5 threads give bit-identical sums, replicates included."""
    held = many_users(300, seed=3)
    plan = plan_of(held, EVERY_CELL)
    one, *others = (
        passes.first_pass(held, plan, replicates=60, seed=4, block=13, threads=threads) for threads in (1, 2, 5)
    )
    for other in others:
        for a, b in zip(one.moments, other.moments, strict=True):
            assert (a.mean == b.mean).all() and (a.cross == b.cross).all()
        assert one.replicates is not None and other.replicates is not None
        assert (one.replicates == other.replicates).all()


def test_threads_do_not_change_a_result() -> None:
    """A bootstrapped evaluation of several blocks is the same to the last bit with 1, 2 and 5 threads."""
    rng = np.random.default_rng(0)
    n = 3 * BLOCK
    test = pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "propensity": rng.uniform(0.1, 1.0, n)})
    lists = {
        name: pl.DataFrame({"user": np.arange(n), "item": rng.integers(0, 9, n), "rank": rng.integers(1, 5, n)})
        for name in ("a", "b")
    }
    found = [
        us.evaluate(
            test,
            lists,
            metrics=["recall@3"],
            estimators=["snips"],
            propensity="known",
            target="pooled",
            interval="bootstrap",
            replicates=60,
            threads=threads,
        )
        for threads in (1, 2, 5)
    ]
    assert found[0].estimates == found[1].estimates == found[2].estimates
    assert found[0].verdicts_ == found[1].verdicts_ == found[2].verdicts_


def test_the_bootstrap_depends_on_users_not_on_their_order() -> None:
    """The same rows in another order draw the same replicates; another seed draws others."""
    rng = np.random.default_rng(1)
    test = pl.DataFrame(
        {"user": np.arange(80), "item": rng.integers(0, 5, 80), "propensity": rng.uniform(0.2, 1.0, 80)}
    )
    lists = {"a": pl.DataFrame({"user": np.arange(80), "item": rng.integers(0, 5, 80), "rank": np.ones(80, dtype=int)})}

    def run(frame: pl.DataFrame, seed: int) -> tuple[float, float]:
        result = us.evaluate(
            frame, lists, estimators=["snips"], target="pooled", propensity="known", interval="bootstrap", seed=seed
        )
        return result.estimates[0].low, result.estimates[0].se

    assert run(test, 0) == run(test.sample(fraction=1.0, shuffle=True, seed=3), 0) != run(test, 1)
