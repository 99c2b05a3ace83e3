"""Reading answers: what is wrong is named, what nobody answered is counted, and mcar is another thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from unskew.log import Feedback
from unskew.log.answers import read_answers, unanswered
from unskew.log.drawing import Drawing

ROWS: dict[str, list[Any]] = {
    "user": ["a", "a", "b"],
    "item": ["i", "j", "i"],
    "value": [1.0, None, 0.0],
    "propensity": [0.5, 0.2, 1.0],
}


def frame(**changes: Any) -> pl.DataFrame:
    return pl.DataFrame(ROWS | changes)


def test_empty_values_are_unanswered_in_every_format(tmp_path: Path) -> None:
    """Null, NaN (pandas) and an empty cell of a text file are the same: asked, and not answered."""
    path = tmp_path / "answers.csv"
    path.write_text("user,item,value,propensity\na,i,1,0.5\na,j,,0.2\nb,i,0,1\n")
    for source in (frame(), frame(value=[1.0, float("nan"), 0.0]), frame().to_pandas(), path):
        log, drawing = read_answers(source, Feedback.IMPLICIT)
        assert unanswered(log).tolist() == [False, True, False]
        assert drawing == Drawing(1, "", 0, ())
        np.testing.assert_array_equal(log.propensity, [0.5, 0.2, 1.0])


@pytest.mark.parametrize(
    ("changes", "code", "fields"),
    [
        ({"propensity": [0.5, 0.0, 1.0]}, "out-of-range", {"column": "propensity", "row": 2}),
        ({"propensity": [0.5, 1.5, 1.0]}, "out-of-range", {"column": "propensity", "row": 2}),
        ({"propensity": [0.5, None, 1.0]}, "missing-value", {"column": "propensity", "row": 2}),
        ({"value": [None, None, None]}, "no-answers", {}),
        ({"item": ["i", "i", "i"]}, "repeated-pair", {}),
        ({"value": [1.0, None, 3.0]}, "bad-value", {"column": "value"}),
        ({"round": [1, 2, 1]}, "missing-argument", {"option": "rounds"}),
        ({"rounds": [3, 2, 3]}, "not-constant", {"column": "rounds"}),
        ({"rounds": [0, 0, 0]}, "out-of-range", {"option": "rounds"}),
        ({"round": [1, 0, 1], "rounds": [3, 3, 3]}, "out-of-range", {"column": "round"}),
        ({"barred": [0, 3, -1]}, "out-of-range", {"column": "barred"}),
        ({"design": ["independent", "systematic", "independent"]}, "bad-value", {"column": "design"}),
        ({"design": ["all", "all", "all"]}, "bad-value", {"column": "design"}),
    ],
)
def test_wrong_rows_are_named(changes: dict[str, Any], code: str, fields: dict[str, Any]) -> None:
    with refuses(code, **fields):
        read_answers(frame(**changes), Feedback.IMPLICIT)


@pytest.mark.parametrize(
    ("columns", "given", "found"),
    [
        ({}, None, 1),
        ({}, 5, 5),
        ({"round": [1, 2, 1], "rounds": [3, 3, 3]}, None, 3),
        ({"round": [1, 2, 1]}, 2, 2),
        ({"round": [1, 2, 1]}, 1, "too-many-rounds"),
        ({"rounds": [3, 3, 3]}, 2, "conflicting-arguments"),
    ],
)
def test_declared_rounds(columns: dict[str, Any], given: int | None, found: int | str) -> None:
    """The file's own number counts; what contradicts it, or leaves it open, is an error."""
    if isinstance(found, int):
        assert read_answers(frame(**columns), Feedback.IMPLICIT, rounds=given)[1].rounds == found
        return
    with refuses(found):
        read_answers(frame(**columns), Feedback.IMPLICIT, rounds=given)


@pytest.mark.parametrize("name", ["value", "propensity"])
def test_a_missing_column_is_mapped_in_the_answers_alone(name: str) -> None:
    """π is never taken as uniform. The map that is advised speaks of the answers, and is accepted."""
    answers = frame(value=[1.0, 1.0, 0.0]).rename({name: "theirs"})
    with refuses("missing-column", column=name) as caught:
        evaluate(answers)
    assert f"'answers:{name}'" in str(caught.value)
    assert evaluate(answers, columns={f"answers:{name}": "theirs"}).estimates


def evaluate(answers: pl.DataFrame, **more: Any) -> us.Result:
    test = pl.DataFrame({"user": ["a", "b", "b"], "item": ["i", "i", "j"], "value": [1, 0, 1]})
    lists = pl.DataFrame({"user": ["a", "b"], "item": ["i", "j"], "rank": [1, 1]})
    given: dict[str, Any] = {"feedback": "conversions", "metrics": ["recall@1"], "target": "per_user_sum"}
    return us.evaluate(
        test, {"one": lists}, answers=answers, items=pl.DataFrame({"item": ["i", "j", "k"]}), **given | more
    )


def test_rows_of_the_log_are_dropped_and_counted() -> None:
    """A log with zeros is known already; a log of positives is asked about again unless relevance is fixed."""
    answers = frame(item=["i", "j", "k"])
    counts = evaluate(answers).inputs["answers"]
    assert list(counts["dropped"].values()) == [1]
    assert (counts["asked"], counts["answered"], counts["unanswered"]) == (2, 1, 1)
    assert counts["held_out_log_is_taken_as_known"]
    positives = evaluate(answers, feedback="implicit").inputs["answers"]
    assert positives["dropped"] == {}
    assert (positives["asked"], positives["also_in_the_held_out_log"]) == (3, 1)
    assert not positives["held_out_log_is_taken_as_known"]
    fixed = evaluate(answers, feedback="implicit", fixed_relevance=True).inputs["answers"]
    assert fixed["dropped"] == counts["dropped"]


@pytest.mark.parametrize(
    ("changes", "more", "named"),
    [
        ({"user": ["a", "a", "z"]}, {}, "'z'"),
        ({"value": [5.0, None, 0.0], "item": ["k", "j", "k"]}, {}, "'a'"),
        ({}, {"sample": "reg"}, "sample"),
        ({"item": ["k", "k", "k"], "user": ["a", "b", "c"]}, {}, "'c'"),
        ({"item": ["k", "j", "k"]}, {"target": "per_user", "estimators": ["anchored"]}, "per_user"),
    ],
)
def test_what_does_not_go_together(changes: dict[str, Any], more: dict[str, Any], named: str) -> None:
    """Unknown users, values of another scale, samples of lists, targets that would be biased."""
    with pytest.raises(us.UnskewError, match=named):
        evaluate(frame(**changes), **more)
