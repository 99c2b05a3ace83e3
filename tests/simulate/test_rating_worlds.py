"""Worlds of ratings: every step from a log to what is seen of its world, against slow references."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.said import refuses

from unskew.kernels.hashing import mix, pair_uniform
from unskew.kernels.topk import SEED
from unskew.log import Ids, Log, read_log
from unskew.log.ids import hash_texts
from unskew.simulate import RatingWorld, complete, most_active, propensities, to_ratings, write_ratings

Floats = npt.NDArray[np.float64]


def ids(count: int) -> Ids:
    return Ids(pl.Series("id", np.arange(count)))


def ratings_log(users: int = 30, items: int = 20, share: float = 0.5, rank: int = 2, seed: int = 0) -> Log:
    """Noiseless ratings of low rank, some of them seen."""
    rng = np.random.default_rng(seed)
    full = rng.uniform(0.5, 1.5, (users, rank)) @ rng.uniform(0.5, 1.5, (rank, items))
    user, item = np.nonzero(rng.random((users, items)) < share)
    frame = pl.DataFrame({"user": user, "item": item, "value": full[user, item]})
    return Log.from_frame(frame, feedback="ratings")


def small_world(users: int = 40, items: int = 30, alpha: float = 0.25, share: float = 0.1) -> RatingWorld:
    return RatingWorld.like(ratings_log(users, items), alpha=alpha, share=share)


def test_completion_is_alternating_ridge_regression() -> None:
    """Loops over users and items with a matrix inverse give the same matrix, groups without rows included."""
    log = ratings_log(8, 6, share=0.4, seed=3)
    log = log.take(log.user != 2)  # a user without a row
    assert log.value is not None
    rank, penalty = 3, 0.2
    right = np.random.default_rng(5).standard_normal((len(log.items), rank)) * 0.1
    right[:, 0] = 1.0
    left = np.zeros((len(log.users), rank))

    def ridge(mine: npt.NDArray[np.int32], theirs: npt.NDArray[np.int32], other: Floats, count: int) -> Floats:
        assert log.value is not None
        found = {}
        for g in range(count):
            rows = [r for r in range(len(log)) if mine[r] == g]
            if rows:
                gram = penalty * len(rows) * np.eye(rank)
                moment = np.zeros(rank)
                for r in rows:
                    gram += np.outer(other[theirs[r]], other[theirs[r]])
                    moment += log.value[r] * other[theirs[r]]
                found[g] = np.linalg.inv(gram) @ moment
        mean = np.mean(list(found.values()), axis=0)
        return np.array([found.get(g, mean) for g in range(count)])

    for _ in range(4):
        left = ridge(log.user, log.item, right, len(log.users))
        right = ridge(log.item, log.user, left, len(log.items))
    made = complete(log, rank=rank, penalty=penalty, sweeps=4, seed=5)
    np.testing.assert_allclose(made, left @ right.T, rtol=1e-5)


@given(
    st.lists(st.integers(0, 4), min_size=12, max_size=12),
    st.lists(st.integers(0, 5), min_size=3, max_size=6).filter(lambda weights: sum(weights) > 0),
)
def test_quantiles_are_a_sort_by_value_and_hash(values: list[int], weights: list[int]) -> None:
    """The slow way: sort all pairs by (value, hash), hand out the ratings from the bottom."""
    users, items = ids(4), ids(3)
    shares = [weight / sum(weights) for weight in weights]
    seed = int(hash_texts(pl.Series(["quantiles"]))[0])
    place = [
        pair_uniform(seed, users.hashes[[cell // 3]], items.hashes[[cell % 3]])[0] for cell in range(12)
    ]  # one number per pair
    order = sorted(range(12), key=lambda cell: (values[cell], place[cell]))
    wanted = [0] * 12
    borders = [round(sum(shares[: r + 1]) * 12 + 1e-12) for r in range(len(shares))]
    borders[-1] = 12
    for position, cell in enumerate(order):
        wanted[cell] = next(r + 1 for r in range(len(shares)) if position < borders[r])
    made = to_ratings(np.array(values, dtype=np.float64).reshape(4, 3), shares, users, items)
    halves = [abs(sum(shares[: r + 1]) * 12 % 1.0 - 0.5) < 1e-9 for r in range(len(shares))]
    if not any(halves):  # a border half-way between two pairs may be rounded to either
        assert made.reshape(-1).tolist() == wanted


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.6, 0.2), (-0.1, 0.6, 0.5), (0.05,) * 21])
def test_marginals_must_be_shares(shares: Sequence[float]) -> None:
    with refuses("bad-value", option="marginals"):
        to_ratings(np.ones((3, 3)), shares, ids(3), ids(3))


@given(
    st.lists(st.floats(0.0, 1.0), min_size=3, max_size=7).filter(lambda weights: sum(weights) > 0.1),
    st.floats(0.02, 1.0),
    st.floats(0.01, 1.0),
)
@example([1e-38, 0.5, 0.0, 1.0], 0.5, 1.0)  # all are capped but one pair in 10^38: what is left over is rounding
@example([0.0, 0.5, 0.0, 1.0], 0.5, 1.0)
def test_the_asked_share_is_seen_whatever_is_capped(weights: list[float], alpha: float, share: float) -> None:
    """min(1, k·α^max(0, R−1−y)) for one k, and Σ p·P = share: the sum grows with k, so both say all.

    k itself is not compared: where the ratings below the cap are one pair in a billion, rounding decides it.
    """
    shares = np.array(weights) / sum(weights)
    levels = len(shares)
    found = propensities(shares, alpha, share)
    assert float(shares @ found) == pytest.approx(share, abs=1e-9)
    fade = [alpha ** max(0, levels - 1 - r) for r in range(1, levels + 1)]
    below = [found[r] / fade[r] for r in range(levels) if found[r] < 1.0]
    for k in below:
        assert k == pytest.approx(below[0], rel=1e-12)
        assert all(k * fade[r] >= 1.0 - 1e-12 for r in range(levels) if found[r] == 1.0)


@pytest.mark.parametrize(
    ("alpha", "share", "named"),
    [(0.0, 0.05, "alpha"), (1.5, 0.05, "alpha"), (0.25, 0.0, "share"), (0.25, 1.1, "share"), (1e-200, 0.05, "alpha")],
)
def test_impossible_observations_are_refused(alpha: float, share: float, named: str) -> None:
    with refuses("out-of-range", option=named):
        propensities(np.full(5, 0.2), alpha, share)


def test_draws_follow_the_propensities() -> None:
    """A draw is a log of the seen pairs' truth and propensities, one to a seed; over 400 draws every rating is seen as
    often as its propensity says, within 4.5 standard errors, pairwise too."""
    world = small_world()
    log = world.draw(7)
    assert str(log.feedback) == "ratings" and log.value is not None and log.propensity is not None
    np.testing.assert_array_equal(log.value, world.truth[log.user, log.item])
    np.testing.assert_array_equal(log.propensity, world.propensity[log.user, log.item])
    assert log.to_frame().equals(world.draw(7).to_frame()) and not log.to_frame().equals(world.draw(8).to_frame())
    draws = 400
    seen = np.zeros(world.truth.shape)
    for seed in range(draws):
        log = world.draw(seed)
        seen[log.user, log.item] += 1.0
    p = world.propensity
    for rating in range(1, 6):
        cells = world.truth == rating
        chance = world.propensity_of[rating]
        error = math.sqrt(chance * (1.0 - chance) / (draws * np.count_nonzero(cells)))
        assert abs(seen[cells].mean() / draws - chance) < 4.5 * error
    z = (seen - draws * p) / np.sqrt(draws * p * (1.0 - p))
    assert z.std() == pytest.approx(1.0, abs=0.1)  # 1,200 pairs: the error of a standard deviation is .02
    assert np.abs(z.mean(axis=0)).max() < 4.5 / math.sqrt(40) and np.abs(z.mean(axis=1)).max() < 4.5 / math.sqrt(30)


@pytest.mark.parametrize("metric", ["mae", "mse", "accuracy", "cg@5", "dcg@5", "dcg@100", "dcg"])
def test_true_values_are_averages_over_all_pairs(metric: str) -> None:
    """Loops over users: sort by (prediction downwards, hash), look up the rank, add up δ."""
    world = small_world(20, 15)
    users, items = world.users, world.items
    for name, prediction in world.predictions(1).items():
        total = 0.0
        for u in range(20):
            salt = mix(users.hashes[u] ^ SEED)
            key = {i: int(mix(np.uint64(salt) ^ items.hashes[i])) for i in range(15)}
            order = sorted(range(15), key=lambda i: (-prediction[u, i], key[i]))
            for i in range(15):
                y, guess, rank = int(world.truth[u, i]), float(prediction[u, i]), order.index(i) + 1
                if metric == "mae":
                    total += abs(y - guess)
                elif metric == "mse":
                    total += (y - guess) ** 2
                elif metric == "accuracy":
                    total += 1.0 if abs(guess - y) < 0.5 else 0.0
                else:
                    k = int(metric.split("@")[1]) if "@" in metric else 15
                    if rank <= k:
                        total += 15 * y / (k if metric.startswith("cg") else math.log2(rank + 1))
        assert world.true_value(metric, prediction) == pytest.approx(total / 300, rel=1e-12), name


def test_the_busiest_part_keeps_the_busiest() -> None:
    """Items first, then users among the rows that are left; the vocabularies shrink with them."""
    frame = pl.DataFrame(
        {"user": ["a", "a", "a", "b", "b", "c"], "item": ["x", "y", "z", "x", "y", "x"], "value": [1, 2, 3, 4, 5, 1]}
    )
    log = Log.from_frame(frame, feedback="ratings")
    part = most_active(log, users=2, items=2)
    assert part.to_frame().rows() == [("a", "x", 1), ("a", "y", 2), ("b", "x", 4), ("b", "y", 5)]
    assert part.users.values.to_list() == ["a", "b"] and part.items.values.to_list() == ["x", "y"]
    assert most_active(log).to_frame().equals(log.to_frame())
    with refuses("out-of-range"):
        most_active(log, users=0)


def test_files_say_what_the_world_says(tmp_path: Path) -> None:
    """The log reads back as the draw; matrices have a row per pair; truth.json holds the averages."""
    world = small_world(12, 9)
    told: list[str] = []
    paths = write_ratings(world, tmp_path / "world", seed=2, progress=told.append)
    assert told == list(paths) == ["log", "truth", "rec_ones", "rec_fours", "rotate", "skewed", "coarsened", "values"]
    assert read_log(paths["log"], feedback="ratings").to_frame().equals(world.draw(2).to_frame())
    truth = pl.read_parquet(paths["truth"])
    assert truth.height == 108
    for user, item, value in truth.rows():
        assert value == world.truth[world.users.encode(pl.Series([user]))[0], world.items.encode(pl.Series([item]))[0]]
    both = truth.join(pl.read_parquet(paths["skewed"]), on=["user", "item"])
    mae = (both["value"] - both["prediction"]).abs().mean()
    values = pl.read_json(paths["values"])
    said = values.filter(pl.col("model") == "skewed", pl.col("metric") == "mae")["value"].item()
    assert both.height == 108 and said == pytest.approx(mae, rel=1e-12)
