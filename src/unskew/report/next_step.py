"""What would decide where a log does not: answers about pairs in which lists differ, and the command that plans them.

The command names the files of this result, and LISTS where a model's lists came from none. Where the log itself came
from memory, or a name is nothing that a command line should be made of, it is the call in Python.
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
    command = _command(inputs, models, facet.metric) or _call(facet.metric)
    text = f"{TEXT[:-1]} (LISTS: a file of that model's lists):" if "=LISTS" in command else TEXT
    return (section("result.next", doc.Steps("What would decide", ((text, command),))),)


def _command(inputs: Mapping[str, Any], models: list[str], metric: str) -> str:
    """With the files of this result; empty where the log is no file."""
    log = _file(inputs.get("test") or inputs.get("log"))
    train, people = inputs.get("train"), inputs.get("population")
    if not log or not all(_file(each) for each in (train, people) if each) or not all(map(_PLAIN.fullmatch, models)):
        return ""
    words = ["unskew plan", shlex.quote(log)]
    for name in models:
        lists = _file(inputs.get("models", {}).get(name)) or "LISTS"
        words.append(f"--recs {shlex.quote(f'{name}={lists}')}")
    words += [f"--seen {shlex.quote(_file(train))}"] if train else []
    words += [f"--users {shlex.quote(_file(people))}"] if people else []
    words += ["--items ITEMS"] if inputs.get("items", {}).get("named") is not None else []
    settings = inputs["settings"]
    for option, usual in READING.items():
        if (value := settings.get(option)) not in (None, usual):
            words.append(f"--{option} {shlex.quote(str(value))}")
    if said := _columns(settings.get("columns") or {}, models):
        words.append(f"--columns {shlex.quote(said)}")
    return " ".join([*words, f"--metric {metric} --detect {DETECT}"])


def _columns(given: Mapping[str, str], models: list[str]) -> str:
    """What was said of columns, as far as the same inputs are given again; a name that cannot be typed is left out."""
    roles = ("", "test", "log", "train", "users", "models", *models)
    said = (f"{key}={theirs}" for key, theirs in given.items() if key.rpartition(":")[0] in roles)
    return ",".join(each for each in said if "\n" not in each and "," not in each)


def _call(metric: str) -> str:
    return f"us.plan(models, log=test, seen=train, metric='{metric}', detect='{DETECT}')"


def _file(account: Any) -> str:
    """The file that an input came from; empty where it came from memory."""
    source = str(account.get("source", "")) if isinstance(account, Mapping) else ""
    return source if PurePath(source).suffix.lower() in ENDINGS and _PLAIN.fullmatch(source) else ""
