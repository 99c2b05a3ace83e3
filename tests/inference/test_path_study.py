"""A few worlds of the study of the exposure path; ``path_study`` runs all of it."""

from __future__ import annotations

import numpy as np
import pytest

from .path_study import LIFT, SHARES, Draw, limit, share, study
from .path_worlds import FOOLED, Size, World, profiles


@pytest.mark.parametrize("a", SHARES)
def test_the_path_rarely_names_a_winner_among_equal_models(a: float | None) -> None:
    """12 worlds of equal models of different tastes: at most 5 % + 3 Monte Carlo errors (2 worlds) are decided."""
    found = study([Draw("popular items against rare ones", Size(400, 60, 1.0, a), world, 0.0) for world in range(12)])
    assert share(found, lambda said: said.false) <= limit(12)
    assert not any(each.said.right or each.said.wrong for each in found)


def test_a_better_model_is_found_where_popularity_does_not_matter() -> None:
    """With one taste the path is flat: 1,000 users find the better model in most of eight worlds."""
    found = study([Draw("the same taste", Size(1_000, 60, 0.6), world, LIFT) for world in range(8)])
    assert share(found, lambda said: said.right) >= 0.7
    assert not any(each.said.wrong for each in found)


@pytest.mark.parametrize("kind", FOOLED)
def test_worlds_outside_the_path_fool_it(kind: str) -> None:
    """These are shown openly: with many users most of five worlds name the model that resembles the logger."""
    found = study([Draw(kind, Size(3_000, 60, 1.0), world, 0.0) for world in range(5)])
    assert share(found, lambda said: said.false) >= 0.6


def test_true_values_are_what_all_relevant_pairs_give() -> None:
    """V by the formula is the recall over relevant pairs, users weighted by their exposure, within its error."""
    rng = np.random.default_rng(3)
    world = World.draw(rng, Size(4_000, 60, 0.8, 0.5))
    made = world.model(rng, profiles(world.popularity)["popular"], favours=True)
    pairs = np.zeros_like(world.liked)
    pairs[made.lists["user"].to_numpy(), made.lists["item"].to_numpy()] = True
    weight = world.activity[:, None] * world.liked
    hits = (weight * pairs).sum(axis=1) - made.value * weight.sum(axis=1)
    assert abs(hits.sum()) <= 4.0 * np.sqrt(np.square(hits).sum())
