"""``estimate``: the estimates of ``evaluate`` without verdicts, and how the models' values vary together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unskew import evaluate, models
from unskew.evaluation import estimate
from unskew.simulate import World

WORLD = World(users=300, items=80, relevant=20, impressions=80, seed=3)
MODELS = {"popular": models.MostPopular().fit(WORLD.train), "knn": models.ItemKNN().fit(WORLD.train)}
CALL: dict[str, Any] = {"metrics": ["recall@5", "dcg@10"], "train": WORLD.train, "threads": 1}


def test_estimates_are_those_of_an_evaluation() -> None:
    """Value, standard error and interval of every cell; cells come in the order of the rows."""
    found, result = estimate(WORLD.test, MODELS, **CALL), evaluate(WORLD.test, MODELS, **CALL)
    told = [(e.metric, e.estimator, e.model, e.value, e.se, e.low, e.high) for e in found.rows]
    assert told == [(e.metric, e.estimator, e.model, e.value, e.se, e.low, e.high) for e in result.estimates]
    assert np.concatenate(found.values) == pytest.approx([e.value for e in found.rows])


def test_covariances_give_the_standard_errors() -> None:
    """√ of the diagonal."""
    found = estimate(WORLD.test, MODELS, **CALL)
    errors = np.concatenate([np.sqrt(np.diag(each)) for each in found.covariances])
    assert errors == pytest.approx([e.se for e in found.rows])


def test_refused_cells_are_named() -> None:
    """What the log cannot support stands beside the estimates."""
    asked: dict[str, Any] = {
        **CALL,
        "estimators": ["naive", "ips"],
        "propensity": "popularity(gamma=1)",
        "refused": "skip",
    }
    found = estimate(WORLD.test, MODELS, **asked)
    assert {refusal.estimator for refusal in found.refused} == {"ips"} and len(found.values) == 2
