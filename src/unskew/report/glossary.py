"""What the columns of results, comparisons, audits and checks mean: ``glossary.toml``, a line for each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from unskew.report.document import Glossary, Section


def glossary(*kinds: str, also: tuple[str, ...] = ()) -> Section:
    """The terms of some kinds of document, each once, and those of results that a document shows too."""
    terms = _terms()
    found: dict[str, str] = {}
    for kind in kinds:
        found |= {term: meaning for term, meaning in terms[kind].items() if term not in found}
    found |= {term: terms["result"][term] for term in also}
    return Section("glossary", "Glossary", (Glossary(tuple(found.items())),))


@cache
def _terms() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("unskew.report").joinpath("glossary.toml").read_text(encoding="utf-8"))
