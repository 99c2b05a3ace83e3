"""Sums over a population need a list for everybody in it: lists of the test users only are refused, not added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.errors import RefusedError
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
    assert f"m has lists for {scored:,} of {scored:,} users with held-out interactions" in message
    assert f"0 of {USERS - scored:,} users without" in message and f"lists for all {USERS:,} users" in message
    assert "use ips" in message
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


def test_lists_that_are_missing_evenly_are_a_warning() -> None:
    """A model that cannot serve every tenth user recommends nothing to them: counted, and computed."""
    made = world()
    result = evaluate(made, made["lists"].filter(pl.col("user") % 10 > 0), estimators=["dr", "ips"])
    assert any(f"m: {USERS // 10:,} of {USERS:,} users have no list; for dr they count" in w for w in result.warnings)
    only = evaluate(made, made["lists"].filter(pl.col("user") % 10 > 0), estimators=["ips"])
    assert not any("have no list; for" in w for w in only.warnings)


def test_a_model_that_serves_nobody_new_is_no_gap() -> None:
    """A fitted model was asked about everybody: who gets nothing from it has an empty list."""
    made = world()
    served = set(made["test"]["user"].to_list())

    class Known:
        def recommend(self, users: us.log.Ids, k: int, *, seen: Any = None) -> us.Recommendations:
            rows = [(user, item, item + 1) for user in users if user in served for item in range(k)]
            return us.Recommendations.from_frame(pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"))

    result = evaluate(made, Known(), estimators=["dr"])
    assert any("users have no list; for dr" in warning for warning in result.warnings)


@pytest.mark.parametrize("target", ["pooled", "per_user"])
def test_averages_over_relevant_items_do_not_mind(target: str) -> None:
    """Only users with held-out items count there."""
    made = world()
    some = made["lists"].join(made["test"], on="user", how="semi")
    values = [
        evaluate(made, lists, target=target, estimators=["snips"]).estimates[0].value for lists in (some, made["lists"])
    ]
    assert values[0] == values[1]


def lists_of(made: dict[str, Any], *gone: int) -> pl.DataFrame:
    """Lists of all users but those whose number ends like this."""
    lists: pl.DataFrame = made["lists"]
    return lists.filter(~(pl.col("user") % 10).is_in(gone))


def beside(made: dict[str, Any], *models: pl.DataFrame, **options: Any) -> us.Result:
    asked: dict[str, Any] = {"metrics": [f"recall@{K}"], "relevant": ">=1", "propensity": "uniform"} | options
    return us.evaluate(made["test"], dict(zip("abc", models, strict=False)), **asked)


def test_lists_that_all_models_lack_alike_are_said_once_with_the_remedy() -> None:
    made = world()
    result = beside(made, lists_of(made, 0), lists_of(made, 0), lists_of(made, 0))
    lacking = made["test"].filter(pl.col("value") >= 0, pl.col("user") % 10 == 0)["user"].n_unique()
    said = [w for w in result.warnings if "score 0" in w]
    assert len(said) == 1 and said[0].startswith(f"{lacking:,} of ") and "from no model" in said[0]
    assert "users=…" in said[0] and "invalid='drop'" in said[0]
    assert not any("no list" in v.trust for v in result.verdicts_), "it favours neither"


def test_the_remedy_holds() -> None:
    """Values of the others alone, and nothing more is said."""
    made = world()
    some = lists_of(made, 0)
    result = beside(made, some, some, users=some.select("user").unique(), invalid="drop")
    alone = beside(made | {"test": made["test"].filter(pl.col("user") % 10 > 0)}, some, some)
    assert [e.value for e in result.estimates] == pytest.approx([e.value for e in alone.estimates])
    assert not any("score 0" in w for w in (*result.warnings, *alone.warnings))


def test_what_one_model_lacks_besides_is_said_of_it() -> None:
    made = world()
    result = beside(made, lists_of(made, 0), lists_of(made, 0, 1))
    both, one = (made["test"].filter(pl.col("user") % 10 == n)["user"].n_unique() for n in (0, 1))
    said = [w for w in result.warnings if "score 0" in w]
    assert len(said) == 2 and said[0].startswith(f"{both:,} of ")
    assert said[1] == f"b: {one:,} more users with held-out interactions have no list and score 0."
    share = one / made["test"]["user"].n_unique()
    naive = next(v.trust for v in result.verdicts_ if v.estimator == "naive")
    assert f"b has no list for {share:.0%} of users" in naive and "a has no list" not in naive


def test_users_without_a_training_row_are_named_as_the_likely_ones() -> None:
    made = world()
    train = made["lists"].filter(pl.col("user") % 10 > 0, pl.col("rank") == 1).with_columns(item=pl.lit(99))
    some, log = lists_of(made, 0), made["test"].filter(pl.col("value") == 1.0).select("user", "item")
    lists = {"a": some, "b": some}
    result = us.evaluate(log, lists, train=train.select("user", "item"), metrics=[f"recall@{K}"], estimators=["naive"])
    assert any("as many as have no training row, have a list from no model" in w for w in result.warnings)
