"""Estimates by logistic propensities, against the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit

import unskew as us
from tests.propensity.worlds import LogisticWorld, log_of
from unskew.errors import RefusedError
from unskew.log import Log


def skewed(seed: int) -> dict[str, Any]:
    """Covariates decide what is seen and what is liked; the lists hold what was shown much."""
    rng = np.random.default_rng(seed)
    users, items = 4000, 60
    world = LogisticWorld.draw(users, items, seed, level=-1.5, effect=2.0)
    liked = rng.random(world.p.shape) < expit(-1.5 + 0.7 * logit(world.p))
    train, test = us.split.holdout(log_of(world.seen, liked * 1.0), 0.4, seed=seed)
    top = np.argsort(-world.p, axis=1)[:, :10]
    lists = pl.DataFrame({"user": np.repeat(np.arange(users), 10), "item": top.ravel()})
    lists = lists.with_columns(rank=pl.Series(np.tile(np.arange(1, 11), users)))
    hits = np.take_along_axis(liked, top, axis=1)
    truth = {"pooled": hits.sum() / liked.sum(), "per_user_sum": (hits / np.log2(np.arange(2, 12))).sum(axis=1).mean()}
    features = {"user_features": world.side.user_features, "item_features": world.side.item_features}
    return {"test": test, "train": train, "lists": lists, "truth": truth, "features": features}


@pytest.mark.parametrize("text", ["logistic(c=10)", "calibrated(logistic(c=10), method=platt)"])
def test_it_at_least_halves_the_error_of_naive_where_it_holds(text: str) -> None:
    """In a logistic world, snips and ips come closer to the truth than naive by a factor of two or more."""
    errors: dict[str, list[float]] = {"naive": [], "snips": [], "naive sum": [], "ips": []}
    for seed in range(4):
        world = skewed(seed)
        result = us.evaluate(
            world["test"],
            {"m": world["lists"]},
            metrics=["recall@10", "dcg@10"],
            estimators=["naive", "snips", "ips"],
            propensity=text,
            target=["pooled", "per_user_sum"],
            train=world["train"],
            candidates="all",
            refused="skip",
            **world["features"],
        )
        found = {(e.estimator, e.metric, e.target): e.value for e in result.estimates}
        truth = world["truth"]
        errors["naive"].append(found["naive", "recall@10", "pooled"] / truth["pooled"] - 1.0)
        errors["snips"].append(found["snips", "recall@10", "pooled"] / truth["pooled"] - 1.0)
        errors["naive sum"].append(found["naive", "dcg@10", "per_user_sum"] / truth["per_user_sum"] - 1.0)
        errors["ips"].append(found["ips", "dcg@10", "per_user_sum"] / truth["per_user_sum"] - 1.0)
    size = {name: float(np.abs(error).mean()) for name, error in errors.items()}
    assert size["snips"] < 0.5 * size["naive"] and size["ips"] < 0.5 * size["naive sum"]
    assert abs(np.mean(errors["ips"])) < 0.1


def test_ips_needs_the_share_of_the_test_log_and_all_seen_pairs() -> None:
    """A known share allows ips, an unknown one is refused with a hint at --share, and implicit logs are refused."""
    world = skewed(2)
    options: dict[str, Any] = {
        "metrics": ["dcg@10"],
        "propensity": "logistic",
        "target": "per_user_sum",
        "candidates": "all",
        **world["features"],
    }
    lists = {"m": world["lists"]}
    known = us.evaluate(world["test"], lists, train=world["train"], estimators=["ips"], **options)
    lost = replace(world["test"], share=None)
    with pytest.raises(RefusedError):
        us.evaluate(lost, lists, train=world["train"], estimators=["ips"], **options)
    both = us.evaluate(lost, lists, train=world["train"], estimators=["naive", "ips"], refused="skip", **options)
    assert any("share=" in warning for warning in both.warnings)
    told = us.evaluate(lost, lists, train=world["train"], estimators=["ips"], share=0.4, **options)
    assert told.estimates[0].value == pytest.approx(known.estimates[0].value, rel=1e-12)
    clicks = [Log.from_frame(log.to_frame().select("user", "item")) for log in (world["train"], world["test"])]
    with pytest.raises(RefusedError, match="probability of a click"):
        us.evaluate(clicks[1], lists, train=clicks[0], estimators=["ips"], share=0.4, **options)
