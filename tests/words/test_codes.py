"""Everything that is said has a code that programs may rely on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import unskew

CODED = ("InputError", "RefusedError", "NoHitsError", "Notice")
SOURCE = Path(unskew.__file__).parent
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def codes() -> Iterator[tuple[Path, int, str]]:
    """Every code that is written down in the package."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant) and keyword.value.value:
                    yield path.relative_to(SOURCE), keyword.value.lineno, str(keyword.value.value)


def test_codes_are_in_kebab_case() -> None:
    found = list(codes())
    assert len(found) > 500
    assert [place for place in found if not KEBAB.fullmatch(place[2])] == []


def test_every_error_and_notice_has_a_code() -> None:
    """Of the package's own: whoever raises one elsewhere may leave it out."""
    bare = [
        (str(path.relative_to(SOURCE)), node.lineno)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODED
        if not any(keyword.arg in ("code", None) for keyword in node.keywords)
    ]
    assert bare == []
