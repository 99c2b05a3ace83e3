"""Does a test hold a sentence of ours? Run tests while every sentence of the package is worded otherwise.

``python -m tests.words.reworded tests/log -x`` loads every module of ``unskew`` with accents on the vowels of all texts
that read like prose (three words or more, no markup), here and in the processes that tests start, and gives the rest to
pytest. What fails holds a wording, and belongs in ``tests/words``.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[2]
PROSE = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]{2,}[,;:]? [a-z]{2,}")
MARKUP = re.compile(r"[<>{}\[\]\\|=]|--|\b(?:SELECT|FROM)\b")
WORD = re.compile(r"(?<![\w.'/@-])[a-z]{4,}(?![\w'/(@-])")
LABELS = re.compile(r"unskew\.studies\.(?!recovery).*")  # rows, columns and claims of committed records
ACCENTS = str.maketrans("aeiou", "áéíóú")
INSTALL = "from tests.words.reworded import install\n\ninstall()\n"


def reworded(text: str) -> str:
    """The text with accents on its longer words; what is no prose stays as it is."""
    return _accented(text) if _is_prose(text) else text


def _is_prose(text: str) -> bool:
    return bool(PROSE.search(text)) and not MARKUP.search(text)


def _accented(text: str) -> str:
    return WORD.sub(lambda word: word[0].translate(ACCENTS), text)


class _Reword(ast.NodeTransformer):
    """All texts but docstrings."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        constants = [part for part in node.values if isinstance(part, ast.Constant)]
        for part in constants if _is_prose("it ".join(str(part.value) for part in constants)) else ():
            part.value = _accented(str(part.value))
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.copy_location(ast.Constant(reworded(node.value)), node) if isinstance(node.value, str) else node


class _Loader(SourceFileLoader):
    """Compiles the reworded source, past the cache of bytecode."""

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError(path)

    def source_to_code(self, data: bytes, path: str) -> CodeType:  # type: ignore[override]
        tree = ast.fix_missing_locations(_Reword().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "unskew" or LABELS.fullmatch(name):
            return None
        spec = PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """From now on modules of ``unskew`` are loaded with other words."""
    sys.meta_path.insert(0, _Finder())


def main() -> int:
    """Run pytest with what it is given."""
    with tempfile.TemporaryDirectory() as hook:
        (Path(hook) / "sitecustomize.py").write_text(INSTALL)
        paths = [hook, str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        given = sys.argv[1:] or ["tests"]
        asked = ["-q", "--ignore=tests/words", *given]
        return subprocess.run([sys.executable, "-m", "pytest", *asked], env=env, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
