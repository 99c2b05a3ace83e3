"""The world keeps its promises: frequencies, propensities, unbiasedness, and a naive evaluation that misleads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy.special import ndtr

from unskew.core.errors import InputError
from unskew.log import Feedback, Ids, Log, Recommendations, Recommender
from unskew.metrics import ranking as metric
from unskew.models import make as model
from unskew.simulate import World
from unskew.simulate.population import PairStatus

Array = npt.NDArray[Any]
SMALL = World(users=600, items=80, relevant=16, impressions=60)
CHALLENGED = World(users=400, items=60, relevant=12, impressions=60)
RECALL = metric("recall@10")


def dense(world: World, mask: Array) -> Array:
    """A users × items matrix that is true for the masked pairs."""
    out = np.zeros((world.users, world.items), dtype=np.bool_)
    user = np.repeat(np.arange(world.users), np.diff(world.pairs.indptr))
    out[user[mask], world.pairs.item[mask]] = True
    return out


def exposure(world: World) -> Array:
    """P(seen) of every pair, from the law in words: at least one impression of a Poisson number."""
    return 1.0 - np.exp(-np.outer(world.population.activity, world.population.catalogue.reach))


def assert_calibrated(happened: Array, probability: Array) -> None:
    """Sums over ten bins of probability lie within 4 standard errors of what the probabilities say."""
    for rows in np.array_split(np.argsort(probability.ravel()), 10):
        p = probability.ravel()[rows]
        assert abs((happened.ravel()[rows] - p).sum()) < 4 * np.sqrt((p * (1 - p)).sum())


def test_pairs_are_seen_with_their_propensity() -> None:
    """Sight follows P = 1 − exp(−activity · reach) for all pairs, relevant or not, and the pairs say so."""
    world = World(users=600, items=80, relevant=16, impressions=60, feedback=Feedback.CONVERSIONS)
    p = exposure(world)
    assert_calibrated(dense(world, world.pairs.part != PairStatus.UNSEEN), p)
    kept = dense(world, np.ones(len(world.pairs.item), dtype=np.bool_))
    np.testing.assert_allclose(world.pairs.propensity, p[kept])
    assert 0 < p.min() < p.max() < 1


def test_pairs_are_relevant_with_their_probability() -> None:
    """Relevance follows Φ(preference), its mean share is about what was asked for, and sight does not depend on it."""
    probability = ndtr(SMALL.population.preference(slice(None)))
    relevant = dense(SMALL, SMALL.pairs.relevant)
    assert_calibrated(relevant, probability)
    assert abs(probability.mean() - 0.2) < 0.03
    p = exposure(SMALL)[relevant]
    seen = dense(SMALL, SMALL.pairs.part != PairStatus.UNSEEN)[relevant]
    assert_calibrated(seen, p)


def test_propensity_of_the_test_log_is_conditional_on_training() -> None:
    """Among relevant pairs outside training, the share in test is P s/(1 − P(1−s)), and test rows carry just that."""
    world = World(users=2000, items=80, relevant=30, impressions=150, test_share=0.3)
    p = exposure(world)
    conditional = p * 0.3 / (1.0 - p * 0.7)
    full = dense(world, world.pairs.relevant & (world.pairs.part != PairStatus.TRAIN))
    test = dense(world, world.pairs.part == PairStatus.TEST)
    assert_calibrated(test[full], conditional[full])
    assert world.test.propensity is not None and world.test.share is None
    np.testing.assert_allclose(world.test.propensity, conditional[test])
    with pytest.raises(AssertionError):  # the same check tells P·s, which forgets about training, from the truth
        assert_calibrated(test[full], 0.3 * p[full])


def hits(log: Log, lists: Recommendations) -> Array:
    """For every row of a log, whether its item is in the user's list."""
    listed = set(lists.to_frame().select("user", "item").iter_rows())
    return np.array([pair in listed for pair in log.to_frame().select("user", "item").iter_rows()], dtype=np.float64)


def by_user(log: Log, weight: Array) -> Array:
    """Sums over the rows of each user."""
    return np.bincount(log.user, weights=weight, minlength=len(log.users))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_naive_evaluation_misleads_and_snips_does_not(seed: int) -> None:
    """By naive recall@10 popularity and item-kNN beat the challenger; by the truth, and by snips, it beats both."""
    world = World(seed=seed)
    assert world.test.propensity is not None
    recommenders: dict[str, Recommender] = {
        "popular": model("most_popular").fit(world.train),
        "item_knn": model("item_knn").fit(world.train),
        "challenger": world.challenger(),
    }
    naive, truth, pooled_truth, per_user, pooled = {}, {}, {}, {}, {}
    for name, recommender in recommenders.items():
        lists = recommender.recommend(world.test.users, 10, seen=world.train)
        hit, weight = hits(world.test, lists), 1.0 / world.test.propensity
        clicks = by_user(world.test, np.ones(len(hit)))
        kept = clicks > 0
        total, divisor = by_user(world.test, hit * weight), by_user(world.test, weight)
        naive[name] = (by_user(world.test, hit)[kept] / clicks[kept]).mean()
        per_user[name], pooled[name] = (total[kept] / divisor[kept]).mean(), total.sum() / divisor.sum()
        truth[name], pooled_truth[name] = world.truth(lists, RECALL), world.truth(lists, "recall@10", "pooled")
    assert min(naive["popular"], naive["item_knn"]) > 1.25 * naive["challenger"]
    for estimate in (truth, pooled_truth, per_user, pooled):
        assert estimate["challenger"] > 1.25 * max(estimate["popular"], estimate["item_knn"])
    assert all(abs(pooled[name] - pooled_truth[name]) < 0.1 * pooled_truth[name] for name in recommenders)


def test_logs_are_the_pairs() -> None:
    """Training, test and full log hold exactly the pairs they should, items ascending, over all users and items."""
    for world in (SMALL, World(users=300, items=80, relevant=16, impressions=60, feedback=Feedback.CONVERSIONS)):
        relevant, part = world.pairs.relevant, world.pairs.part
        for log, mask in (
            (world.train, part == PairStatus.TRAIN),
            (world.test, part == PairStatus.TEST),
            (world.full_log(), relevant & (part != PairStatus.TRAIN)),
        ):
            assert (len(log.users), len(log.items)) == (world.users, world.items)
            user, item = np.nonzero(dense(world, mask))
            np.testing.assert_array_equal(log.user, user)
            np.testing.assert_array_equal(log.item, item)
        assert np.all(world.full_log().propensity == 1.0)
        if world.feedback is Feedback.CONVERSIONS:
            np.testing.assert_array_equal(world.test.value, relevant[part == PairStatus.TEST])
            assert set(world.test.value.tolist()) == {0.0, 1.0}  # type: ignore[union-attr]
        else:
            assert world.test.value is None


def test_draws_share_the_catalogue_and_nothing_else() -> None:
    """Another seed: same items, other users with other ids and other logs; the same seed: the same world."""
    again, other = SMALL.draw(SMALL.seed), SMALL.draw(7)
    np.testing.assert_array_equal(SMALL.pairs.item, again.pairs.item)
    np.testing.assert_array_equal(SMALL.pairs.part, again.pairs.part)
    np.testing.assert_array_equal(SMALL.population.catalogue.reach, other.population.catalogue.reach)
    assert not set(SMALL.test.users.values) & set(other.test.users.values)
    overlap = np.mean(dense(SMALL, SMALL.pairs.relevant)[dense(other, other.pairs.relevant)])
    assert overlap < 0.5  # common appeal makes some; the same users would make 1
    assert not np.array_equal(SMALL.population.taste, other.population.taste)


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": 0},
        {"relevant": 500.0},
        {"impressions": 0.0},
        {"skew": -1.0},
        {"agreement": 1.5},
        {"test_share": 1.0},
        {"seed": -1},
        {"feedback": Feedback.RATINGS},
    ],
)
def test_impossible_worlds_are_refused(wrong: dict[str, Any]) -> None:
    """A parameter outside its range is an error that names it."""
    with pytest.raises(InputError) as caught:
        World(**wrong)
    assert caught.value.fields.get("option", "relevant") == next(iter(wrong))


def test_asking_for_some_gives_the_same_lists() -> None:
    """A user's list does not depend on who else is asked for; strangers get a list too."""
    challenger = CHALLENGED.challenger()
    whole = challenger.recommend(CHALLENGED.train.users, 10).item.reshape(400, 10)
    some = challenger.recommend(Ids(pl.Series("id", [17, 300, 5000])), 10)
    np.testing.assert_array_equal(some.item.reshape(3, 10)[:2], whole[[17, 300]])
    assert some.tied == 1
