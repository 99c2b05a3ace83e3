"""Every command's help ends with examples; they are accepted as written, and those that are quick are run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.commands import flat, unskew
from unskew.cli import app
from unskew.cli.examples import EXAMPLES

LONG = ("demo", "reproduce", "study study.toml", "policy-impact", "simulate shop-over-time", "fetch", "add")
OTHERS = ("log.parquet", "mf.parquet", "ml-100k", "coat")  # files and data sets that the shop does not have


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands by the words that call them."""
    yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {word}".strip())


COMMANDS = dict(commands(typer.main.get_command(app)))
LINES = sorted({line for examples in EXAMPLES.values() for _, line in examples})


def test_every_command_has_examples() -> None:
    """A new one must be given some."""
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_them(name: str) -> None:
    """Whole lines, not cut."""
    done = unskew(*name.split(), "--help")
    assert done.returncode == 0
    text = flat(done.stdout)
    for what, line in EXAMPLES[name]:
        assert flat(line) in text and what in text
        assert line.startswith(f"unskew {name}" if name else "unskew ")


@pytest.mark.parametrize("line", LINES)
def test_options_exist(line: str) -> None:
    """Parsed as the command line does, without being run."""
    words = shlex.split(line.partition(" > ")[0])[1:]
    command = COMMANDS[""]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    command.make_context("unskew", words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("examples")
    done = unskew("simulate", "-o", found / "shop", "--users", "200", "--items", "80")
    assert done.returncode == 0, done.stderr
    return found


@pytest.mark.parametrize(
    "line",
    [line for line in LINES if not any(word in line for word in (*LONG, *OTHERS)) and not line.endswith("-o shop")],
)
def test_they_run(line: str, folder: Path) -> None:
    """In a folder with a shop."""
    done = unskew(*shlex.split(line.partition(" > ")[0])[1:], cwd=folder)
    assert done.returncode == 0, done.stderr
