"""How big the house is: lines, files and tokens of each tree, ``noqa``, names per door. It may only become smaller.

``python -m tests.budget`` prints what there is and lowers ``tests/budget.toml`` to it; it raises no number.
"""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / "tests" / "budget.toml"
TREES = ("src", "tests", "benchmarks", "papers")
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SLACK = 0.02  # a budget that is further above what there is than this has not been lowered


def measured() -> dict[str, dict[str, int]]:
    """Every number of ``tests/budget.toml``, counted."""
    found = {tree: _size(ROOT / tree) for tree in TREES if (ROOT / tree).exists()}
    sources = [path.read_text() for tree in found for path in (ROOT / tree).rglob("*.py")]
    doors = [len(_exported(path)) for path in (ROOT / "src").rglob("__init__.py")]
    mark = "# " + "noqa"
    return found | {"all": {"noqa": sum(text.count(mark) for text in sources), "names-per-door": max(doors)}}


def budget() -> dict[str, dict[str, int]]:
    """What is allowed."""
    return tomllib.loads(BUDGET.read_text())


def tokens(text: str) -> int:
    """Tokens of a module without comments, docstrings and layout."""
    docs = set(_documented(ast.parse(text)))
    read = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type not in LAYOUT and not (token.type == tokenize.STRING and token.start[0] in docs) for token in read
    )


def _size(tree: Path) -> dict[str, int]:
    texts = [path.read_text() for path in tree.rglob("*.py") if ".envs" not in path.parts]
    return {
        "files": len(texts),
        "lines": sum(text.count("\n") for text in texts),
        "tokens": sum(tokens(text) for text in texts),
    }


def _documented(tree: ast.Module) -> Iterator[int]:
    """The lines at which docstrings begin."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno


def _exported(path: Path) -> list[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [ast.unparse(name) for name in getattr(node.value, "elts", [])]
    return []


def _written(numbers: dict[str, dict[str, int]]) -> Iterator[str]:
    yield "# Most that each tree may have: lowered by `python -m tests.budget`, never raised (tests/test_budget.py)."
    for tree, sizes in numbers.items():
        yield f"\n[{tree}]"
        yield from (f"{name.replace(' ', '-')} = {size}" for name, size in sizes.items())


def main() -> None:
    """Lower the budget to what there is."""
    now, allowed = measured(), budget() if BUDGET.exists() else {}
    lowered = {
        tree: {name: min(size, allowed.get(tree, {}).get(name, size)) for name, size in sizes.items()}
        for tree, sizes in now.items()
    }
    BUDGET.write_text("\n".join(_written(lowered)) + "\n")
    for tree, sizes in now.items():
        print(tree, *(f"{name} {size:,} of {lowered[tree][name]:,}" for name, size in sizes.items()), sep="\t")


if __name__ == "__main__":
    main()
