"""Worlds in which people see more of what they like: unseen pairs are less relevant by some odds, popular ones less so.

    logit P(seen) = activity + popularity + personal · taste + (log odds − slope z) · liked      z the item's popularity

so that this point of the box is right, up to the tastes of users that the census model does not know: some models learn
them, and where ``personal`` is not 0 people see what suits their taste. Seven models, 21 pairs, judged by expected
relevance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.worlds import listed, pairs_of

USERS, ITEMS, K = 500, 80, 8
Floats = npt.NDArray[np.float64]


def sigmoid(eta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-eta)))


def taste_world(seed: int, odds: float, slope: float, personal: float) -> tuple[dict[str, Any], dict[str, float]]:
    """The arguments of ``evaluate``, and the true value of every model."""
    rng = np.random.default_rng([7, seed])
    activity, popularity = rng.normal(0, 0.6, (USERS, 1)), rng.normal(0, 1, ITEMS)
    quality = rng.normal(0, 0.7, ITEMS) + 0.3 * popularity
    taste = rng.normal(0, 1, (USERS, 4)) @ rng.normal(0, 0.35, (ITEMS, 4)).T
    relevance = sigmoid(-1.0 + rng.normal(0, 0.6, (USERS, 1)) + quality + taste)
    liked = rng.random((USERS, ITEMS)) < relevance
    z = (popularity - popularity.mean()) / popularity.std()
    ratio = np.maximum(np.log(odds) - slope * z, 0.0)
    base = -2.4 + activity + popularity + 0.3 * quality + personal * taste
    shown = [sigmoid(base + ratio * (y - 0.3)) for y in (0.0, 1.0)]
    seen = rng.random((USERS, ITEMS)) < np.where(liked, shown[1], shown[0])
    held = rng.random((USERS, ITEMS)) < 0.4
    train, test = seen & ~held, seen & held
    left = [chance * (1.0 - 0.6 * each) for chance, each in ((1.0 - relevance, shown[0]), (relevance, shown[1]))]
    p = np.where(train, 0.0, left[1] / (left[0] + left[1]))  # of what is not in training
    models, truth = {}, {}
    for name, score in scores(rng, train, liked, quality + 0.3 * taste).items():
        free = np.where(train, -np.inf, score + 1e-9 * rng.random(score.shape))
        top = np.argsort(-free, axis=1)[:, :K]
        truth[name] = float(np.take_along_axis(p, top, axis=1).sum() / p.sum())
        models[name] = listed(top)
    logs = {part: pairs_of(mask, value=liked) for part, mask in (("test", test), ("train", train))}
    return logs | {"models": models, "metrics": [f"recall@{K}"]}, truth


def scores(rng: np.random.Generator, train: Any, liked: Any, known: Floats) -> dict[str, Floats]:
    """Simple recommenders, and one that knows a part of the truth."""
    hits, one = (train & liked).astype(float), np.ones((USERS, 1))
    left, size, right = np.linalg.svd(hits - hits.mean(axis=0), full_matrices=False)
    popular, mean = one * hits.sum(axis=0), one * ((hits.sum(axis=0) + 2.0) / (train.sum(axis=0) + 8.0))
    return {
        "random": rng.random((USERS, ITEMS)), "popular": popular, "mean": mean,
        "few": (left[:, :5] * size[:5]) @ right[:5] + hits.mean(axis=0),
        "many": (left[:, :20] * size[:20]) @ right[:20] + hits.mean(axis=0),
        "mix": mean / mean.std() + 0.5 * popular / popular.std(), "knowing": known + rng.normal(0, 1, (USERS, ITEMS)),
    }  # fmt: skip
