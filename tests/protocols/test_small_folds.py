"""Ratios between groups whose folds have few users: alike groups must not be told apart.

Groups judge two equally good models over folds; each user has a taste of his or her own, and clicks once or more in a
fold. With errors ∇R · x inside folds, groups would differ in 21 % of worlds with twenty folds of two users, and in 48 %
where sixty small folds lean.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from tests.cross_validation.returning_users import World, fold, lean
from unskew import estimators
from unskew.cross_validation.averaging import Average
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.user_errors import joined, user_errors
from unskew.protocols.family import Family

KEY = Key("recall@10", "naive", "pooled")
OTHERS = 1_000_000  # added to the codes of the second group's users: they are other people


def sized(rng: np.random.Generator, *sizes: int) -> World:
    """Folds of so many users, all of them different people."""
    ends = np.cumsum((0, *sizes))
    users = int(ends[-1])
    taste = rng.beta(0.6, 1.2, (2, users))
    clicks, hits = np.zeros((len(sizes), users)), np.zeros((len(sizes), 2, users))
    for f, (low, high) in enumerate(pairwise(ends.tolist())):
        count = 1 + rng.poisson(1.0, high - low)
        clicks[f, low:high] = count
        hits[f, :, low:high] = rng.binomial(count, taste[:, low:high])
    return World(clicks, hits)


def family(*worlds: World) -> Family:
    """All ratios between groups, and between models in each."""
    parts = []
    for n, world in enumerate(worlds):
        sums = [fold(f, clicks, hits) for f, (clicks, hits) in enumerate(zip(world.clicks, world.hits, strict=True))]
        hashes = np.arange(world.clicks.shape[1], dtype=np.uint64)
        folds = Folds(sums, ("a", "b"), (estimators.make("naive"),), hashes, 0.95)
        users, errors = user_errors(folds, KEY, Average.MACRO)
        parts.append((users + n * OTHERS, errors))
    return Family(len(worlds), 2, joined(parts), 0.95)


def wrong(families: list[Family]) -> float:
    """The share of worlds in which anything differs."""
    return sum(any(ratio.sign for ratio in one.ratios.values()) for one in families) / len(families)


@pytest.mark.parametrize("sizes", [(2,) * 20, (40, 20, 5, 5, 5)])
def test_alike_groups_are_rarely_told_apart(sizes: tuple[int, ...]) -> None:
    """100 worlds; at a level of 95 % more than 12 have a probability below 2 per mille."""
    rng = np.random.default_rng(5)
    found = [family(sized(rng, *sizes), sized(rng, *sizes)) for _ in range(100)]
    assert wrong(found) <= 0.12
    assert all(math.isfinite(ratio.low) for ratio in found[0].ratios.values())


@pytest.mark.parametrize("sizes", [(60, 2), (60, 30, 1), (60, 30, 3, 2, 2, 2)])
def test_averages_that_rest_on_the_users_of_tiny_folds_have_no_ratios(sizes: tuple[int, ...]) -> None:
    """Two users who agree by chance would be an error of 0: 24 % of worlds had a false difference for (60, 2)."""
    rng = np.random.default_rng(6)
    for about, ratio in family(sized(rng, *sizes), sized(rng, 80, 80)).ratios.items():
        assert math.isnan(ratio.low) == (about.group == 0 or about.other == 0)


def test_small_folds_that_lean_do_not_differ_from_a_large_one() -> None:
    """Both models are worth a fifth by either; sixty small folds lean towards the one that hits light clicks."""
    groups = [(lean(seed, users=100, folds=60), lean(10_000 + seed, users=1_500, folds=2)) for seed in range(40)]
    assert wrong([family(small, large) for small, large in groups]) <= 0.15
