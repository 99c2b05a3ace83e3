"""Inputs that cannot be meant: an error that says why and what to look at, never a table of zeros."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS, SEEN, TEST, evaluate, said
from unskew.core.errors import InputError


def moved(lists: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    """The same lists with other ids."""
    return lists.with_columns(**columns)


@pytest.mark.parametrize("what", ["user", "item"])
def test_lists_whose_ids_no_log_knows_are_refused(what: str) -> None:
    """One model of two with other users, or other items: it is named, with both kinds of ids."""
    strange = moved(LISTS["b"], **{what: pl.concat_str(pl.lit("x"), pl.col(what).cast(pl.String))})
    with pytest.raises(InputError) as caught:
        evaluate(models={"a": LISTS["a"], "b": strange})
    assert all(piece in str(caught.value) for piece in ("b: ", "'x", f"columns={{'{what}':"))


def test_half_of_the_ids_unknown_is_a_warning() -> None:
    """Single oddities stay warnings: most users of the lists are strangers, some are not."""
    strange = pl.concat([LISTS["a"], *(moved(LISTS["a"], user=pl.col("user") + 1000 * n) for n in (1, 2))])
    result = evaluate(models={"a": strange, "b": LISTS["b"]})
    assert any(text.startswith("a: ") and "'1" in text for text in said(result, "lists-of-models"))


def test_lists_for_training_users_only_are_refused() -> None:
    """All users are known, but none of those with held-out interactions has a list."""
    seen = pl.concat([SEEN, pl.DataFrame({"user": [77, 78], "item": SEEN["item"][:1].to_list() * 2})])
    others = pl.DataFrame({"user": [77, 78], "item": TEST["item"][:2].to_list(), "rank": [1, 1]})
    with pytest.raises(InputError, match=r"b: .*2 "):
        evaluate(models={"a": LISTS["a"], "b": others}, train=seen)


def test_predictions_whose_ids_no_log_knows_are_refused() -> None:
    """Ranked by prediction: strangers are no model that fails to cover the candidates."""
    rated = pl.DataFrame({"user": [1, 2], "item": [10, 20], "value": [4.0, 2.0]})
    strange = us.Predictions.from_frame(pl.DataFrame({"user": ["x"], "item": [10], "prediction": [1.0]}))
    for metric in ("dcg@5", "mae"):
        with pytest.raises(InputError, match="m: "):
            us.evaluate(rated, {"m": strange}, metrics=[metric], estimators=["naive"], feedback="ratings")


def test_every_score_zero_is_an_error_with_what_to_check() -> None:
    """No list holds any held-out item at any rank: the ids, or lists of other items."""
    test = pl.DataFrame({"user": [1, 2, 3], "item": [10, 20, 30]})
    missed = pl.DataFrame({"user": [1, 2, 3], "item": [20, 30, 10], "rank": [1, 1, 1]})
    with pytest.raises(InputError) as caught:
        us.evaluate(test, {"a": missed, "b": missed})
    assert all(word in str(caught.value) for word in ("3 ", "'10'"))
    hit = missed.with_columns(item=pl.Series([20, 30, 30]))
    assert us.evaluate(test, {"a": missed, "b": hit}).estimates  # one hit of one model is an answer


def test_hits_below_the_cut_off_ask_for_a_larger_k() -> None:
    """The lists do hold held-out items, at rank 3 first."""
    test = pl.DataFrame({"user": [1, 2], "item": [10, 20]})
    lists = pl.DataFrame({"user": [1, 1, 2, 2], "item": [20, 10, 10, 20], "rank": [1, 3, 1, 4]})
    with pytest.raises(InputError, match=r" 3: .*recall@10"):
        us.evaluate(test, {"m": lists}, metrics=["recall@2"])
    assert us.evaluate(test, {"m": lists}, metrics=["recall@10"]).estimates[0].value == 1.0


def test_lists_of_training_items_name_the_options() -> None:
    """What users already had is no candidate: --candidates all, which is then accepted, or --drop-seen."""
    test = pl.DataFrame({"user": [1, 1, 2], "item": [10, 30, 30]})
    seen = pl.DataFrame({"user": [1, 2, 2], "item": [10, 20, 10]})
    lists = pl.DataFrame({"user": [1, 2], "item": [10, 20], "rank": [1, 1]})
    options: dict[str, Any] = {"train": seen, "metrics": ["recall@1"]}
    with pytest.raises(InputError) as caught:
        us.evaluate(test, {"m": lists}, **options)
    assert "candidates='all'" in str(caught.value) and "drop_seen=True" in str(caught.value)
    assert us.evaluate(test, {"m": lists}, candidates="all", **options).estimates[0].value > 0.0
