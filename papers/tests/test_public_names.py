"""The papers use unskew as anybody can: names that a package lists in ``__all__``, and nothing behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import unskew_papers

SOURCE = Path(unskew_papers.__file__).parent


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name of unskew that a module imports, with where it is taken from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (("", alias.name) for alias in node.names)


def private(path: Path) -> list[str]:
    """What a module imports of unskew that is no public name."""
    found = []
    for module, name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if not module and name.startswith("unskew."):
            found.append(name)
        if module == "unskew" or module.startswith("unskew."):
            door = import_module(module)
            behind = module.count(".") > 1 and not hasattr(door, "__path__")
            if behind or name not in (*door.__all__, "__version__"):
                found.append(f"{module}.{name}")
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_papers_import_public_names(path: Path) -> None:
    """What they lack, the public names lack."""
    assert private(path) == []


def test_what_is_private_is_found(tmp_path: Path) -> None:
    """Modules behind a package, and names that it does not list."""
    module = tmp_path / "module.py"
    module.write_text(
        "import unskew.log.log\nfrom unskew.log import interactions, Log\nfrom unskew.log.log import Log\n"
    )
    assert private(module) == ["unskew.log.log", "unskew.log.interactions", "unskew.log.log.Log"]
