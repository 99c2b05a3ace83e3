"""What never depends on the numbers, from ``texts.toml``: headings, leads and glossaries."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from unskew.report.document import Block, Glossary, Section


def section(name: str, *blocks: Block, lead: str = "lead", said: str = "") -> Section:
    """A section of a document, by its name there (``audit.tail``).

    Args:
        lead: which of its leads, where it has several.
        said: a lead that depends on the numbers.
    """
    document, _, anchor = name.partition(".")
    text = _texts()["sections"][document][anchor]
    return Section(anchor, text["title"], blocks, said or text.get(lead, ""), text.get("menu", ""))


def glossary(*kinds: str, also: tuple[str, ...] = ()) -> Section:
    """The terms of some kinds of document, each once, and those of results that a document shows too."""
    terms = _texts()["glossary"]
    found: dict[str, str] = {}
    for kind in kinds:
        found |= {term: meaning for term, meaning in terms[kind].items() if term not in found}
    found |= {term: terms["result"][term] for term in also}
    return Section("glossary", "Glossary", (Glossary(tuple(found.items())),))


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(files("unskew.report").joinpath("texts.toml").read_text(encoding="utf-8"))
