"""What the study of gs23 takes at its own size: ``python benchmarks/study.py [--seeds N] [--keep FOLDER] [--memory]``.

81 models × 20 seeds × 3 estimators × 5 cut-offs, with all intervals and verdicts, on 15,400 users × 1,000 items
(Yahoo! R3 where there is a copy, else a world of its size), from nothing: ``unskew reproduce gs23 table1`` with an
empty store and two processes. Seconds, seconds of all cores together, and the memory of all processes together, looked
at twice a second. The paper says about 160 hours on 16 cores.

A full run is stored in ``results/study.json``, and docs/study_benchmarks.md is written from it.
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

from envs import HERE
from factorisation import busy, machine

RESULTS = HERE / "results" / "study.json"
PAGE = HERE.parent / "docs" / "study_benchmarks.md"
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


def measure(seeds: int, keep: str | None) -> dict[str, Any]:
    """One run from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["table1", "--runs", str(seeds), "--store", keep or folder, "--workers", "2"]
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


def page(found: dict[str, Any]) -> str:
    """The page of a run."""
    theirs = PAPER_CORES * PAPER_HOURS * 3600.0
    times, gib = theirs / found["cpu"], found["peak_mb"] / 1024
    again = f" (a later run of {found['peak_seeds']} seeds)" if "peak_seeds" in found else ""
    lines = [
        "# A study of 81 models on 20 splits",
        "",
        f"Made by `python benchmarks/study.py` on {found['day']}: {found['cores']} cores, load {found['load']} when it "
        f"ended{busy(found)}.",
        "",
        f"`unskew reproduce gs23 table1` from nothing, on {found['data']}: 81 models × {found['seeds']} seeds × 3 "
        "estimators × 5 cut-offs, every model fitted and ranked, all intervals, and verdicts on all 3,240 pairs of "
        "models; two processes.",
        "",
        "| | | asked for |",
        "| --- | ---: | ---: |",
        f"| minutes | {found['seconds'] / 60:.1f} | at most {MINUTES:g} |",
        f"| minutes of cores | {found['cpu'] / 60:.1f} | |",
        f"| memory of all processes{again}, GiB | {gib:.1f} | at most {GIB:g} |",
        f"| times less core time than the paper's {PAPER_CORES} × {PAPER_HOURS} hours | {times:,.0f} | over "
        f"{TIMES:,.0f} |",
        "",
    ]
    missed = [
        text
        for text, bad in (
            ("the time", found["seconds"] > 60 * MINUTES),
            ("the memory", gib > GIB),
            ("the core time", times < TIMES),
        )
        if bad
    ]
    lines += [f"Missed: {', '.join(missed)}." if missed else "All are met.", ""]
    lines += [
        "The paper's machine and code are others, and what it does besides is not known: the factor says how long one "
        "waits, not which code is better. How long each family trains: [families](model_families.md).",
        "",
    ]
    return "\n".join(lines)


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
        told = {"peak_mb": found["peak_mb"], "peak_seeds": given.seeds}
        found = json.loads(RESULTS.read_text()) | told
    print(page(found))
    if given.seeds == SEEDS or given.memory:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
