"""What a page says where a log does not decide: the command that plans answers, with the files of the result."""

from __future__ import annotations

import ast
import shlex
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from unskew.inference.verdict import Outcome
from unskew.report import document as doc
from unskew.report.next_step import next_step
from unskew.report.view import View
from unskew.result import MetricTraits, Result

from .made_up import estimate, verdict

FILES: dict[str, Any] = {
    "test": {"source": "my logs/test.parquet", "rows": 10},
    "train": {"source": "train.csv", "rows": 10},
    "models": {"a": {"source": "a.parquet", "rows": 4}, "b": {"source": "b.parquet", "rows": 4}},
    "population": {"source": "users.csv", "rows": 3},
    "settings": {"candidates": "unseen", "feedback": "ratings", "relevant": ">=4"},
}


def result(inputs: dict[str, Any] = FILES, **changes: Any) -> Result:
    """Two models that the log cannot tell apart."""
    given: dict[str, Any] = {
        "difference": 0.03,
        "half": 0.05,
        "verdict": Outcome.UNDECIDED,
        "users_needed": 900,
    } | changes
    found = verdict("a", "b", **given)
    return Result(
        estimates=(estimate("a", 0.14), estimate("b", 0.11)), verdicts_=(found,), weights=(), inputs=inputs, warnings=()
    )


def command(shown: Result) -> str:
    """The command of the step; empty where there is none."""
    steps = doc.shown_in(doc.Medium.BRIEF, next_step(View.of(shown)))
    assert all(isinstance(step, doc.Steps) for step in steps)
    return "".join(str(step.items[0][1]) for step in steps if isinstance(step, doc.Steps))


def test_the_command_names_the_files_of_the_result() -> None:
    """Quoted as a shell wants it, with what decides how they are read."""
    words = shlex.split(command(result()))
    assert words[:3] == ["unskew", "plan", "my logs/test.parquet"]
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert given == {
        "--recs": "b=b.parquet", "--seen": "train.csv", "--users": "users.csv", "--feedback": "ratings",
        "--relevant": ">=4", "--metric": "recall@10", "--detect": "10%",
    }  # fmt: skip
    assert "a=a.parquet" in words
    assert "unskew plan" in command(result(verdict=Outcome.DEPENDS))


def test_the_command_reads_files_as_they_were_read() -> None:
    """A log with repeated pairs, or with wrong rows, is refused unless the same is said again."""
    said = FILES["settings"] | {"invalid": "drop", "duplicates": "last"}
    words = shlex.split(command(result(FILES | {"settings": said})))
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert (given["--invalid"], given["--duplicates"]) == ("drop", "last")
    usual = FILES["settings"] | {"invalid": "error", "duplicates": None}
    assert command(result(FILES | {"settings": usual})) == command(result())


def test_the_command_repeats_what_was_said_of_columns() -> None:
    """Of the inputs that it names again."""
    said = {
        "user": "guest|two words",
        "test:item": "dish",
        "b:rank": "place",
        "mcar:user": "x",
        "c:rank": "y",
        "time": "",
    }
    words = shlex.split(command(result(FILES | {"settings": FILES["settings"] | {"columns": said}})))
    repeated = [word for option, word in pairwise(words) if option == "--columns"]
    assert repeated == ["user=guest|two words,time=", "test:item=dish", "b:rank=place"]


def test_lists_and_logs_from_memory() -> None:
    """A model or a log that came from no file has the call in Python, with the files that there are."""
    memory = FILES | {"models": {"a": {"source": "memory"}, "b": {"source": "b.csv"}}}
    called = ast.parse(command(result(memory)), mode="eval").body
    assert isinstance(called, ast.Call) and ast.unparse(called.args[0]) == "models"
    assert {each.arg: ast.unparse(each.value) for each in called.keywords} == {
        "log": "'my logs/test.parquet'", "seen": "'train.csv'", "users": "'users.csv'", "feedback": "'ratings'",
        "relevant": "'>=4'", "metric": "'recall@10'", "detect": "'10%'",
    }  # fmt: skip
    assert command(result(FILES | {"test": {"source": "frame"}})).startswith("us.plan(models, log=test")
    hostile = FILES | {"test": {"source": "$(reboot).csv"}}
    assert "reboot" not in command(result(hostile))


def test_what_was_typed_is_typed_again() -> None:
    """Any file and name, quoted; where a name cannot be, there is no command, and no call of Python either."""
    typed = FILES | {
        "test": {"source": "logs", "path": "it's new/$(reboot)"},
        "models": {
            "a": {"source": "a", "path": "a (2).csv"},
            "b": {"source": "memory", "model": "item_knn(neighbours=9)"},
        },
    }
    words = shlex.split(command(result(typed)))
    assert words[:3] == ["unskew", "plan", "it's new/$(reboot)"]
    assert [words[n + 1] for n, word in enumerate(words) if word in ("--recs", "--model")] == [
        "a=a (2).csv",
        "b=item_knn(neighbours=9)",
    ]
    lines = typed | {"test": {"source": "logs", "path": "two\nlines.csv"}}
    (step,) = [
        block
        for block in doc.shown_in(doc.Medium.BRIEF, next_step(View(result(lines))))
        if isinstance(block, doc.Steps)
    ]
    ((text, nothing),) = step.items
    assert nothing is None and "unskew plan" in str(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": Outcome.AHEAD},
        {"low": -0.001, "high": 0.002, "difference": 0.0005},
        {"difference": 0.0, "se": 0.0},
    ],
    ids=["decided", "practically equal", "the same everywhere"],
)
def test_nothing_is_proposed_where_nothing_is_open(changes: dict[str, Any]) -> None:
    """Decided pairs, pairs that are close enough, and equal lists need no answers."""
    assert command(result()) and not command(result(**changes))


def test_nothing_is_proposed_where_a_plan_would_not_fit() -> None:
    """Answers that are there already, samples of the rows, metrics that are no sums, other candidates."""
    shown = result()
    assert not command(replace(shown, inputs=FILES | {"answers": {"source": "answers.csv"}}))
    assert not command(replace(shown, inputs=FILES | {"sample": {"strategy": "x"}}))
    assert not command(replace(shown, traits={"recall@10": MetricTraits(additive=False)}))
    assert not command(replace(shown, traits={"recall@10": MetricTraits(ranked=False)}))
    assert not command(replace(shown, inputs=FILES | {"settings": {"candidates": "all"}}))
