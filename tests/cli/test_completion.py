"""Shell completion: the script is printed, and names of parts are completed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.commands import PLAIN, unskew
from unskew import estimators, metrics, propensity


def asked(env: dict[str, str]) -> str:
    """What a shell hears that asks ``unskew`` by its environment."""
    code = "import sys; sys.argv[0] = 'unskew'; from unskew.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **PLAIN, **env}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete ")])
def test_the_script_is_printed(shell: str, word: str) -> None:
    """By the variable that an installed script uses."""
    text = asked({"_UNSKEW_COMPLETE": f"source_{shell}"})
    assert word in text and "_UNSKEW_COMPLETE" in text


def test_installing_and_showing_are_options() -> None:
    """As the README says."""
    text = unskew("--help").stdout
    assert "--install-completion" in text and "--show-completion" in text


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("evaluate x.parquet --estimator sn", {"snips", "sndr"}),
        ("evaluate x.parquet --propensity pop", {"popularity"}),
        ("evaluate x.parquet --metric reca", {"recall@10"}),
        ("cross-validate x.parquet --split k_", {"k_fold"}),
        ("sample x.parquet --strategy wtd_", {"wtd_h"}),
        ("doct", {"doctor"}),
    ],
)
def test_names_are_completed(typed: str, found: set[str]) -> None:
    """Behind the options that take parts."""
    words = f"unskew {typed}"
    text = asked({"_UNSKEW_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)})
    assert set(text.split()) == found


@pytest.mark.parametrize(
    ("option", "family"),
    [("estimator", estimators.FAMILY), ("metric", metrics.FAMILY), ("propensity", propensity.FAMILY)],
)
def test_all_parts_are_offered(option: str, family: object) -> None:
    """Each of them is a string that can be given as it is, or begins one."""
    from unskew.cli.completion import FAMILIES, _names_of

    offered = _names_of(FAMILIES[option])("")
    assert {name.partition("@")[0] for name in offered} == {*family.names()}  # type: ignore[attr-defined]
    if option == "metric":
        for name in offered:
            metrics.make(name)
