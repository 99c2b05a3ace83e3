"""Fourteen recommenders of which nine are learnt, and two that learn what was looked at instead of what was liked.

    liked share (c)    (y_i + c·ȳ) / (n_i + c)         y_i of n_i ratings are 4 or 5, ȳ their share over all coats

The others are unskew's own models with the options in their names. All rank every coat that the person did not rate in
training.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from unskew import models
from unskew.log import Feedback, Log
from unskew.log.recommendations import Recommendations
from unskew.studies.coat_truth.recipes import LIKED
from unskew.studies.coat_truth.simple import alike

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
IMITATORS = {f"{text} of what was rated": text for text in ("item_knn(neighbours=20)", "factors(dim=10)")}


def recommend(train: Log) -> dict[str, Recommendations]:
    """The lists of the fourteen."""
    assert train.value is not None
    liked, items = train.positives(LIKED), len(train.items)
    seen = np.bincount(train.item, minlength=items).astype(np.float64)
    likes = np.bincount(liked.item, minlength=items).astype(np.float64)
    mean = len(liked) / len(train)
    made = {
        "random": models.make("random").fit(liked).recommend(train.users, items, seen=train),
        "most liked": alike(likes, train),
        "most rated": alike(seen, train),
    }
    made |= {f"liked share ({c:g})": alike((likes + c * mean) / (seen + c), train) for c in SHRUNK}
    made |= {text: _fitted(text, liked, train) for text in BY_LIKES}
    return made | {text: _fitted(text, train, train) for text in BY_RATINGS}


def imitate(train: Log) -> dict[str, Recommendations]:
    """Models that learn from all that was rated, liked or not: they resemble how people chose."""
    looked_at = replace(train, value=None, feedback=Feedback.IMPLICIT)
    return {name: _fitted(text, looked_at, train) for name, text in IMITATORS.items()}


def _fitted(text: str, rows: Log, train: Log) -> Recommendations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rounds were spent: these are simple models, whatever they have learnt
        return models.make(text).fit(rows).recommend(train.users, len(train.items), seen=train)
