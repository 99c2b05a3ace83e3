"""Fourteen recommenders of which nine are learnt, and two that learn what was looked at instead of what was liked.

    liked share (c)    (y_i + c·ȳ) / (n_i + c)         y_i of n_i ratings are 4 or 5, ȳ their share over all coats

The others are unskew's own models with the options in their names. All rank every coat that the person did not rate in
training.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from unskew import models
from unskew.log import Feedback, Log, Recommendations
from unskew_papers.coat_truth.recipes import LIKED
from unskew_papers.coat_truth.simple import COMMON, ListMaker, liked_share

BY_LIKES = (
    "item_knn(neighbours=5)",
    "item_knn(neighbours=20)",
    "item_knn(neighbours=50)",
    "item_knn(neighbours=100)",
    "factors(dim=5)",
    "factors(dim=30)",
    "factors(dim=10, loss=bpr)",
)
BY_RATINGS = ("mf(dim=5)", "mf(dim=20)")
SHRUNK = (5.0, 50.0)
IMITATING = ("item_knn(neighbours=20)", "factors(dim=10)")


def _fitted(text: str, rows: Log, train: Log) -> Recommendations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rounds were spent: these are simple models, whatever they have learnt
        return models.make(text).fit(rows).recommend(train.users, len(train.items), seen=train)


def _by_likes(text: str) -> ListMaker:
    return lambda train: _fitted(text, train.positives(LIKED), train)


def _by_ratings(text: str) -> ListMaker:
    return lambda train: _fitted(text, train, train)


def _imitator(text: str) -> ListMaker:
    """Learns from all that was rated, liked or not: it resembles how people chose."""
    return lambda train: _fitted(text, replace(train, value=None, feedback=Feedback.IMPLICIT), train)


MODELS: dict[str, ListMaker] = {
    **COMMON,
    **{f"liked share ({c:g})": liked_share(c) for c in SHRUNK},
    **{text: _by_likes(text) for text in BY_LIKES},
    **{text: _by_ratings(text) for text in BY_RATINGS},
}
IMITATORS: dict[str, ListMaker] = {f"{text} of what was rated": _imitator(text) for text in IMITATING}
