"""A second engine, of pickled partitions in other processes, gives the same results as the engine in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.engine.partitions import PartitionEngine, processes
from unskew.engine.engine import Engine
from unskew.evaluation import run
from unskew.kernels.arrays import Floats, Ints32
from unskew.log import Ids
from unskew.outcome import Outcome

USERS, ITEMS = 150, 20


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with processes() as made:
        yield made


@dataclass(frozen=True)
class Wave:
    """Predictions that depend on the pair, in a form that can be sent to other processes."""

    def __call__(self, user: Ints32, item: Ints32) -> Floats:
        return np.asarray(0.6 + 0.5 * np.sin(user + 2.0 * item))


@dataclass(frozen=True)
class Given(Outcome):
    """An outcome model that is known beforehand; some of its predictions lie outside the outcomes."""

    name = "wave"
    estimated = False

    def bind(self, users: Ids, items: Ids) -> Wave:
        return Wave()


def world() -> dict[str, Any]:
    """Values 0/1 and ratings of the same seen pairs, lists and predictions of three models."""
    rng = np.random.default_rng(7)
    truth = np.clip(np.round(2.7 + rng.normal(0, 0.8, (USERS, 1)) + rng.normal(0, 0.9, (USERS, ITEMS))), 1, 5)
    chance = np.clip(0.05 + 0.13 * truth, 0.0, 1.0)
    user, item = np.nonzero(rng.random((USERS, ITEMS)) < chance)
    rows = {"user": user, "item": item, "propensity": chance[user, item]}
    every = [index.ravel() for index in np.indices((USERS, ITEMS))]
    lists, predictions = {}, {}
    for name, spread in (("near", 0.4), ("far", 2.0), ("flat", 9.0)):
        guess = truth + rng.normal(0, spread, truth.shape)
        rank = (-guess).argsort(axis=1).argsort(axis=1).ravel() + 1
        frame = pl.DataFrame({"user": every[0], "item": every[1], "rank": rank})
        lists[name] = frame.filter(pl.col("rank") <= 6)
        predictions[name] = pl.DataFrame({"user": every[0], "item": every[1], "prediction": guess.ravel()})
    table = pl.DataFrame(rows)
    return {
        "clicks": table.filter(pl.Series(truth[user, item] >= 4)),
        "conversions": table.with_columns(value=(truth[user, item] >= 4).astype(float)),
        "ratings": table.with_columns(value=truth[user, item]),
        "lists": lists,
        "predictions": predictions,
        "train": pl.DataFrame({"user": every[0], "item": every[1]}).sample(900, seed=2),
        "users": pl.DataFrame(
            {"user": np.arange(USERS), "relevant": (truth >= 4).sum(axis=1), "age": np.arange(USERS) % 2}
        ),
    }


CALLS: dict[str, dict[str, Any]] = {
    "clicks": {
        "test": "clicks",
        "models": "lists",
        "metrics": ["recall@5", "ndcg@5", "map(divide=min)@5", "mrr"],
        "estimators": ["naive", "ips", "snips", "gs(strata=3)", "clipped(snips, quantile=0.1)"],
        "target": ["per_user", "pooled"],
        "users": "users",
        "by": "age",
        "refused": "skip",
    },
    "bootstrap": {"test": "clicks", "models": "lists", "interval": "bootstrap", "replicates": 50, "seed": 3},
    "samples": {
        "test": "clicks",
        "models": "lists",
        "metrics": ["recall@5", "ndcg@5"],
        "target": ["per_user", "pooled"],
        "train": "train",
        "candidates": "all",
        "users": "users",
        "by": "age",
        "sample": "wtd_h",
        "repeats": 3,
        "refused": "skip",
    },
    "refit": {
        "test": "clicks",
        "models": "lists",
        "train": "train",
        "candidates": "all",
        "propensity": "popularity(gamma=1)",
        "interval": "bootstrap",
        "replicates": 50,
        "refit": True,
    },
    "conversions": {
        "test": "conversions",
        "models": "lists",
        "metrics": ["dcg@5", "precision@5"],
        "estimators": ["naive", "ips", "snips", "snips(over=list)", "direct", "dr", "sndr", "switch(tau=3)"],
        "target": ["per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)"],
        "feedback": "conversions",
        "outcome": Given(),
        "refused": "skip",
    },
    "ratings": {
        "test": "ratings",
        "models": "predictions",
        "metrics": ["mae", "rmse"],
        "estimators": ["naive", "ips", "snips", "snips(over=user)", "snips(over=item)"],
        "feedback": "ratings",
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_partitions_in_other_processes_give_the_same_result(name: str, pool: ProcessPoolExecutor) -> None:
    """Estimates, intervals, verdicts, tipping points, weights and warnings; values to 1e-12."""
    given = world()
    call = dict(CALLS[name])
    call |= {key: given[call[key]] for key in ("test", "models", "train", "users") if key in call}
    test, models = call.pop("test"), call.pop("models")
    expected = us.evaluate(test, models, **call)
    made: list[Engine] = []

    def dealt(held: Any, threads: int | None = None, progress: Any = None) -> Engine:
        made.append(PartitionEngine.of(held, 3, pool, seed=len(made)))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "MemoryEngine", dealt)
        found = us.evaluate(test, models, **call)
    assert made
    assert found.warnings == expected.warnings
    for one, two in zip(_rows(found), _rows(expected), strict=True):
        assert one.keys() == two.keys()
        for key in one:
            same(one[key], two[key], 1e-12 if key in ("value", "difference") else 1e-9, (name, key, two))


def _rows(result: Any) -> list[dict[str, Any]]:
    return [vars(row) for row in (*result.estimates, *result.verdicts_, *result.weights)]


def same(one: Any, two: Any, to: float, where: Any) -> None:
    if isinstance(two, float):
        assert math.isclose(one, two, rel_tol=to, abs_tol=1e-12) or (math.isnan(one) and math.isnan(two)), where
    else:
        assert one == two, where
