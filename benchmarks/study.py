"""What the study of gs23 takes at its own size: ``python benchmarks/study.py [--seeds N] [--keep FOLDER] [--memory]``.

81 models × 20 seeds × 3 estimators × 5 cut-offs, with all intervals and verdicts, on 15,400 users × 1,000 items (a
simulated world of Yahoo! R3's size), from nothing: ``unskew reproduce gs23 simulated`` with an empty store and two
processes. Seconds, seconds of all cores together, and the memory of all processes together, looked
at twice a second. The paper says about 160 hours on 16 cores.

A full run is kept in ``results/study.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from promise import GIB as IN_GIB
from promise import MINUTES as IN_MINUTES
from promise import Promise, at_least, at_most
from store import Measured, busy, conditions, keep, machine, stored, table
from workloads import STUDIES

PAPER_CORES, PAPER_HOURS = 16, 160
MINUTES, GIB, TIMES = 60.0, 8.0, 1_000.0  # at most, at most, at least
SEEDS = 20


def memory_of(pid: int) -> int:
    """Bytes that a process and all its children hold; what they share counts once for each that maps it."""
    total = 0
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for thread in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())
        except OSError:  # it has ended meanwhile
            continue
    return total


def measure(seeds: int, folder_kept: str | None) -> dict[str, Any]:
    """One run from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["simulated", "--runs", str(seeds), "--store", folder_kept or folder, "--workers", "2"]
        out = Path(folder, "out.json")
        command = [sys.executable, "-m", "unskew", "reproduce", "gs23", *asked, "--json", str(out), "--quiet"]
        started, most = time.perf_counter(), 0
        with subprocess.Popen(command) as run:
            while run.poll() is None:
                most = max(most, memory_of(run.pid))
                time.sleep(0.5)
        if run.returncode:
            sys.exit(run.returncode)
        seconds = time.perf_counter() - started
        parts = {record["experiment"].partition("τ, ")[2] for record in json.loads(out.read_text())["records"]}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        **machine(),
        "data": next(part for part in sorted(parts, reverse=True) if part),
        "seeds": seeds,
        "seconds": seconds,
        "cpu": used.ru_utime + used.ru_stime,
        "peak_mb": most / 2**20,
    }


def _measured(found: Measured) -> tuple[float, float, float]:
    """Minutes, GiB, and how many times less core time than the paper's."""
    return found["seconds"] / 60, found["peak_mb"] / 1024, PAPER_CORES * PAPER_HOURS * 3600.0 / found["cpu"]


def promises(found: Measured | None) -> list[Promise]:
    """Time and memory of the whole study."""
    minutes, gib, times = _measured(found) if found else (None, None, None)
    others = found is not None and busy(found)
    return [
        at_most("the study of gs23 at its size", MINUTES, minutes, IN_MINUTES, busy=others),
        at_most("the study of gs23: memory of all processes", GIB, gib, IN_GIB),
        at_least(f"the study of gs23, core time beside the paper's {PAPER_CORES} × {PAPER_HOURS} hours", TIMES, times),
    ]


def sections(found: Measured) -> dict[str, str]:
    """A run in words and a table."""
    minutes, gib, times = _measured(found)
    again = f" (a later run of {found['peak_seeds']} seeds)" if "peak_seeds" in found else ""
    rows = (
        ("minutes", f"{minutes:.1f}"),
        ("minutes of cores", f"{found['cpu'] / 60:.1f}"),
        (f"memory of all processes{again}, GiB", f"{gib:.1f}"),
        (f"times less core time than the paper's {PAPER_CORES} × {PAPER_HOURS} hours", f"{times:,.0f}"),
    )
    lines = [
        "### A study of 81 models on 20 splits",
        "",
        f"`python benchmarks/study.py` on {conditions(found)}.",
        "",
        f"`unskew reproduce gs23 simulated` from nothing, on {found['data']}: 81 models × {found['seeds']} seeds × 3 "
        "estimators × 5 cut-offs, every model fitted and ranked, all intervals, and verdicts on all 3,240 pairs of "
        "models; two processes.",
        "",
        *table(("", ""), rows),
        "",
        "The paper's machine and code are others, and what it does besides is not known: the factor says how long one "
        "waits, not which code is better. How long each family trains: [families](model_families.md).",
    ]
    return {STUDIES: "\n".join(lines)}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=SEEDS)
    asked.add_argument("--keep", help="a folder that does not exist yet, where fits and answers stay")
    asked.add_argument("--memory", action="store_true", help="measure memory anew, and keep the times of the last run")
    given = asked.parse_args()
    if given.keep and Path(given.keep).exists():
        sys.exit(f"{given.keep} is there already, and what lies in it would not be made again.")
    found = measure(given.seeds, given.keep)
    if given.memory:
        times = stored("study")
        if times is None:
            sys.exit("there are no times of an earlier run: run without --memory first.")
        found = times | {"peak_mb": found["peak_mb"], "peak_seeds": given.seeds}
    print(sections(found)[STUDIES])
    if given.seeds == SEEDS or given.memory:
        keep("study", found)


if __name__ == "__main__":
    main()
