"""Text from outside as pages and terminals show it: on one line, nothing in it obeyed, never long, and never alike.

Models, segments and policies are called as their makers like. JSON, CSV and Parquet keep a name in full; here it is
shortened to its head and tail and a number made from the whole of it, so that two long names stay apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from unskew.core.text import without_controls

T = TypeVar("T")

LONGEST_NAME = 100  # characters; canonical strings with all their options are shorter
LONGEST_TEXT = 2_000  # of a sentence that quotes something
_NO_CHARACTERS = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}  # XML does not hold them


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """One line without control characters or reversed writing; of a long text only its head and tail."""
    if len(text) > longest:
        number = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        tail = longest // 4
        text = f"{text[: longest - tail - 10]}…{text[-tail:]} #{number}"
    one_line = text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    return without_controls(one_line).translate(_NO_CHARACTERS)


def shown(names: Iterable[str]) -> dict[str, str]:
    """What each name is shown as; names that would look the same are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name in found:
            continue
        text, place = clean(name, LONGEST_NAME), 1
        candidate = text
        while candidate in taken:
            place += 1
            candidate = f"{text} ({place})"
        found[name] = candidate
        taken.add(candidate)
    return found


def by_kind(specs: Iterable[str]) -> dict[str, str]:
    """What each canonical string is shown as: ``holdout(share=0.2)`` by its kind alone, where no other has the same."""
    named = list(specs)
    kinds = [spec.partition("(")[0] for spec in named]
    called = [kind if kinds.count(kind) == 1 else spec for kind, spec in zip(kinds, named, strict=True)]
    texts = shown(called)
    return {spec: texts[text] for spec, text in zip(named, called, strict=True)}


def tidy(value: T) -> T:
    """The same record with texts that are safe to print."""
    found: Any = value
    if isinstance(value, str):
        found = clean(value)
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{f.name: tidy(getattr(value, f.name)) for f in fields(value)})
    elif isinstance(value, tuple):
        found = tuple(tidy(item) for item in value)
    elif isinstance(value, Mapping):
        found = {tidy(key): tidy(item) for key, item in value.items()}
    return found  # type: ignore[no-any-return]
