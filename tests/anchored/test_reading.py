"""Reading answers: what is wrong is named, what nobody answered is counted, and mcar is another thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from unskew.alignment.sources import names_in
from unskew.errors import InputError
from unskew.log import Feedback
from unskew.log.answers import read_answers, unanswered
from unskew.log.column_maps import InputColumns
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


@pytest.mark.parametrize("made", ["csv", "frame"])
def test_the_file_of_a_plan_keeps_our_names(made: str, tmp_path: Path) -> None:
    """Where the log has other names than ours, answers may have either."""
    mapped = InputColumns.of({"user": "customer", "item": "sku", "value": "stars"}, "answers")

    def names(rows: pl.DataFrame) -> dict[str, str]:
        rows.write_csv(tmp_path / "answers.csv")
        return names_in(rows if made == "frame" else tmp_path / "answers.csv", mapped)

    assert names(frame()) == {}
    assert names(frame().rename(mapped)) == mapped
    assert names(frame().rename({"user": "customer"})) == {"user": "customer"}
    assert names(frame().drop("user")) == {"user": "customer"}  # so that the message names the column asked for


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"propensity": [0.5, 0.0, 1.0]}, r"column 'propensity' must lie in \(0, 1\]; row 2 has 0.0"),
        ({"propensity": [0.5, 1.5, 1.0]}, r"must lie in \(0, 1\]; row 2 has 1.5"),
        ({"propensity": [0.5, None, 1.0]}, "'propensity' must have a value in every row; row 2"),
        ({"value": [None, None, None]}, "none of 3 questions was answered"),
        ({"item": ["i", "i", "i"]}, "user 'a' and item 'i' is there twice; row 2"),
        (
            {"value": [1.0, None, 3.0]},
            "must be 0 or 1 where the log holds positives only; user 'b' and item 'i' have 3",
        ),
    ],
)
def test_wrong_rows_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_answers(frame(**changes), Feedback.IMPLICIT)


@pytest.mark.parametrize(
    ("columns", "given", "found"),
    [
        ({}, None, 1),
        ({}, 5, 5),
        ({"round": [1, 2, 1], "rounds": [3, 3, 3]}, None, 3),
        ({"round": [1, 2, 1]}, 2, 2),
        ({"round": [1, 2, 1]}, None, "and not how many were declared"),
        ({"round": [1, 2, 1]}, 1, "goes up to 2, and 1 round was declared"),
        ({"rounds": [3, 3, 3]}, 2, "3 rounds were declared, and rounds=2"),
        ({"rounds": [3, 2, 3]}, None, "must be the same in every row"),
        ({"rounds": [0, 0, 0]}, None, "rounds must"),
        ({"design": ["independent", "systematic", "independent"]}, None, "'design' must be .*; row 2 has 'systematic'"),
        ({"design": ["all", "all", "all"]}, None, "'design' must be .*; row 1 has 'all'"),
    ],
)
def test_declared_rounds(columns: dict[str, Any], given: int | None, found: int | str) -> None:
    """The file's own number counts; what contradicts it, or leaves it open, is an error."""
    if isinstance(found, int):
        assert read_answers(frame(**columns), Feedback.IMPLICIT, rounds=given)[1].rounds == found
        return
    with pytest.raises(InputError, match=found):
        read_answers(frame(**columns), Feedback.IMPLICIT, rounds=given)


def test_without_probabilities_it_is_no_answer() -> None:
    """π is never taken as uniform, and the message tells answers and mcar apart."""
    with pytest.raises(InputError, match=r"answers need a column 'propensity'.*\n?.*mcar=…"):
        read_answers(frame().drop("propensity"), Feedback.IMPLICIT)


@pytest.mark.parametrize("name", ["value", "propensity"])
def test_a_missing_column_is_mapped_in_the_answers_alone(name: str) -> None:
    """The test log may have no such column: the map that is advised speaks of the answers, and is accepted."""
    answers = frame(value=[1.0, 1.0, 0.0]).rename({name: "theirs"})
    with pytest.raises(InputError, match=f"'answers:{name}': 'NAME'"):
        evaluate(answers)
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
    assert counts["dropped"] == {"already in the held-out log": 1}
    assert (counts["asked"], counts["answered"], counts["unanswered"]) == (2, 1, 1)
    assert counts["held_out_log_is_taken_as_known"]
    positives = evaluate(answers, feedback="implicit").inputs["answers"]
    assert positives["dropped"] == {}
    assert (positives["asked"], positives["also_in_the_held_out_log"]) == (3, 1)
    assert not positives["held_out_log_is_taken_as_known"]
    fixed = evaluate(answers, feedback="implicit", fixed_relevance=True).inputs["answers"]
    assert fixed["dropped"] == {"already in the held-out log": 1}


@pytest.mark.parametrize(
    ("changes", "more", "words"),
    [
        ({"user": ["a", "a", "z"]}, {}, "user 'z' was asked and belongs to none of the logs"),
        (
            {"value": [5.0, None, 0.0], "item": ["k", "j", "k"]},
            {},
            "holds 5 for user 'a', and the held-out log 0 and 1",
        ),
        ({}, {"sample": "reg"}, "leave one of them out"),
        ({"item": ["k", "k", "k"], "user": ["a", "b", "c"]}, {}, "user 'c' was asked"),
        ({"item": ["k", "j", "k"]}, {"target": "per_user", "estimators": ["anchored"]}, "biased by 4 to 22 %"),
    ],
)
def test_what_does_not_go_together(changes: dict[str, Any], more: dict[str, Any], words: str) -> None:
    with pytest.raises(us.UnskewError, match=f"(?i){words}"):
        evaluate(frame(**changes), **more)


def test_anchored_needs_answers() -> None:
    log = pl.DataFrame({"user": ["a"], "item": ["i"]})
    lists = pl.DataFrame({"user": ["a"], "item": ["i"], "rank": [1]})
    with pytest.raises(us.RefusedError, match="rests on answers to questions"):
        us.evaluate(log, {"one": lists}, estimators=["anchored"])
    for more in ({"fixed_relevance": True}, {"rounds": 2}):
        with pytest.raises(InputError, match="it goes with answers="):
            us.evaluate(log, {"one": lists}, **more)
