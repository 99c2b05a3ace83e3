"""Which tests hold a sentence of ours: three words in a row that also stand in a text of the package.

Messages of assertions do not count.

``python -m tests.words.wording [FOLDER …]`` lists them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts of a module that are no docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    messages = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.msg for part in ast.walk(node.msg)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | messages:
            yield node.lineno, node.value


def _runs(text: str) -> Iterator[str]:
    """Every three words that only blanks part."""
    for piece in re.split(r"[^\w'’ \n-]|\d|_", text.replace("\\", "")):
        words = WORD.findall(piece.lower())
        yield from (" ".join(words[n : n + 3]) for n in range(len(words) - 2))


@cache
def _ours() -> frozenset[str]:
    files = [*(ROOT / "src").rglob("*.py")]
    return frozenset(run for file in files for _, text in _texts(ast.parse(file.read_text())) for run in _runs(text))


def sentences(folder: Path = ROOT / "tests") -> Iterator[tuple[Path, int, str]]:
    """Where tests outside ``tests/words`` hold a sentence of ours: the file, the line, the words."""
    for file in sorted(folder.rglob("test_*.py")):
        if file.is_relative_to(ROOT / "tests" / "words"):
            continue
        for line, text in _texts(ast.parse(file.read_text())):
            if said := [run for run in _runs(text) if run in _ours()]:
                yield file.relative_to(ROOT), line, said[0]


if __name__ == "__main__":
    for place in map(Path, sys.argv[1:] or ["tests"]):
        for found in sentences(ROOT / place):
            print(*found, sep=":")
