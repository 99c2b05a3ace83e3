"""What a page says where a log does not decide: the command that plans answers, with the files of the result."""

from __future__ import annotations

import ast
import html
import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from unskew.report import notebook
from unskew.result import MetricTraits, Result

from .made_up import estimate, verdict

SETTINGS: dict[str, Any] = {"candidates": "unseen", "feedback": "ratings", "relevant": ">=4"}
FILES: dict[str, Any] = {
    "test": {"source": "my logs/test.parquet", "rows": 10},
    "train": {"source": "train.csv", "rows": 10},
    "models": {"a": {"source": "a.parquet", "rows": 4}, "b": {"source": "b.parquet", "rows": 4}},
    "population": {"source": "users.csv", "rows": 3},
    "settings": SETTINGS,
}


def result(inputs: dict[str, Any] = FILES, **changes: Any) -> Result:
    """Two models that the log cannot tell apart."""
    given: dict[str, Any] = {"difference": 0.03, "half": 0.05, "verdict": "undecided", "users_needed": 900} | changes
    rows = estimate("a", 0.14), estimate("b", 0.11)
    models = {name: {"rows": 4} | account for name, account in inputs["models"].items()}
    known = inputs | {"test": {"rows": 10} | inputs["test"], "models": models}
    return Result(rows, (verdict("a", "b", **given),), (), known, ())


def command(shown: Result) -> str:
    """The command of the step; empty where there is none."""
    return "".join(html.unescape(text) for text in re.findall(r"<br><code>(.*?)</code>", notebook(shown), re.S))


def told(inputs: dict[str, Any]) -> dict[str, list[str]]:
    """The options of the command with what follows them."""
    words = shlex.split(command(result(inputs)))
    assert words[:2] == ["unskew", "plan"]
    found: dict[str, list[str]] = {"log": words[2:3]}
    for option, value in zip(words[3::2], words[4::2], strict=True):
        found.setdefault(option, []).append(value)
    return found


DRAWN = ("rows", "rows_per_draw", "rows_in_any_draw")
USUAL = {
    "log": ["my logs/test.parquet"], "--recs": ["a=a.parquet", "b=b.parquet"], "--seen": ["train.csv"],
    "--users": ["users.csv"], "--feedback": ["ratings"], "--relevant": [">=4"], "--metric": ["recall@10"],
    "--detect": ["10%"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "more"),
    [
        ({}, {}),
        ({"settings": SETTINGS | {"invalid": "error", "duplicates": None}}, {}),
        (
            {"settings": SETTINGS | {"invalid": "drop", "duplicates": "last"}},
            {"--invalid": ["drop"], "--duplicates": ["last"]},
        ),
        (
            {"settings": SETTINGS | {"columns": {"user": "guest|two words", "test:item": "dish", "b:rank": "place",
                                                 "mcar:user": "x", "c:rank": "y", "time": ""}}},
            {"--columns": ["user=guest|two words,time=", "test:item=dish", "b:rank=place"]},
        ),
        ({"test": {"source": "logs", "path": "it's new/$(reboot)"}}, {"log": ["it's new/$(reboot)"]}),
        (
            {
                "test": {"source": "logs", "path": "my logs/test.parquet"},
                "models": {
                    "a": {"source": "a", "path": "a (2).csv"},
                    "b": {"source": "memory", "model": "item_knn(neighbours=9)"},
                },
            },
            {"--recs": ["a=a (2).csv"], "--model": ["b=item_knn(neighbours=9)"]},
        ),
    ],
    ids=["files", "usual", "reading", "columns", "quoted", "as typed"],
)  # fmt: skip
def test_the_command_says_again_what_was_said(inputs: dict[str, Any], more: dict[str, list[str]]) -> None:
    """The files of the result, quoted as a shell wants it, with what decides how they are read."""
    assert told(FILES | inputs) == USUAL | more
    assert "unskew plan" in command(result(verdict="depends"))


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


def test_what_cannot_be_typed_is_not_told_to_be() -> None:
    """A name that no file was given by."""
    assert "reboot" not in command(result(FILES | {"test": {"source": "$(reboot).csv"}}))


@pytest.mark.parametrize(
    "changes",
    [{"verdict": "ahead"}, {"low": -0.001, "high": 0.002, "difference": 0.0005}, {"difference": 0.0, "se": 0.0}],
    ids=["decided", "practically equal", "the same everywhere"],
)
def test_nothing_is_proposed_where_nothing_is_open(changes: dict[str, Any]) -> None:
    """Decided pairs, pairs that are close enough, and equal lists need no answers."""
    assert command(result()) and not command(result(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {
            "inputs": FILES
            | {"answers": {"source": "a.csv"} | dict.fromkeys(("rows", "answered", "asked", "positive"), 1)}
        },
        {"inputs": FILES | {"sample": {"strategy": "x", "repeats": 1} | dict.fromkeys(DRAWN, 1)}},
        {"inputs": FILES | {"settings": {"candidates": "all"}}},
        {"traits": {"recall@10": MetricTraits(additive=False)}},
        {"traits": {"recall@10": MetricTraits(ranked=False)}},
    ],
)
def test_nothing_is_proposed_where_a_plan_would_not_fit(changes: dict[str, Any]) -> None:
    """Answers that are there already, samples of the rows, metrics that are no sums, other candidates."""
    assert not command(replace(result(), **changes))
