"""``fit`` does one thing everywhere: it fits in place and gives back the part. What others are given is not fitted."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import unskew as us
from unskew import models, outcome, propensity
from unskew.simulate import World, relevant_for

WORLD = World(users=200, items=40, seed=1, relevant=relevant_for(40))
FRAME = WORLD.train.to_frame()
SEEN = us.Log.from_frame(FRAME.with_columns(value=(FRAME["item"].hash() % 2).cast(float)), feedback="conversions")

PARTS = [
    propensity.make("popularity(gamma=1)"),
    propensity.make("logistic(features=none, offsets=item)"),
    propensity.make("logistic_mf(dim=1, epochs=2)"),
    propensity.make("calibrated(popularity(gamma=1), method=platt)"),
    outcome.make("means"),
    outcome.make("logistic_mf(dim=1, epochs=2)"),
    outcome.make("crossfit(means, folds=2)"),
    models.make("most_popular"),
    models.make("item_knn"),
]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_fit_is_in_place_and_gives_back_the_part(part: Any) -> None:
    """A copy is fitted on its own; all but the log goes by name."""
    other = part.copy()
    assert part.fit(SEEN) is part
    assert getattr(part, "fitted", True) and not getattr(other, "fitted", False)
    first, *rest = inspect.signature(part.fit).parameters.values()
    assert first.name == "log" and all(p.kind is p.KEYWORD_ONLY for p in rest)


def test_what_an_evaluation_is_given_is_not_fitted_by_it() -> None:
    """Neither propensities nor outcome models change, whatever is fitted inside: folds, replicates, checks."""
    train, test = us.split.holdout(SEEN, 0.5)
    lists = {"a": models.make("most_popular").fit(train), "b": models.make("random").fit(train)}
    p, q = propensity.make("popularity(gamma=1, level=absolute)"), outcome.make("crossfit(means, folds=2)")
    wrapped = propensity.make("calibrated(popularity(gamma=1), method=platt)")
    options: dict[str, Any] = {"train": train, "target": "per_user_sum", "metrics": ["dcg@5"]}
    us.evaluate(test, lists, propensity=p, outcome=q, estimators=["dr"], **options)
    us.evaluate(
        test, lists, propensity=p, refit=True, interval="bootstrap", replicates=50, estimators=["snips"], **options
    )
    us.propensity.check([p, wrapped], train, folds=2)
    us.models.MF(1, propensity=p).fit(train)
    assert not any(getattr(part, "fitted", False) for part in (p, q, wrapped, getattr(wrapped, "inner", None)))


@pytest.mark.parametrize("room", ["metrics", "estimators", "propensity", "outcome", "models", "split"])
def test_dir_lists_the_parts_and_nothing_else(room: str) -> None:
    """Completion shows what can be chosen; helpers and base classes are there, but not in the way."""
    found = dir(getattr(us, room))
    family = getattr(us, room).FAMILY
    assert found and all(issubclass(getattr(getattr(us, room), name), family.base) for name in found)
    assert {family.class_of(name).__name__ for name in family.built_in} == set(found)
