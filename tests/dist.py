"""Builds the wheels of unskew and unskew-papers and tries them as a stranger would: in an empty environment, elsewhere.

    make dist        # or: python tests/dist.py

Wheels are built from copies of the sources, so that nothing of an earlier build gets into them, and only from wheels.
They are kept in ``dist/`` if everything that follows works: each holds all files of its package and no others, unskew
installs with its extra ``report``, ``unskew doctor`` finds everything that is needed, and ``unskew demo`` says what it
should; ``unskew study`` is named as missing before unskew-papers is installed, and works after that.
Standard library only: nothing needs to be installed before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"unskew": ROOT, "unskew_papers": ROOT / "papers"}
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src")
GENERATED = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc", "*.nbc", "*.nbi")
SAYS = "Best by naive: item_knn. Best by snips: challenger. In truth: challenger."


def main() -> None:
    """Build, look inside, install, run; the first thing that is wrong ends it."""
    with tempfile.TemporaryDirectory(prefix="unskew-dist-") as temporary:
        folder = Path(temporary)
        python = environment(folder / "builder")
        wheels = [build(python, place, folder / package, package) for package, place in PACKAGES.items()]
        package, papers = wheels
        try_out(package, papers, folder)
        (ROOT / "dist").mkdir(exist_ok=True)
        for wheel in wheels:
            kept = Path(shutil.copy2(wheel, ROOT / "dist" / wheel.name))
            print(f"dist/{kept.name}: {kept.stat().st_size / 1e6:.1f} MB, installed and tried.")


def build(python: Path, project: Path, folder: Path, package: str) -> Path:
    """A wheel, from a copy of the sources, by an environment that has nothing but pip."""
    sources = folder / "sources"
    sources.mkdir(parents=True)
    for name in SOURCES:
        place = project / name
        if place.is_dir():
            shutil.copytree(place, sources / name, ignore=GENERATED)
        elif place.exists():
            shutil.copy2(place, sources / name)
    run([python, *PIP, "wheel", "--no-deps", "--only-binary=:all:", "-w", folder / "wheels", sources], folder)
    (wheel,) = (folder / "wheels").glob("*.whl")
    contents(wheel, sources / "src", package)
    return wheel


def contents(wheel: Path, source: Path, package: str) -> None:
    """Every file of the package is in the wheel, and nothing else."""
    wanted = {path.relative_to(source).as_posix() for path in (source / package).rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    if found != wanted:
        raise SystemExit(f"{wheel.name}: missing {sorted(wanted - found)}, too many {sorted(found - wanted)}")


def try_out(wheel: Path, papers: Path, folder: Path) -> None:
    """Install it with pinned versions, then ask the doctor and run the demo, far from the clone."""
    python, elsewhere = environment(folder / "user"), folder / "elsewhere"
    elsewhere.mkdir()
    pins = ROOT / "constraints.txt"
    run([python, *PIP, "install", "--only-binary=:all:", "-c", pins, f"{wheel}[report]"], elsewhere)
    unskew = python.with_name(f"unskew{python.suffix}")
    where = run([python, "-c", "import unskew; print(unskew.__file__)"], elsewhere)
    if not where.startswith(str(folder / "user")):
        raise SystemExit(f"unskew was imported from {where.strip()}, not from the wheel")
    print(run([unskew, "doctor"], elsewhere))
    said = run([unskew, "demo", "--html", "report.html"], elsewhere)
    if SAYS not in said:
        raise SystemExit(f"the demo should end with\n  {SAYS}\nand says\n{said}")
    page = (elsewhere / "report.html").read_text(encoding="utf-8")
    if "<svg" not in page or "challenger" not in page:
        raise SystemExit("the demo's page has no chart, or no model")
    missing = subprocess.run([unskew, "study", "--example"], cwd=elsewhere, capture_output=True, text=True)
    if missing.returncode != 2 or "pip install unskew-papers" not in missing.stderr:
        raise SystemExit(f"without unskew-papers, unskew study should name it, and says\n{missing.stderr}")
    run([python, *PIP, "install", "--only-binary=:all:", "-c", pins, papers], elsewhere)
    run([unskew, "study", "--example"], elsewhere)


PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def environment(folder: Path) -> Path:
    """A new virtual environment; its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def run(command: list[str | Path], folder: Path) -> str:
    """What a command prints; it must end well. Nothing of this environment leads it back to the clone."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    done = subprocess.run(command, cwd=folder, env={**inherited, "COLUMNS": "100"}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
