"""Users with and without lists, silent users, the population."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS, TEST, evaluate, numbers, said, value
from unskew.core.errors import InputError


def test_users_without_a_list_are_counted_and_score_nothing() -> None:
    """User 4 has no list in a: the same as a list without a hit, and the account says how many."""
    result = evaluate(target=["per_user", "pooled"])
    assert value(result, "a", target="per_user") == pytest.approx((1 / 3 + 1.0 + 0.0 + 0.0) / 4)
    assert value(result, "a", target="pooled") == pytest.approx((1 + 2 + 0 + 0) / 7)
    filled = LISTS | {"a": pl.concat([LISTS["a"], pl.DataFrame({"user": [4], "item": [99], "rank": [1]})])}
    again = evaluate(models=filled, target=["per_user", "pooled"])
    assert all(value(again, "a", target=t) == value(result, "a", target=t) for t in ("per_user", "pooled"))
    assert result.inputs["models"]["a"]["users_without_list"] == 1
    assert result.inputs["models"]["b"]["users_without_list"] == 1
    assert any(text.startswith("a: 1 ") for text in said(result, "lists-of-models"))
    assert evaluate(models=filled).inputs["models"]["a"]["users_without_list"] == 0


def test_rows_outside_the_population_are_an_error_or_dropped() -> None:
    """A user with rows who is not in the population is named; dropping such rows is counted."""
    users = pl.DataFrame({"user": [1, 2, 3]})
    with pytest.raises(InputError, match="user '4' "):
        evaluate(users=users)
    result = evaluate(users=users, invalid="drop")
    assert result.inputs["test"]["dropped"] != {}
    assert numbers(result) == numbers(evaluate(TEST.filter(pl.col("user") != 4), users=users))


def test_fewer_relevant_than_seen_is_an_error() -> None:
    """n_u counts all relevant items, so it cannot be below what was seen; the message names the user."""
    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [3.0, 1.0, 5.0, 5.0]})
    with pytest.raises(InputError) as caught:
        evaluate(users=users, estimators=["ips"])
    assert all(piece in str(caught.value) for piece in ("user '2'", " 1 ", " 2 "))


@pytest.mark.parametrize(
    "users",
    [
        {"user": [1, 2, 3, None]},
        {"user": ["1", "2", "3", None]},
        {"user": [1, 2, 3, 4, 4]},
        {"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, -1.0]},
        {"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, None]},
    ],
)
def test_a_wrong_population_is_an_error(users: dict[str, list[Any]]) -> None:
    """Nulls, repeated users and negative n_u are refused by name."""
    with pytest.raises(InputError, match="users: column"):
        evaluate(users=pl.DataFrame(users))


def test_other_users_in_training_are_no_silent_users() -> None:
    """share="users": the population is that of the test log, so that training users do not dilute sums."""
    train = pl.DataFrame({"user": ["x", "y", "z"], "item": ["i", "j", "k"], "value": [1.0, 0.0, 1.0]})
    test = pl.DataFrame({"user": ["u", "v"], "item": ["i", "j"], "value": [1.0, 1.0]})
    lists = pl.DataFrame({"user": ["u", "v"], "item": ["i", "j"], "rank": [1, 1]})
    options: dict[str, Any] = {"feedback": "conversions", "metrics": ["recall@2"], "estimators": ["naive"]}
    apart = us.evaluate(test, {"m": lists}, train=train, share="users", **options)
    one = pl.concat([train, test.head(1).with_columns(item=pl.lit("k"))])  # a user of both logs
    both = us.evaluate(test, {"m": lists}, train=one, **options)
    assert apart.estimates[0].value == 1.0 and apart.inputs["users"]["population"] == 2
    assert both.estimates[0].value == pytest.approx(0.4) and both.inputs["users"]["population"] == 5
