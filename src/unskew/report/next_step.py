"""What would decide where a log does not: answers about pairs in which lists differ, and the command that plans them.

The command works as it is printed: it names the files of this result as they were typed, and models as ``--model``
fitted them. Who did not ask on the command line, and has something that came from memory or under a name that no
command line should be made of, gets the call in Python.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from unskew.inference.verdict import Outcome
from unskew.log.packed import ENDINGS as PACKED
from unskew.log.several import ARROW, LISTED, PARQUET, SEPARATORS
from unskew.report import document as doc
from unskew.report.texts import section
from unskew.report.view import View, unique
from unskew.report.words import practically_equal

DETECT = "10%"
LONGEST = 80  # characters of a model's name: longer ones may be shown in part, and cannot be typed again
ENDINGS = {*SEPARATORS, *PARQUET, *ARROW, *LISTED, *PACKED}
TEXT = (
    f"Show people some of the pairs in which the lists differ, and write down what comes back. How many it takes, and "
    f"which ones, for a difference of {DETECT.replace('%', ' %')} or whatever matters to you:"
)
# How files were read is how they are read again; what is usual need not be said.
READING = {"feedback": "implicit", "relevant": None, "invalid": "error", "duplicates": None}
_PLAIN = re.compile(r"[\w./@:+~-][\w./@:+~ -]*")


def next_step(view: View) -> tuple[doc.Block, ...]:
    """How to plan answers for the pairs that the headline leaves open; nothing where none is, or answers are given."""
    facet, inputs = view.headline, view.result.inputs
    settings = inputs.get("settings", {})
    if facet is None or not view.traits(facet.metric).additive or not view.traits(facet.metric).ranked:
        return ()
    if inputs.get("answers") or inputs.get("sample") or settings.get("candidates") != "unseen":
        return ()
    open_pairs = [
        v
        for v in view.verdicts(facet, view.carrier(facet))
        if v.verdict in (Outcome.UNDECIDED, Outcome.DEPENDS)
        and math.isfinite(v.difference)
        and v.se != 0.0
        and not practically_equal(view, v)
    ]
    models = unique(name for v in open_pairs for name in (v.a, v.b))
    if not models:
        return ()
    command: str | None = _command(inputs, models, facet.metric) or None
    if command is None and not _typed(_accounts(inputs)["log"]):
        command = _call(inputs, facet.metric)
    text = TEXT if command else f"{TEXT.removesuffix(':')}, unskew plan says."
    return (section("result.next", doc.Steps("What would decide", ((text, command),))),)


def _command(inputs: Mapping[str, Any], models: list[str], metric: str) -> str:
    """With the files and fitted models of this result; empty where something is neither."""
    accounts = _accounts(inputs)
    files = {role: _file(account) for role, account in accounts.items()}
    options = [_model(name, inputs.get("models", {}).get(name)) for name in models]
    if not all(files.values()) or not all(options):
        return ""
    words = ["unskew plan", shlex.quote(files.pop("log")), *options]
    words += [f"--{role} {shlex.quote(file)}" for role, file in files.items()]
    settings = inputs["settings"]
    for option, usual in READING.items():
        if (value := settings.get(option)) not in (None, usual):
            words.append(f"--{option} {shlex.quote(str(value))}")
    if isinstance(settings.get("share"), float) and any("propensity" in each for each in options):
        words.append(f"--share {settings['share']}")
    words += [f"--columns {shlex.quote(said)}" for said in _columns(settings.get("columns") or {}, models)]
    return " ".join([*words, f"--metric {metric} --detect {DETECT}"])


def _accounts(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The accounts of what a plan is made from, by the argument of ``plan``."""
    given = {
        "log": inputs.get("test") or inputs.get("log"),
        "seen": inputs.get("train"),
        "users": inputs.get("population"),
        "items": inputs.get("items", {}).get("named"),
    }
    return {role: account for role, account in given.items() if account or role == "log"}


def _model(name: str, account: Any) -> str:
    """A model as an option: its file of lists, or what ``--model`` said of it; empty where it is neither."""
    said = str(account.get("model", "")) if isinstance(account, Mapping) else ""
    whole = len(name) < LONGEST and name.isprintable() and bool(said or _typed(account))
    if not whole and not _PLAIN.fullmatch(name):
        return ""
    if file := _file(account):
        return f"--recs {shlex.quote(f'{name}={file}')}"
    return f"--model {shlex.quote(f'{name}={said}')}" if said and said.isprintable() else ""


def _columns(given: Mapping[str, str], models: list[str]) -> list[str]:
    """What was said of columns, as far as the same inputs are given again, an option for each of them.

    A name that cannot be typed is left out.
    """
    roles = ("", "test", "log", "train", "seen", "users", "items", "models", "recs", *models)
    said: dict[str, list[str]] = {}
    for key, theirs in given.items():
        role = key.rpartition(":")[0]
        if role in roles and "\n" not in theirs and "," not in theirs:
            said.setdefault(role, []).append(f"{key}={theirs}")
    return [",".join(each) for each in said.values()]


def _call(inputs: Mapping[str, Any], metric: str) -> str:
    """The call in Python: files by their names, and what came from memory as a variable."""
    names = {"log": "test", "seen": "train", "users": "users", "items": "items"}
    given = {
        role: repr(file) if (file := _file(account)) else names[role] for role, account in _accounts(inputs).items()
    }
    settings = inputs.get("settings", {})
    options = {name: value for name, usual in READING.items() if (value := settings.get(name)) not in (None, usual)}
    options |= {"columns": dict(said)} if (said := settings.get("columns")) else {}
    options |= {"metric": metric, "detect": DETECT}
    arguments = [f"{role}={name}" for role, name in given.items()] + [f"{k}={v!r}" for k, v in options.items()]
    return f"us.plan(models, {', '.join(arguments)})"


def _file(account: Any) -> str:
    """The file that an input came from; empty where it came from memory."""
    if path := _typed(account):
        return path if path.isprintable() else ""
    source = str(account.get("source", "")) if isinstance(account, Mapping) else ""
    return source if PurePath(source).suffix.lower() in ENDINGS and _PLAIN.fullmatch(source) else ""


def _typed(account: Any) -> str:
    """The path of an input as it was typed on the command line; empty where it was given in Python."""
    return str(account.get("path", "")) if isinstance(account, Mapping) else ""
