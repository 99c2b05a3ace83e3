"""Measure unskew against other libraries on the same work, in one run: ``python benchmarks/run.py``.

Everything is timed in fresh processes, one at a time. A full run is kept in ``results/core.json``, and the page is
written again; runs with ``--quick``, ``--only`` or ``--no-peers`` are for looking, and leave both alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from data import QUICK, Size, ensure
from envs import HERE, PEERS, Peer, python_of
from render import tables
from store import keep, machine, medians, surroundings

TIMEOUT = 300  # seconds per process
PATIENCE = 30  # seconds to spend on repeating a job
IMPORTS = 5

Measured = dict[str, Any]
console = Console(soft_wrap=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small data set, to see that everything runs")
    names = ["ours", *(peer.script for peer in PEERS)]
    parser.add_argument("--only", choices=names, help="measure one library")
    parser.add_argument("--no-peers", action="store_true", help="measure unskew alone")
    arguments = parser.parse_args()

    def wanted(name: str) -> bool:
        return name == arguments.only if arguments.only else name == "ours" or not arguments.no_peers

    size = QUICK if arguments.quick else Size()
    load = os.getloadavg()[0]
    if load > 0.5:
        step(f"[yellow]the machine is busy (load {load:.1f}): times will be too long[/]")
    step(f"data: {size.users:,} users, {size.items:,} items")
    folder = ensure(size)
    results: Measured = {
        "size": asdict(size),
        "timeout": TIMEOUT,
        "peers": {peer.script: measure_peer(peer, folder) for peer in PEERS if wanted(peer.script)},
        "ours": measure_ours(folder) if wanted("ours") else {},
        "statistic": "the median",
        **machine(),
    }
    for section in tables(results):
        table = Table(*section.header, title=section.title, title_justify="left")
        for row in section.rows:
            table.add_row(*row)
        console.print(table)

    if arguments.quick or arguments.only or arguments.no_peers:
        step("a partial run: results/core.json and docs/benchmarks.md stay as they are")
        return
    keep("core", results)


def measure_peer(peer: Peer, folder: Path) -> Measured:
    """Both jobs of a peer. The first leaves compiled code behind, so that the second does not pay for it."""
    step(f"{peer.title}: environment")
    command = [str(python_of(peer)), "-m", peer.module, str(folder)]
    measured: Measured = {name: getattr(peer, name) for name in ("title", "bar", "by_hand", "same_work")}
    plan: dict[str, Callable[[], Measured]] = {
        "arrays": lambda: run([*command, "arrays"]),
        "files": lambda: typical(lambda: run([*command, "files"])),
    }
    for job, measure in plan.items():
        measured[job] = measure()
        step(f"{peer.title}: {job} {brief(measured[job])}")
    return measured


def measure_ours(folder: Path) -> Measured:
    """All jobs of unskew; compiled code is cached in a folder that is empty when ``cold`` starts."""
    measured: Measured = {}
    with tempfile.TemporaryDirectory() as cache:

        def job(name: str) -> Measured:
            command = [sys.executable, str(HERE / "ours.py"), str(folder), name]
            return run(command, {"NUMBA_CACHE_DIR": cache})

        plan: dict[str, Callable[[], Measured]] = {
            "import": lambda: medians([job("import") for _ in range(IMPORTS)], ("seconds", "ready", "peak_mb")),
            "cold": lambda: job("normal"),
            "second": lambda: job("normal"),
            "files": lambda: typical(lambda: job("normal")),
            "bootstrap": lambda: (job("bootstrap"), typical(lambda: job("bootstrap")))[1],
            "arrays": lambda: (job("kernels"), job("kernels"))[1],
        }
        for name, measure in plan.items():
            measured[name] = measure()
            step(f"unskew: {name} {brief(measured[name])}")
    return measured


def typical(measure: Callable[[], Measured]) -> Measured:
    """The medians of up to three runs; slow ones are not repeated."""
    start = time.perf_counter()
    found = [measure()]
    while len(found) < 3 and time.perf_counter() - start < PATIENCE and "error" not in found[-1]:
        found.append(measure())
    done = [one for one in found if "error" not in one]
    return medians(done, ("seconds", "cpu", "peak_mb", "wall")) if done else found[-1]


def run(command: list[str], env: Mapping[str, str] | None = None) -> Measured:
    """Run a process that prints one JSON line; ``wall`` is its whole life, interpreter start included."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=HERE, env={**surroundings(), **(env or {})}, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return {"error": f"more than {TIMEOUT} s"}
    wall = time.perf_counter() - start
    if done.returncode:
        return {"error": (done.stderr.strip() or f"exit status {done.returncode}").split("\n")[-1]}
    measured: Measured = json.loads(done.stdout.strip().split("\n")[-1])
    return measured | {"wall": wall}


def brief(measured: Measured) -> str:
    return f"[red]{measured['error']}[/]" if "error" in measured else f"{measured['seconds']:.3f} s"


def step(text: str) -> None:
    console.print(f"[dim]{datetime.now():%H:%M:%S}[/] {text}", highlight=False)


if __name__ == "__main__":
    main()
