"""Messages of the library name Python arguments; the command line shows its own options instead.

The convention: wherever a message speaks of an argument, it writes it as a Python call would,

    train=…              --train                     an argument, whatever its value
    refit=True           --refit                     a switch
    share=0.3            --share 0.3
    candidates='all'     --candidates all            quoted where a shell needs it: --propensity 'popularity(gamma=1)'
    metrics=['mae']      --metric mae                a list repeats the option
    columns={'user': 'customer_id'}                  --columns user=customer_id

and two such arguments with a comma between them, ``interval='bootstrap', refit=True``, stand side by side here. Options
of a part, inside its brackets as in ``known(share=0.3)``, are the same in both worlds and are left alone.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from unskew.core.notice import made_of

T = TypeVar("T")
MESSAGES = {"warnings", "reason", "refused", "text", "unasked", "notes", "findings", "trust"}  # fields of records
FLAGS = {
    "models": "--recs",
    "metrics": "--metric",
    "estimators": "--estimator",
    "propensities": "--propensity",
    "protocols": "--protocol",
    "splits": "--split",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "answers", "by", "candidates", "columns", "detect", "drop_seen", "duplicates", "engine", "feedback",
        "fixed_relevance", "force", "in_sample", "interval", "invalid", "item_features", "items", "level",
        "mcar", "memory", "min_users", "not_items", "not_users", "outcome", "per_user", "propensity", "refit", "refits",
        "refused", "relevant", "repeats", "replicates", "rounds", "sample", "sample_size", "seed", "seen",
        "share", "size", "split", "store", "strategy", "target", "threads", "train", "uniform",
        "user_features", "users", "users_are", "workers",
    )
}  # fmt: skip
CALLS = {"read_predictions(…)": "--predictions name=FILE"}  # what is an option here, and a function in Python

_VALUE = r"""…|True|'[^'\n]*'|"[^"\n]*"|\[[^\]\n]*\]|\{[^}\n]*\}|-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\.?\w)"""
_PART = r"\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # snips(over=list), clipped(known(share=0.3), at=0.1)
_TEXT = re.compile(rf"{_PART}|(?<![\w.'\"/=-])(?P<name>{'|'.join(FLAGS)})=(?P<value>{_VALUE})")
_PLAIN = re.compile(r"[\w@.,:/+=-]+")  # what a shell takes as it is


def with_flags(text: str) -> str:
    """A message in the words of the command line."""
    found, end, joins = "", 0, False
    for match in _TEXT.finditer(text):
        between, name, value = text[end : match.start()], match["name"], match["value"]
        if name is None:
            shown = CALLS.get(match[0], match[0])
        else:
            try:
                shown = _option(FLAGS[name], value)
            except (SyntaxError, ValueError):  # a name of the user's that only looks like Python
                shown = match[0]
            between = " " if joins and between == ", " and value != "…" else between
        joins, end = name is not None and value != "…", match.end()
        found += between + shown
    return found + text[end:]


def _option(flag: str, value: str) -> str:
    """``--flag value`` as one would type it."""
    if value in ("…", "True"):
        return flag
    read = literal_eval(value)
    if isinstance(read, list):
        return " ".join(f"{flag} {_quoted(str(each))}" for each in read)
    if isinstance(read, dict):
        return f"{flag} {_quoted(','.join(f'{key}={each}' for key, each in read.items()))}"
    return f"{flag} {_quoted(value if isinstance(read, int | float) else str(read))}"


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else f"'{text}'"


def messages_with_flags(value: T, *, message: bool = False) -> T:
    """A result, a comparison or an audit with its messages in the words of the command line."""
    found: Any = value
    if isinstance(value, str):
        found = made_of(with_flags(value), value) if message else value
    elif is_dataclass(value) and not isinstance(value, type):
        texts = {field.name: getattr(value, field.name) for field in fields(value)}
        found = replace(value, **messages_with_flags(texts))
    elif isinstance(value, Mapping):
        found = {name: messages_with_flags(item, message=name in MESSAGES) for name, item in value.items()}
    elif isinstance(value, list | tuple):
        found = type(value)(messages_with_flags(item, message=message) for item in value)
    return found  # type: ignore[no-any-return]
