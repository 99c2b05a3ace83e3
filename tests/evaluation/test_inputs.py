"""Inputs of all kinds: renamed columns, scores, fitted models, and columns that may be something else."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import LISTS, SEEN, TEST, evaluate, numbers, said
from tests.said import only, refuses
from unskew.core.errors import InputError


def test_columns_are_renamed_in_every_input() -> None:
    """columns: our names → theirs, for logs, lists and the population, each by the names that it has."""
    names = {"user": "who", "item": "what", "rank": "position", "propensity": "p", "relevant": "n"}

    def renamed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename({ours: theirs for ours, theirs in names.items() if ours in frame.columns})

    users = pl.DataFrame({"user": [1, 2, 3, 4], "relevant": [9.0, 9.0, 9.0, 9.0]})
    options: dict[str, Any] = {"estimators": ["snips", "ips"], "target": "per_user"}
    expected = evaluate(users=users, train=SEEN, **options)
    found = evaluate(
        renamed(TEST), {name: renamed(lists) for name, lists in LISTS.items()}, users=renamed(users),
        train=renamed(SEEN), columns=names, **options,
    )  # fmt: skip
    assert numbers(found) == numbers(expected)


def test_scores_make_ranks() -> None:
    """Lists with scores instead of ranks are ordered by them, best first."""
    scored = {name: f.with_columns(score=-pl.col("rank").cast(pl.Float64)).drop("rank") for name, f in LISTS.items()}
    assert numbers(evaluate(models=scored)) == numbers(evaluate())


def test_fitted_models_make_their_own_lists() -> None:
    """A recommender is asked for lists as long as the deepest cut-off, without training items."""
    train = us.Log.from_frame(pl.DataFrame({"user": [1, 2, 2, 3, 3, 3], "item": [10, 10, 20, 10, 20, 30]}))
    model = us.models.MostPopular().fit(train)
    by_model = evaluate(models={"m": model}, train=train, metrics=["recall@2"])
    lists = model.recommend(us.log.Ids(pl.Series([1, 2, 3, 4])), 2, seen=train)
    assert numbers(by_model) == numbers(evaluate(models={"m": lists}, train=train, metrics=["recall@2"]))

    class Broken:
        def recommend(self, users: Any, k: int, *, seen: Any = None) -> list[int]:
            return [1]

    with pytest.raises(InputError, match="model 'broken'"):
        evaluate(models={"broken": Broken()})


def test_strata_by_a_column_need_it_in_the_test_log_only() -> None:
    """gs never looks at the training rows, so they need no such column; a missing one in the test log is an error."""
    result = evaluate(estimators=["gs(strata=column(place))"], train=SEEN)
    assert len(result.estimates) == 2
    with pytest.raises(InputError, match="'plaice'"):
        evaluate(estimators=["gs(strata=column(plaice))"])


def test_progress_is_told() -> None:
    """Stages come in order, each with what is done and what there is."""
    told: list[tuple[str, int, int]] = []
    evaluate(progress=lambda stage, done, total: told.append((stage, done, total)))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["reading logs", "lists of a", "lists of b", "aligning", "estimating"]
    assert all(0 <= done <= total for _, done, total in told) and told[-1] == ("estimating", 4, 4)


def test_gaps_in_ranks_are_reported() -> None:
    """The warning counts the lists and shows the first; JSON has the count."""
    found = evaluate(models={"a": LISTS["a"].with_columns(rank=pl.col("rank") * 10), "b": LISTS["b"]})
    (told,) = (text for text in said(found, "lists-of-models") if "10, 20" in text)
    assert told.startswith("a: 3 of 3 ")
    assert found.inputs["models"]["a"]["lists_with_gaps_in_ranks"] == 3
    assert not [text for text in said(evaluate(), "lists-of-models") if "1, 2" in text]


def test_scores_that_contradict_ranks_are_refused() -> None:
    """Unless somebody says which of both counts; scores that agree are no matter."""
    scored = LISTS["a"].with_columns(score=pl.col("rank") * 1.0)
    with refuses("contradicting-columns") as caught:
        evaluate(models={"a": scored, "b": LISTS["b"]})
    assert "columns={'a:rank': 'rank'}" in str(caught.value)
    for meant in ("rank", ""):
        assert evaluate(models={"a": scored, "b": LISTS["b"]}, columns={"a:rank": meant}).estimates
    assert evaluate(models={"a": scored.with_columns(score=-pl.col("score")), "b": LISTS["b"]}).estimates


@pytest.mark.parametrize("name", ["score", "Count", "weight"])
def test_a_column_that_may_be_the_value_is_named(name: str) -> None:
    """Every row counts as a positive without it; nothing is said once somebody said what rows are."""
    log = TEST.with_columns(pl.lit(3).alias(name))
    assert f"columns={{'test:value': '{name}'}}" in only("unused-column", evaluate(log).warnings, column=name)
    for told in ({"feedback": "implicit"}, {"columns": {"test:value": ""}}):
        assert not said(evaluate(log, **told), "unused-column")


def test_a_recognised_propensity_has_the_name_of_the_file() -> None:
    """Not ours, which the file does not have."""
    found = evaluate(TEST.rename({"propensity": "propensity_score"}), propensity=None)
    (text,) = said(found, "used")
    assert "'propensity_score'" in text
