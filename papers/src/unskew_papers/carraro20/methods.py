"""What samples and weights say of five recommenders in a world of clicks, from the same held-out log.

    naive                            on the whole held-out log: what the paper calls FULL
    reg, skew, wtd, wtd_h            naive on a sample of it
    snips, known                     weights 1/P with the propensities by which the clicks were drawn
    snips, gs, popularity            weights by training counts: all of popularity is taken for exposure (γ = 1)
    exposure path                    every share of popularity that exposure may explain

All under the target pooled, recall@10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew import Result, estimators, models
from unskew.evaluation import evaluate
from unskew.log import Log, Recommendations
from unskew.sampling import sample
from unskew_papers.carraro20.click_worlds import ClickWorld, Size

METRIC, LENGTH, TARGET, HALF = "recall@10", 10, "pooled", 0.5
RECOMMENDERS = ("random", "most_popular", "item_knn(neighbours=50)", "user_knn(neighbours=50)", "wmf(dim=20)")
NAIVE, SAMPLES = "naive", ("reg", "skew", "wtd", "wtd_h")
KNOWN, POPULARITY, GS, PATH = "snips, known", "snips, popularity", "gs, popularity", "exposure path"
METHODS = (NAIVE, *SAMPLES, KNOWN, POPULARITY, GS, PATH)
SHARES = (0.1, 0.25, 0.5, 0.75)  # of the held-out rows that are drawn
WORDS = {"ahead": 1.0, "better": 1.0, "behind": -1.0, "worse": -1.0}


def one_world(size: Size, seed: int) -> dict[str, Any]:
    """What every method says, and the truth.

    truth[model]; value, low, high[method, model]; word[method, pair]: 1 where the first of a pair is named as the
    better one, −1 where the second is, 0 where neither is; depends[method, pair], where that is what is said.
    """
    world = ClickWorld.draw(size, seed)
    train, test, lists = _without(world.train), _without(world.test), recommend(world.train)
    counted = ask(test, lists, train, ["snips", "gs"], propensity="popularity(gamma=1)")
    found = [
        said(ask(test, lists, train, ["naive"]), "naive"),
        *_of_samples(world, test, lists, train, seed, HALF),
        said(ask(world.test, lists, world.train, ["snips"], propensity="known"), "snips"),
        said(counted, "snips"),
        said(counted, "gs"),
        said(ask(test, lists, train, ["exposure_path"]), "exposure_path"),
    ]
    return {"truth": world.truth(lists), **_stacked(found)}


def one_world_of_shares(size: Size, seed: int) -> dict[str, Any]:
    """The same of samples of several sizes: value, …[share, strategy, …]."""
    world = ClickWorld.draw(size, seed)
    train, test, lists = _without(world.train), _without(world.test), recommend(world.train)
    each = [_stacked(_of_samples(world, test, lists, train, seed, share)) for share in SHARES]
    return {"truth": world.truth(lists), **_stacked(each)}


def recommend(train: Log) -> dict[str, Recommendations]:
    """The lists of the five."""
    return {name: models.make(name).fit(train).recommend(train.users, LENGTH, seen=train) for name in RECOMMENDERS}


def ask(test: Log, lists: Mapping[str, Recommendations], train: Log, asked: list[str], **options: Any) -> Result:
    """One call."""
    return evaluate(test, lists, metrics=[METRIC], estimators=asked, target=TARGET, train=train, threads=1, **options)


def said(result: Result, name: str) -> dict[str, Any]:
    """Values with their intervals, and verdicts, of one estimator."""
    estimator = str(estimators.make(name))
    values = [e for e in result.estimates if e.estimator == estimator]
    verdicts = [v.verdict for v in result.verdicts_ if v.estimator == estimator]
    return {what: [getattr(e, what) for e in values] for what in ("value", "low", "high")} | {
        "word": [WORDS.get(verdict, 0.0) for verdict in verdicts],
        "depends": [float(verdict == "depends") for verdict in verdicts],
    }


def _of_samples(
    world: ClickWorld, test: Log, lists: Mapping[str, Recommendations], train: Log, seed: int, share: float
) -> list[dict[str, Any]]:
    drawn = (sample(test, name, train=train, mcar=world.random, size=share, seed=seed) for name in SAMPLES)
    return [said(ask(rows, lists, train, ["naive"]), "naive") for rows in drawn]


def _without(log: Log) -> Log:
    return replace(log, propensity=None)


def _stacked(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: np.array([each[name] for each in found]) for name in found[0]}
