"""What unskew finds on this machine: one ``Finding`` for each thing that it needs, or can make use of.

Required packages are read from unskew's own metadata, so that this list cannot differ from what pip installs. Extras
are those that this version of the code knows (``EXTRAS``): metadata of an editable install stay as they were when it
was made, and may lack some. No other program is run: the version of Java is read from the file ``release`` of its
folder.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import unskew
from unskew.core.errors import MissingExtraError
from unskew.core.text import plain, plain_path

PYTHON = (3, 11)
SCRATCH = 1_000_000_000  # bytes of disk below which sorting large files may fail
MEMORY = 500_000_000  # bytes with which the demo runs
MODULES = {"scikit-learn": "sklearn", "vl-convert-python": "vl_convert", "mlflow-skinny": "mlflow"}  # others are alike
EXTRAS = {
    "report": ("altair", "vl-convert-python"),
    "learn": ("scikit-learn",),
    "mlflow": ("mlflow-skinny",),
    "pandas": ("pandas",),
    "files": ("pyarrow", "duckdb"),
    "implicit": ("implicit",),
    "cornac": ("cornac",),
    "spark": ("pyspark", "pyarrow", "pandas"),
}  # of pyproject.toml, less those for work on unskew itself
TOOLS = ("dev",)
_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([\d.]+))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


@dataclass(frozen=True)
class Finding:
    """One line of ``unskew doctor``.

    Args:
        kind: the heading that it stands under.
        name: what was looked for.
        fine: whether it is as it should be; None where it is optional and absent.
        found: what was found.
        remedy: what to do, where something is wrong or absent.
    """

    kind: str
    name: str
    fine: bool | None
    found: str
    remedy: str = ""


def findings() -> list[Finding]:
    """Everything, the basics first; without these nothing else can be looked at but extras."""
    basics = list(_basics())
    return [*basics, *_machine(), *_extras(), *_java(), *_data_sets()] if works(basics) else [*basics, *_extras()]


def works(found: Iterable[Finding]) -> bool:
    """Whether unskew can do its work: nothing required is missing, too old or broken."""
    return all(each.fine is not False for each in found)


def _basics() -> Iterator[Finding]:
    """unskew itself, Python, required packages, and a kernel that is compiled and run."""
    yield Finding("Basics", "unskew", True, f"{unskew.__version__} in {plain_path(Path(unskew.__file__).parent)}")
    fine = sys.version_info[:2] >= PYTHON
    least = ".".join(map(str, PYTHON))
    yield Finding(
        "Basics",
        "Python",
        fine,
        f"{platform.python_version()} on {platform.platform()}",
        f"Use Python {least} or newer.",
    )
    if (stale := _stale()) is not None:
        yield stale
    required = _required(None)
    for name, least in required:
        yield _package(name, least)
    if not required:
        remedy = "Install unskew in its clone with: pip install -e ."
        yield Finding("Basics", "required packages", None, "unknown: unskew runs without having been installed", remedy)
    yield _compiler()


def _stale() -> Finding | None:
    """Metadata that are not of this code, as an editable install has them after the code has moved on."""
    if not _metadata("Requires-Dist"):  # never installed, which is said below
        return None
    there = {extra: {name for name, _ in _required(extra)} for extra in _metadata("Provides-Extra")}
    if {extra: names for extra, names in there.items() if extra not in TOOLS} == {
        extra: {*names} for extra, names in EXTRAS.items()
    }:
        return None
    remedy = "Required packages may be listed wrongly. In its clone run: pip install -e ."
    return Finding("Basics", "metadata", None, "installed metadata are of another version of unskew", remedy)


def _package(name: str, least: str) -> Finding:
    """A required package: installed, new enough, and it can be imported."""
    remedy = f"Install it with: pip install '{name}{f'>={least}' if least else ''}'"
    try:
        there = version(name)
        import_module(MODULES.get(name, name.replace("-", "_")))
    except PackageNotFoundError:
        return Finding("Basics", name, False, "not installed", remedy)
    except Exception as problem:
        return Finding("Basics", name, False, f"cannot be imported: {plain(problem)}", remedy)
    if _numbers(there) < _numbers(least):
        return Finding("Basics", name, False, f"{there}; {least} or newer is needed", remedy)
    return Finding("Basics", name, True, there)


def _compiler() -> Finding:
    """Whether kernels compile, and whether what is compiled can be kept."""
    name = "compiled kernels"
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            import numpy as np

            from unskew.kernels.selection import smallest

            right = smallest(np.array([3.0, 1.0, 2.0]), 1) == 2.0
    except Exception as problem:
        return Finding("Basics", name, False, f"do not compile: {plain(problem)}", "Reinstall numba and llvmlite.")
    if not right:
        return Finding("Basics", name, False, "compile, and give a wrong number", "Reinstall numba and llvmlite.")
    place: Any = getattr(smallest, "_cache", None)
    kept = getattr(place, "_enabled", False)
    found = [f"work, and are kept in {plain_path(place.cache_path)}" if kept else "work, but are not kept"]
    found += [plain(each.message, 300) for each in said if "compiled functions" in str(each.message)]
    return Finding("Basics", name, True, ": ".join(found))


def _machine() -> Iterator[Finding]:
    """Cores, BLAS, memory, and the disk for temporaries."""
    from unskew.core.memory import amount, available
    from unskew.core.threads import usual

    limits = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if name.endswith("_NUM_THREADS")]
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield Finding("Machine", "threads", True, ", ".join([f"{usual()} ({own} cores may be used)", *map(plain, limits)]))
    yield Finding("Machine", "BLAS", True, _blas())
    free = available()
    remedy = "Close other programs, or take a machine (container, ulimit -v) with more."
    yield Finding("Machine", "memory", free >= MEMORY, f"{amount(free)} available", remedy)
    place = Path(tempfile.gettempdir())
    room = shutil.disk_usage(place).free
    remedy = "Name another disk with TMPDIR=FOLDER."
    yield Finding(
        "Machine", "disk for temporaries", room >= SCRATCH, f"{amount(room)} free in {plain_path(place)}", remedy
    )


def _blas() -> str:
    """The library of linear algebra that numpy was built with."""
    import numpy as np

    try:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return plain(f"{built['name']} {built['version']}")
    except (KeyError, TypeError):
        return "unknown"


def _extras() -> Iterator[Finding]:
    """Every extra: all of its packages, or how to install them."""
    for extra, names in EXTRAS.items():
        there, lacking = [], []
        for name in names:
            try:
                there.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                lacking.append(name)
        if lacking:
            remedy = str(MissingExtraError("", extra)).partition(". ")[2]
            yield Finding("Extras", extra, None, f"not installed: {', '.join(lacking)}", remedy)
        else:
            yield Finding("Extras", extra, True, ", ".join(there))


def _java() -> Iterator[Finding]:
    """Java, which Spark needs."""
    home = os.environ.get("JAVA_HOME")
    program = Path(home, "bin", "java") if home else Path(shutil.which("java") or "")
    if not program.is_file():
        yield Finding("Extras", "Java", None, "not found", "For Spark: install Java 17, or set JAVA_HOME.")
        return
    release = program.resolve().parents[1] / "release"
    text = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    yield Finding(
        "Extras", "Java", True, f"{plain(found[1]) if found else 'of unknown version'} in {plain_path(program)}"
    )


def _data_sets() -> Iterator[Finding]:
    """The named data sets."""
    from unskew.log.datasets import NAMES, folder_of, source_of

    for name in NAMES:
        folder = folder_of(name)
        if folder is None:
            get = "fetch" if source_of(name).downloads else "show"
            yield Finding("Data sets", name, None, "not here", f"unskew data {get} {name}")
        else:
            yield Finding("Data sets", name, True, plain_path(folder))


def _required(extra: str | None) -> list[tuple[str, str]]:
    """Packages and their least versions: of an extra, or those that are always needed."""
    found = []
    for line in _metadata("Requires-Dist"):
        marker, asked = _EXTRA.search(line), _REQUIREMENT.match(line)
        if asked is not None and (marker[1] if marker else None) == extra and asked[1] != "unskew":
            found.append((asked[1], asked[2] or ""))
    return found


def _metadata(field: str) -> list[str]:
    """A field of unskew's own metadata; nothing where it runs from a folder that was never installed."""
    try:
        return distribution("unskew").metadata.get_all(field) or []
    except PackageNotFoundError:
        return []


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version: 2.10.1rc1 → (2, 10, 1)."""
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
