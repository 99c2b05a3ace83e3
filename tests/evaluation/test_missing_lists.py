"""Sums over a population need a list for everybody in it: lists of the test users only are refused, not added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said
from tests.said import only
from unskew.core.errors import RefusedError
from unskew.core.notice import codes
from unskew.outcome import Given

USERS, ITEMS, K = 1500, 12, 3
SUMMED = ("direct", "dr", "sndr", "switch(tau=50)", "snips(over=list)")


def world(seed: int = 0) -> dict[str, Any]:
    """Pairs seen with P = 0.08: about 37 % of the users are silent; every list holds items 0, 1, 2; q is right."""
    rng = np.random.default_rng(seed)
    m = np.linspace(0.7, 0.1, ITEMS)
    user, item = np.nonzero(rng.random((USERS, ITEMS)) < 0.08)
    test = pl.DataFrame({"user": user, "item": item, "value": (rng.random(len(user)) < m[item]).astype(float)})
    everybody = pl.DataFrame({"user": np.repeat(np.arange(USERS), K), "item": np.tile(np.arange(K), USERS)})
    pairs = pl.DataFrame({"user": np.repeat(np.arange(USERS), ITEMS), "item": np.tile(np.arange(ITEMS), USERS)})
    return {
        "test": test.with_columns(propensity=pl.lit(0.08)),
        "lists": everybody.with_columns(rank=pl.col("item") + 1),
        "users": pl.DataFrame({"user": np.arange(USERS)}),
        "outcome": Given(pairs.with_columns(prediction=pl.Series(m[pairs["item"]]))),
        "truth": float(m[:K].sum()),
    }


def evaluate(made: dict[str, Any], lists: Any, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": [f"recall@{K}"], "target": "per_user_sum", "feedback": "conversions"}
    asked |= {"propensity": "known", "users": made["users"], "outcome": made["outcome"]}
    return us.evaluate(made["test"], {"m": lists}, **(asked | options))


@pytest.mark.parametrize("estimator", SUMMED)
def test_lists_of_test_users_only_are_refused(estimator: str) -> None:
    """The truth is 1.94; dr over such lists would be 1.2. The reason has the counts, and the ways out are accepted."""
    made = world()
    some = made["lists"].join(made["test"], on="user", how="semi")
    scored = made["test"]["user"].n_unique()
    with pytest.raises(RefusedError) as caught:
        evaluate(made, some, estimators=[estimator])
    message = str(caught.value)
    assert all(f"{n:,} " in message for n in (scored, USERS - scored, USERS)) and " ips" in message
    assert evaluate(made, made["lists"], estimators=[estimator]).estimates
    for way in evaluate(made, some, estimators=["naive", estimator], refused="skip").inputs["refused"][0]["instead"]:
        if not way["give"]:
            asked = {"metrics": [way["metric"]], "estimators": [way["estimator"]], "target": way["target"]}
            assert evaluate(made, some, **asked).estimates


def test_what_is_accepted_is_right() -> None:
    """Over five worlds: dr with everybody's lists, and ips with those of the test users, which loses nothing."""
    for seed in range(5):
        made = world(seed)
        some = made["lists"].join(made["test"], on="user", how="semi")
        (dr,) = evaluate(made, made["lists"], estimators=["dr"], level=0.999).estimates
        (ips,) = evaluate(made, some, estimators=["ips"], level=0.999).estimates
        (whole,) = evaluate(made, made["lists"], estimators=["ips"], level=0.999).estimates
        assert dr.low < made["truth"] < dr.high and dr.high - dr.low < 1.0
        assert ips.low < made["truth"] < ips.high
        assert (ips.value, ips.se) == (whole.value, whole.se)


def test_a_model_that_serves_nobody_new_is_no_gap() -> None:
    """A fitted model was asked about everybody: who gets nothing from it has an empty list."""
    made = world()
    served = set(made["test"]["user"].to_list())

    class Known:
        def recommend(self, users: us.log.Ids, k: int, *, seen: Any = None) -> us.Recommendations:
            rows = [(user, item, item + 1) for user in users if user in served for item in range(k)]
            return us.Recommendations.from_frame(pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"))

    result = evaluate(made, Known(), estimators=["dr"])
    assert len(said(result, "empty-lists")) == 1


def lists_of(made: dict[str, Any], *gone: int) -> pl.DataFrame:
    """Lists of all users but those whose number ends like this."""
    lists: pl.DataFrame = made["lists"]
    return lists.filter(~(pl.col("user") % 10).is_in(gone))


def unserved(made: dict[str, Any], last: int) -> int:
    """How many users with held-out rows have a number that ends like this."""
    return int(made["test"].filter(pl.col("user") % 10 == last)["user"].n_unique())


def beside(made: dict[str, Any], *models: pl.DataFrame, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": [f"recall@{K}"], "relevant": ">=1", "propensity": "uniform"} | options
    return us.evaluate(made["test"], dict(zip("abc", models, strict=False)), **asked)


def test_lists_that_all_models_lack_alike_are_said_once_with_the_remedy() -> None:
    made = world()
    result = beside(made, lists_of(made, 0), lists_of(made, 0), lists_of(made, 0))
    lacking = unserved(made, 0)
    (told,) = said(result, "users-unserved")
    assert told.startswith(f"{lacking:,} of ") and "users=…" in told and "invalid='drop'" in told
    assert not said(result, "lists-of-models")
    assert not any("missing-lists" in codes([v.trust]) for v in result.verdicts_), "it favours neither"
    made["other"] = lists_of(made, 0, 1)
    result, one = beside(made, lists_of(made, 0), made["other"]), unserved(made, 1)
    assert len(said(result, "users-unserved")) == 1 and f"b: {one:,} " in said(result, "lists-of-models")[0]
    naive = next(v.trust for v in result.verdicts_ if v.estimator == "naive")
    assert f"{one / made['test']['user'].n_unique():.0%}" in only("missing-lists", [naive], model="b")


def test_the_remedy_holds() -> None:
    """Values of the others alone, and nothing more is said."""
    made = world()
    some = lists_of(made, 0)
    result = beside(made, some, some, users=some.select("user").unique(), invalid="drop")
    alone = beside(made | {"test": made["test"].filter(pl.col("user") % 10 > 0)}, some, some)
    assert [e.value for e in result.estimates] == pytest.approx([e.value for e in alone.estimates])
    assert not said(result, "users-unserved") and not said(alone, "users-unserved")
