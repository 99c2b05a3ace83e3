"""Do the papers' experiments still give the records of ``docs/reproduction``? Each is run again, and compared to 1e-9.

    python -m tests.golden.reproduction [--minutes 10] [WORD …]

Every experiment runs as often as its record says, without what an earlier run stored. One that takes longer than
``--minutes`` is stopped and named as not compared. The exit code is 1 where a number differs. In ``make verify``.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproduction"
KEY = ("experiment", "row", "column")
NUMBERS = ("paper", "ours", "se", "runs", "verdict", "their_se", "paired_se")


def again(known: dict[str, Any], minutes: float) -> dict[str, Any] | None:
    """The record of a fresh run, or nothing where it takes too long."""
    runs = max((record["runs"] for record in known["records"]), default=1)
    with tempfile.TemporaryDirectory(prefix="unskew-again-") as folder:
        command = ["reproduce", known["study"], known["experiment"], "--runs", str(runs), "--quiet"]
        places = ["--store", f"{folder}/store", "--json", f"{folder}/records.json"]
        run = subprocess.Popen([sys.executable, "-m", "unskew", *command, *places], cwd=folder)
        try:
            run.wait(minutes * 60.0)
        except subprocess.TimeoutExpired:
            return None
        finally:
            run.terminate()
            run.wait()
        if run.returncode:
            raise SystemExit(f"unskew {' '.join(command)} failed")
        found: dict[str, Any] = json.loads((Path(folder) / "records.json").read_text(encoding="utf-8"))
        return found


def differences(known: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[str]:
    """Where a number or a verdict is not what was recorded."""
    old, new = ({tuple(record[name] for name in KEY): record for record in records} for records in (known, found))
    lines = [f"{' / '.join(key)}: {'gone' if key in old else 'new'}" for key in old.keys() ^ new.keys()]
    for key in old.keys() & new.keys():
        lines += [
            f"{' / '.join(key)}: {name} recorded {old[key][name]}, found {new[key][name]}"
            for name in NUMBERS
            if not _same(old[key][name], new[key][name])
        ]
    return sorted(lines)


def _same(a: Any, b: Any) -> bool:
    numbers = all(isinstance(value, int | float) for value in (a, b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) if numbers else bool(a == b)


def main(arguments: list[str]) -> int:
    """1 where an experiment gives other numbers."""
    parser = ArgumentParser(prog="python -m tests.golden.reproduction", description="Run recorded experiments again.")
    parser.add_argument("--minutes", type=float, default=10.0, help="the longest that an experiment may take")
    parser.add_argument("words", nargs="*", help="only records whose names hold one of these")
    asked = parser.parse_args(arguments)
    bad = 0
    for path in sorted(FOLDER.glob("*.json")):
        if asked.words and not any(word in path.stem for word in asked.words):
            continue
        known, begun = json.loads(path.read_text(encoding="utf-8")), time.perf_counter()
        found = again(known, asked.minutes)
        took = f"{time.perf_counter() - begun:.0f} s"
        if found is None:
            print(f"{path.stem}: not compared, longer than {asked.minutes:g} minutes", flush=True)
            continue
        lines = differences(known["records"], found["records"])
        bad += bool(lines)
        print(f"{path.stem}: {'differs' if lines else 'the same'} ({took})", *lines[:10], sep="\n    ", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
