"""Shell completion: the script is printed, and names of parts are completed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.commands import PLAIN

SCRIPTS = {"bash": "complete -o", "zsh": "compdef", "fish": "complete "}
TYPED = {
    "evaluate x.parquet --estimator sn": {"snips", "sndr"},
    "evaluate x.parquet --propensity pop": {"popularity"},
    "evaluate x.parquet --metric reca": {"recall@10"},
    "cross-validate x.parquet --split k_": {"k_fold"},
    "sample --strategy wtd_": {"wtd_h"},
    "doct": {"doctor"},
}
# A shell asks by the environment: all questions in one process, which must be called as people call it.
ASKED = """
import contextlib, io, json, os, sys
sys.argv[:] = ["unskew"]
from unskew.cli import main
answers = []
for question in json.load(sys.stdin):
    os.environ.update(question)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            main()
        except SystemExit as end:
            code = end.code
    answers.append([code, text.getvalue()])
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[int, str]]:
    """What a shell hears, by shell and by what was typed."""
    questions = [{"_UNSKEW_COMPLETE": f"source_{shell}"} for shell in SCRIPTS]
    for typed in TYPED:
        words = f"unskew {typed}"
        place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        questions.append({"_UNSKEW_COMPLETE": "complete_bash", **place})
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        capture_output=True, text=True, env={**os.environ, **PLAIN}, input=json.dumps(questions), check=True,
    )  # fmt: skip
    return {name: (code, text) for name, (code, text) in zip((*SCRIPTS, *TYPED), json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_printed(shell: str, answers: dict[str, tuple[int, str]]) -> None:
    """By the variable that an installed script uses."""
    code, text = answers[shell]
    assert code == 0 and SCRIPTS[shell] in text and "_UNSKEW_COMPLETE" in text


@pytest.mark.parametrize("typed", TYPED)
def test_names_are_completed(typed: str, answers: dict[str, tuple[int, str]]) -> None:
    """Commands, and parts behind the options that take them."""
    code, text = answers[typed]
    assert code == 0 and set(text.split()) == TYPED[typed]
