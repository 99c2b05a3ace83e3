"""The rooms import upward only, and importing costs only what is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unskew

SOURCE = Path(unskew.__file__).parent
ORDER: tuple[tuple[str, ...], ...] = (
    ("core", "kernels"),
    ("log",),
    ("split",),
    ("sampling",),
    ("propensity",),
    ("outcome",),
    ("metrics",),
    ("estimators",),
    ("inference",),
    ("engine",),
    ("alignment",),
    ("requirement",),
    ("result",),
    ("judging",),
    ("evaluation",),
    ("auditing",),
    ("spark",),
    ("models",),
    ("cross_validation",),
    ("protocols",),
    ("design",),
    ("simulate",),
    ("report",),
    ("cli",),
    ("__main__",),
)
FLOOR = {name: place for place, names in enumerate(ORDER) for name in names}
# Inside functions: what comes out of these rooms shows itself.
EXCEPTIONS = {("result", "report"), ("core", "report")}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    """The room of a module: its folder, or the module itself where it stands at the top."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported(tree: ast.AST, *, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Rooms of ours that a module imports, and whether it does so inside a function; not those for types only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which room is meant"
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names] if base == "unskew" else [base]
        else:
            deeper = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imported(node, inside=deeper)
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "unskew" and len(parts) > 1:
                yield parts[1], inside


def found(path: Path) -> list[tuple[str, bool]]:
    return list(imported(ast.parse(path.read_text(encoding="utf-8"))))


def test_a_room_imports_only_what_lies_below_it() -> None:
    """core, kernels < log < split < … < cli; kernels know nobody."""
    for path in modules():
        room = room_of(path)
        for other, inside in found(path):
            if other == "__version__" or (inside and (room, other) in EXCEPTIONS):
                continue
            told = f"{path.relative_to(SOURCE)}: {room} imports {other}"
            assert room == other or (room != "kernels" and FLOOR[other] < FLOOR[room]), told


def test_every_module_has_a_place() -> None:
    """A new room must be given its place in the order."""
    assert {room_of(path) for path in modules()} <= set(FLOOR)


def loaded(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_unskew_is_quick() -> None:
    """``import unskew`` loads none of the heavy libraries; they come with the first use."""
    heavy = {"numba", "numpy", "polars", "scipy", "altair", "narwhals", "jinja2", "rich", "sklearn", "pandas"}
    assert not heavy & loaded("import unskew")


def test_evaluating_needs_no_statistics_library() -> None:
    """``unskew.evaluate`` loads neither scipy.stats nor sklearn nor anything that draws."""
    there = loaded("import unskew\nunskew.evaluate")
    assert "unskew.evaluation" in there and "numba" in there
    assert (
        not {
            "scipy.special",
            "scipy.sparse",
            "scipy.optimize",
            "scipy.stats",
            "sklearn",
            "altair",
            "jinja2",
            "pandas",
            "matplotlib",
        }
        & there
    )


def test_names_are_found_lazily_and_wrong_ones_are_not() -> None:
    """Everything in ``__all__`` exists; anything else is an AttributeError."""
    for name in unskew.__all__:
        assert getattr(unskew, name) is not None
        assert name in dir(unskew)
    with pytest.raises(AttributeError, match="evaluat"):
        unskew.evaluat  # noqa: B018
