"""Messages of the library name Python arguments, and the command line shows its own options instead."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import unskew
import unskew as us
from unskew.cli import app
from unskew.cli.flags import FLAGS, with_flags

SOURCE = Path(unskew.__file__).parent
# Whole commands that people are to run, not names of arguments.
COMMANDS = {
    "auditing/advice.py",
    "log/datasets/catalogue.py",
    "report/anchored_demo_document.py",
    "report/next_step.py",
    "report/policies_document.py",
    "simulate/anchored_demo.py",
}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a log (train=…).", "a log (--train)."),
        ("users=….", "--users."),
        ("candidates='all', or drop_seen=True.", "--candidates all, or --drop-seen."),
        ("interval='bootstrap', refit=True", "--interval bootstrap --refit"),
        ("users=…, items=… and share=….", "--users, --items and --share."),
        ("say share=0.3.", "say --share 0.3."),
        ("propensity='popularity(gamma=1)' or 'known'", "--propensity 'popularity(gamma=1)' or 'known'"),
        ("metrics=['recall@10', 'mae']", "--metric recall@10 --metric mae"),
        ("columns={'user': 'id', 'item': 'sku'}", "--columns user=id,item=sku"),
        ("columns={'user': 'two words'}", "--columns 'user=two words'"),
        ("columns={'test:user': 'a|b'} or columns={'time': ''}", "--columns 'test:user=a|b' or --columns time="),
        ("relevant='>=4'", "--relevant '>=4'"),
        ("with read_predictions(…)", "with --predictions name=FILE"),
        # Options of parts, paths, quoted texts, what is no argument and what is no Python.
        *((text, text) for text in (
            "known(share=0.3) and clipped(known(share=0.3), at=0.1)", "recommend(users, k, train=…)",
            "data/share=0.3/part.csv", "share=0.3.csv: gone", "'share=0.3'", "drop_train=True",
            "columns={'user': 'it's'}",
        )),
    ],
)  # fmt: skip
def test_arguments_become_options(message: str, shown: str) -> None:
    """As one would type them; the rest is left alone."""
    assert with_flags(message) == shown


def test_every_option_exists() -> None:
    """An argument that is translated is an argument in Python and an option on the command line."""
    commands: Any = typer.main.get_command(app)
    named = ("evaluate", "sample", "cross-validate", "compare-protocols", "policy-impact", "plan")
    options = {option for name in named for parameter in commands.commands[name].params for option in parameter.opts}
    assert set(FLAGS.values()) - {"--force"} <= options  # of simulate
    calls = (us.evaluate, us.compare_protocols, us.policy_impact, us.compare_propensities, us.sample,
             us.cross_validate, us.plan)  # fmt: skip
    arguments = {"force"}.union(*(inspect.signature(call).parameters for call in calls))
    assert set(FLAGS) <= arguments


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are shown: no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_no_message_outside_the_command_line_speaks_of_its_options() -> None:
    """A Python caller reads ``train=…``; ``--train`` would be a riddle."""
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "cli" and path.relative_to(SOURCE).as_posix() not in COMMANDS
        for line, text in literals(path)
        if re.search(r"(?<!var\()--[a-z]", text)  # var(--e1) is a colour of a page
    ]
    assert not found, "\n".join(found)
