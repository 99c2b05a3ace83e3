"""Poisson bootstrap by user: weights from a hash, replicates that merge, means over the drawn users."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

import unskew
from tests.engine.passes import first_pass
from tests.inference.errors import difference_error
from unskew.engine.data import EvaluationData
from unskew.inference.bootstrap import LIMITS, replicate_sums
from unskew.inference.intervals import percentile
from unskew.log import Ids

from .worlds import Floats, Ints64, answer, draw, numbered, plan_of, setting

CELLS = (
    ("naive", "per_user"),
    ("snips", "per_user"),
    ("gs(strata=5)", "per_user"),
    ("snips", "pooled"),
    ("gs(strata=5)", "pooled"),
    ("ips", "per_user"),
    ("ips", "per_user_sum"),
    ("snips", "per_user_sum"),
)


def weights(ids: Ids, seed: int, replicates: int) -> Floats:
    """The weight of every user in every replicate, ``[replicate, user]``: sums of the columns of a unit matrix."""
    block = 64
    parts = []
    for low in range(0, len(ids), block):
        hashes = ids.hashes[low : low + block]
        parts.append(replicate_sums(np.eye(len(hashes)), hashes, seed, replicates))
    return np.concatenate(parts, axis=1)


@pytest.fixture(scope="module")
def drawn() -> Floats:
    """Weights of 2,048 users in 512 replicates: a million of them."""
    return weights(numbered(2_048), 7, 512)


def test_weights_are_poisson(drawn: Floats) -> None:
    """Frequencies agree with e⁻¹/k! by a chi-square test at the level 0.001 (fixed seed); mean and variance are 1."""
    n = drawn.size
    assert np.mean(drawn) == pytest.approx(1.0, abs=4.0 / math.sqrt(n))
    assert np.var(drawn) == pytest.approx(1.0, abs=4.0 * math.sqrt(3.0 / n))  # Var of (ω − 1)² is 3
    counts = np.bincount(drawn.astype(np.int64).ravel(), minlength=8)
    observed = np.append(counts[:7], counts[7:].sum())
    chances = [math.exp(-1.0) / math.factorial(k) for k in range(7)]
    expected = n * np.array([*chances, 1.0 - sum(chances)])
    assert float(((observed - expected) ** 2 / expected).sum()) < chi2.ppf(0.999, 7)


def test_limits_are_the_poisson_distribution_on_64_bits() -> None:
    """The thresholds rise, and each is P(ω ≤ k) · 2⁶⁴ to double precision."""
    assert (np.diff(LIMITS.astype(np.float64)) >= 0.0).all()
    for k, limit in enumerate(LIMITS[:12]):
        chance = sum(math.exp(-1.0) / math.factorial(j) for j in range(k + 1))
        assert int(limit) / 2**64 == pytest.approx(chance, rel=1e-15)


def test_weights_are_independent_between_replicates_users_and_seeds(drawn: Floats) -> None:
    """Correlations of neighbouring replicates, users and seeds are within 4/√n of 0, also of squared weights."""
    other_seed = weights(numbered(2_048), 8, 512)
    for power in (1, 2):
        w, v = drawn**power, other_seed**power
        pairs = {
            "replicates": (w[:-1], w[1:]),
            "replicates apart": (w[:256], w[256:]),
            "users": (w[:, :-1], w[:, 1:]),
            "users apart": (w[:, :1024], w[:, 1024:]),
            "seeds": (w, v),
            "seeds, next replicate": (w[:-1], v[1:]),
        }
        for left, right in pairs.values():
            r = np.corrcoef(left.ravel(), right.ravel())[0, 1]
            assert abs(r) < 4.0 / math.sqrt(left.size)


def test_sums_of_weights_vary_like_independent_ones(drawn: Floats) -> None:
    """Σω over users has variance U over replicates, and over replicates variance R over users: no hidden structure."""
    for axis in (0, 1):
        totals = drawn.sum(axis=axis)
        ratio = np.var(totals, ddof=1) / drawn.shape[axis]
        assert ratio == pytest.approx(1.0, abs=4.0 * math.sqrt(2.0 / len(totals)))


def test_the_weight_belongs_to_the_id_text() -> None:
    """Numbers and their texts are the same user; a user's weights do not depend on who else is there."""
    as_text = Ids(pl.Series("id", [str(u) for u in range(64)]))
    np.testing.assert_array_equal(weights(as_text, 3, 50), weights(numbered(64), 3, 50))
    some = Ids(pl.Series("id", [5, 17, 40]))
    np.testing.assert_array_equal(weights(some, 3, 50), weights(numbered(64), 3, 50)[:, [5, 17, 40]])
    assert (weights(numbered(64), 4, 50) != weights(numbered(64), 3, 50)).any(axis=0).all()


def test_more_replicates_begin_with_the_same_ones(drawn: Floats) -> None:
    """Replicate b is the same whatever their number."""
    np.testing.assert_array_equal(weights(numbered(2_048), 7, 20), drawn[:20])


def replicates_of(
    held: EvaluationData, *, seed: int = 5, threads: int = 1, block: int = 4096, count: int = 60
) -> Floats:
    plan = plan_of(held, CELLS)
    sums = first_pass(held, plan, replicates=count, seed=seed, threads=threads, block=block)
    assert sums.replicates is not None
    return np.stack([cell.form.values(sums.replicates[:, cell.columns]) for cell in plan.cells])


def permuted(held: EvaluationData, order: Ints64) -> EvaluationData:
    """The same users in another order."""
    rows = np.concatenate([np.arange(held.indptr[u], held.indptr[u + 1]) for u in order])
    assert held.propensity is not None and held.relevant is not None and held.candidates is not None
    lists = []
    for found in held.lists:
        entries = np.concatenate([np.arange(found.indptr[u], found.indptr[u + 1]) for u in order])
        lists.append(replace(found, item=found.item[entries], rank=found.rank[entries]))
    return replace(
        held,
        hashes=held.hashes[order],
        indptr=np.concatenate([[0], np.cumsum(np.diff(held.indptr)[order])]).astype(np.int64),
        item=held.item[rows],
        value=held.value[rows],
        propensity=held.propensity[rows],
        relevant=held.relevant[order],
        candidates=held.candidates[order],
        lists=tuple(lists),
    )


def test_replicates_do_not_depend_on_threads() -> None:
    """One, two or five threads: the same bits."""
    held = draw(31, 1_500, (0.4, 0.6)).held()
    one = replicates_of(held, threads=1, block=128)
    for threads in (2, 5):
        np.testing.assert_array_equal(replicates_of(held, threads=threads, block=128), one)


def test_replicates_do_not_depend_on_blocks_or_the_order_of_users() -> None:
    """Any block size and any order of users: the same replicates to 1e-12."""
    held = draw(32, 1_500, (0.4, 0.6)).held()
    whole = replicates_of(held)
    for block in (1, 37, 1_000):
        np.testing.assert_allclose(replicates_of(held, block=block), whole, rtol=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(3):
        order = rng.permutation(held.users)
        np.testing.assert_allclose(replicates_of(permuted(held, order)), whole, rtol=1e-12)
    assert np.abs(replicates_of(held, seed=6) / whole - 1.0).max() > 1e-3


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_that_are_no_seeds_are_refused(seed: int) -> None:
    """A seed outside 0 … 2⁶⁴ − 1 is an input error in words, not an overflow."""
    log = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
    lists = {"a": log.with_columns(rank=1)}
    with pytest.raises(unskew.InputError, match="seed"):
        unskew.evaluate(log, lists, interval="bootstrap", seed=seed)


def test_results_do_not_depend_on_the_order_of_rows() -> None:
    """A shuffled log, population and lists give bit-identical bootstrap results, tipping points included."""
    world = draw(33, 300, (0.4, 1.0))
    user = np.repeat(np.arange(300), np.diff(world.indptr))
    log = pl.DataFrame(
        {"user": user, "item": world.item, "value": world.value, "propensity": world.propensity}
    ).with_columns(pl.col("user").cast(pl.String))
    lists = {
        name: pl.DataFrame(
            {
                "user": np.repeat(np.arange(300), 5).astype(str),
                "item": world.listed[:, j].ravel(),
                "rank": np.tile(np.arange(1, 6), 300),
            }
        )
        for j, name in enumerate("ab")
    }
    users = pl.DataFrame({"user": np.arange(300).astype(str), "relevant": world.relevant})

    def run(shuffle: int | None) -> unskew.Result:
        def mixed(frame: pl.DataFrame) -> pl.DataFrame:
            return frame if shuffle is None else frame.sample(fraction=1.0, shuffle=True, seed=shuffle)

        return unskew.evaluate(
            mixed(log),
            {name: mixed(frame) for name, frame in lists.items()},
            metrics=["dcg@5"],
            estimators=["naive", "snips", "gs(strata=5)", "ips"],
            target=["per_user", "pooled", "per_user_sum"],
            propensity="known",
            feedback="conversions",
            users=mixed(users),
            interval="bootstrap",
            replicates=100,
            refused="skip",
        )

    first = run(None)
    assert len(first.verdicts_) >= 10
    for shuffle in (1, 2):
        again = run(shuffle)
        assert again.estimates == first.estimates
        assert again.verdicts_ == first.verdicts_


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_bootstrap_errors_agree_with_the_delta_method(cell: tuple[str, str]) -> None:
    """R = 2,000 replicates: both errors agree to 4/√(2R) = 6 % plus 3 % for 4,000 users, also of differences."""
    held = draw(34, 4_000, (0.4, 0.6)).held()
    plan = plan_of(held, (cell,))
    sums = first_pass(held, plan, replicates=2_000, seed=1)
    assert sums.replicates is not None
    values = plan.cells[0].form.values(sums.replicates[:, plan.cells[0].columns])
    (moments,) = sums.moments
    for model in range(2):
        interval = percentile(values[:, model], 0.95)
        assert interval.se == pytest.approx(math.sqrt(moments.covariance[model, model]), rel=0.095)
    gap = percentile(values[:, 0] - values[:, 1], 0.95)
    assert gap.se == pytest.approx(difference_error(moments, 0, 1), rel=0.095)


def test_sums_are_divided_by_the_drawn_users_not_by_their_number() -> None:
    """means divide by Σω; dividing by U would more than double the error of a sum that varies little."""
    users = 500
    world = draw(35, users, (0.5,))
    held = world.held()
    steady = replace(
        held,
        indptr=np.arange(users + 1, dtype=np.int64),
        item=held.lists[0].item.reshape(users, 5)[:, 0].copy(),
        value=np.ones(users),
        propensity=np.random.default_rng(0).uniform(0.4, 0.6, users),
    )
    plan = plan_of(steady, (("ips", "per_user_sum"),))
    sums = first_pass(steady, plan, replicates=800, seed=2)
    assert sums.replicates is not None
    columns = plan.cells[0].columns
    drawn_users = sums.replicates[:, columns[-1]]
    assert np.std(drawn_users) == pytest.approx(math.sqrt(users), rel=0.1)
    right = percentile(plan.cells[0].form.values(sums.replicates[:, columns])[:, 0], 0.95).se
    wrong = float(np.std(sums.replicates[:, columns[0]] / users))
    assert right == pytest.approx(math.sqrt(sums.moments[0].covariance[0, 0]), rel=0.1)
    assert wrong > 5.0 * right


def test_silent_users_carry_their_own_weights() -> None:
    """Users without rows are drawn like all others: Σω runs over the whole population, and each silent one matters."""
    world = draw(36, 400, (0.5,))
    held = world.held()
    kept = np.repeat(np.arange(400) < 100, np.diff(held.indptr))
    assert held.propensity is not None
    silent = replace(
        held,
        indptr=np.minimum(held.indptr, held.indptr[100]),
        item=held.item[kept],
        value=held.value[kept],
        propensity=held.propensity[kept],
    )
    plan = plan_of(silent, (("ips", "per_user_sum"), ("snips", "pooled")))

    def run(some: EvaluationData) -> Floats:
        sums = first_pass(some, plan, replicates=200, seed=9)
        assert sums.replicates is not None
        return sums.replicates

    first = run(silent)
    summed, pooled = (cell.columns for cell in plan.cells)
    np.testing.assert_array_equal(first[:, summed[-1]], weights(numbered(400), 9, 200).sum(axis=1))
    renamed = silent.hashes.copy()
    renamed[399] = renamed[399] + np.uint64(12345)
    second = run(replace(silent, hashes=renamed))
    assert (first[:, summed[-1]] != second[:, summed[-1]]).mean() > 0.5
    np.testing.assert_array_equal(first[:, summed[0]], second[:, summed[0]])
    np.testing.assert_array_equal(first[:, pooled], second[:, pooled])


def few_clickers(users: int, clickers: int) -> EvaluationData:
    """A log in which only the first users have rows: one click each, hit at rank 1 by every other user."""
    held = draw(37, users, (0.5, 0.5)).held(relative=True)
    first = [found.item.reshape(users, 5)[:clickers, 0] for found in held.lists]
    return replace(
        held,
        indptr=np.minimum(np.arange(users + 1), clickers).astype(np.int64),
        item=np.where(np.arange(clickers) % 2 == 0, first[0], first[1]).astype(np.int32),
        value=np.ones(clickers),
        propensity=np.full(clickers, 0.5),
    )


def test_replicates_without_a_divisor_are_dropped_and_counted() -> None:
    """Three clickers are all left out of e⁻³ = 5 % of the replicates; those count as lost and not as zeros."""
    held = few_clickers(200, 3)
    cells = (("snips", "pooled"), ("naive", "per_user"))
    plan = plan_of(held, cells)
    found = answer(held, plan, setting(2, replicates=1_000, seed=4))
    clickers = weights(numbered(200), 4, 1_000)[:, :3].sum(axis=1)
    empty = int((clickers == 0).sum())
    assert 30 <= empty <= 75
    assert found.lost_replicates == empty
    assert found.sums.replicates is not None
    for place, cell in enumerate(plan.cells):
        values = cell.form.values(found.sums.replicates[:, cell.columns])
        np.testing.assert_array_equal(np.isnan(values[:, 0]), clickers == 0)
        left = values[clickers > 0, 0]
        row = found.estimates[2 * place]
        assert row.se == pytest.approx(np.std(left, ddof=1), rel=1e-12)
        low, high = np.quantile(left, [0.025, 0.975])  # three clickers: the interval is at least as wide
        assert row.low <= low + 1e-12 and row.high >= high - 1e-12
    everybody = answer(draw(38, 200, (0.5, 0.5)).held(), plan, setting(2, replicates=200))
    assert everybody.lost_replicates == 0


def test_percentiles_need_two_replicates() -> None:
    """With fewer than two replicates left there is no interval, rather than a wrong one."""
    nothing = percentile(np.array([math.nan, 0.3, math.nan]), 0.95)
    assert math.isnan(nothing.se) and math.isnan(nothing.low) and math.isnan(nothing.high)


def test_the_same_weights_serve_both_models() -> None:
    """Differences are taken inside each replicate: nearly equal models have a difference error far below their own."""
    held = draw(39, 1_000, (0.5, 0.5)).held(relative=True)
    twin = held.lists[0]
    changed = twin.item.reshape(1_000, 5).copy()
    changed[:20] = changed[:20, ::-1]
    held = replace(held, lists=(twin, replace(twin, item=changed.ravel())))
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(held, plan, setting(2, replicates=400)).verdicts
    (left, right) = answer(held, plan, setting(2, replicates=400)).estimates
    assert 0.0 < row.se < 0.4 * min(left.se, right.se)
    (straight,) = answer(held, plan, setting(2)).verdicts
    assert row.se == pytest.approx(straight.se, rel=0.2)
