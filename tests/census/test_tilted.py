"""``tilted``: identities, what it refuses, and where it is the default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.census.reference import World
from tests.census.worlds import evaluated, inputs, small_world
from tests.said import only, refuses
from unskew.core.errors import RefusedError
from unskew.evaluation import fit_census

CORNER = "tilted(odds=2, slope=0.2, at=corner)"


@pytest.fixture(scope="module")
def world() -> World:
    return small_world(1)


def test_higher_odds_and_slopes_move_q_as_they_should(world: World) -> None:
    """A sum per user falls as δ grows; with δ beyond all bounds only what was seen is left: naive."""

    def value(estimator: str) -> float:
        return evaluated(world, estimators=[estimator], target="per_user_sum", metrics=["cg@5"]).estimates[0].value

    found = [value(f"tilted(odds={odds}, slope=0, at=corner)") for odds in (1, 2, 4, 1_000_000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(value("naive"), abs=1e-4)


def test_a_list_of_everything_is_worth_everything(world: World) -> None:
    """recall@all = 1, without error, whatever the tilt: numerator and divisor are the same sum."""
    every = pl.DataFrame(
        {"user": np.repeat(np.arange(world.users), world.items), "item": np.tile(np.arange(world.items), world.users)}
    )
    gone = pl.DataFrame(list(world.train), schema=["user", "item"], orient="row")
    lists = every.join(gone, on=["user", "item"], how="anti").with_columns(rank=pl.col("item") + 1)
    found = evaluated(world, models={"all": lists}, metrics=["recall@20"], estimators=[CORNER], target="pooled")
    assert found.estimates[0].value == pytest.approx(1.0, rel=1e-12)
    assert found.estimates[0].se == pytest.approx(0.0, abs=1e-9)


def test_a_sample_of_candidates_comes_near_and_says_so(world: World) -> None:
    """Every third candidate of each user: other numbers within a few errors, larger errors, and a note."""
    exact = evaluated(world, estimators=[CORNER], target="pooled")
    fit = fit_census.fit_census
    with pytest.MonkeyPatch.context() as patch:
        most = world.users * world.items // 3
        patch.setattr(fit_census, "fit_census", lambda *given: fit(*given, most_pairs=most))
        rough = evaluated(world, estimators=[CORNER], target="pooled")
    assert rough.inputs["census"]["looked_at_every"] == 3
    only("census-sampled", rough.warnings)
    for one, two in zip(rough.estimates, exact.estimates, strict=True):
        assert one.value != two.value
        assert abs(one.value - two.value) < 4.0 * math.sqrt(max(one.se**2 - two.se**2, two.se**2))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no training": ({"train": None}, "no-training-log"),
    "all candidates": ({"candidates": "all"}, "seen-candidates"),
    "positives": ({"feedback": "implicit"}, "no-zeros"),
    "ratings": ({"feedback": "ratings", "target": "per_user_sum"}, "no-threshold"),
    "graded": ({"graded": True}, "graded-values"),
    "no zeros": ({"zeros": False}, "no-zeros"),
    "some lists": ({"users": pl.DataFrame({"user": range(90)})}, "missing-lists"),
    "ndcg": ({"metrics": ["ndcg@5"]}, "wrong-target"),
    "per user": ({"target": "per_user"}, "wrong-target"),
    "few rows": ({"rows": 60}, "too-few-rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_cannot_do_is_refused_with_the_remedy(world: World, name: str) -> None:
    """Each reason by itself."""
    changes, code = REFUSED[name]
    given = inputs(world) | {"target": "pooled", "estimators": ["tilted"]} | changes
    if given.pop("graded", False):
        given["test"] = given["test"].with_columns(value=pl.col("value") * (1 + pl.col("item") % 3))
    if not given.pop("zeros", True):
        given["test"] = given["test"].filter(pl.col("value") > 0)
    if n := given.pop("rows", 0):
        given["test"] = given["test"].sample(n, seed=0)
    with refuses(code, RefusedError):
        us.evaluate(given.pop("test"), given.pop("models"), **given)


def cells(result: us.Result) -> list[tuple[str, str, str]]:
    return list(dict.fromkeys((e.metric, e.estimator, str(e.target)) for e in result.estimates))


def test_it_is_the_default_beside_the_path_for_logs_with_zeros(world: World) -> None:
    """Conversions without propensities are averaged over relevant pairs; precision stays a sum per user."""
    found = evaluated(world, metrics=["recall@5", "precision@5"])
    assert cells(found) == [
        ("recall@5", "naive", "pooled"),
        ("recall@5", "exposure_path", "pooled"),
        ("recall@5", "tilted(odds=4, slope=0.4)", "pooled"),
        ("precision@5", "naive", "per_user_sum"),
        ("precision@5", "tilted(odds=4, slope=0.4)", "per_user_sum"),
    ]
    assert found.inputs["settings"]["estimators"] == ["naive", "exposure_path", "tilted(odds=4, slope=0.4)"]
    assert found.inputs["census"]["model"] == "census(rank=10)"
    given = evaluated(world, outcome="census(rank=2)")
    assert given.inputs["census"]["model"] == "census(rank=2)"
