"""What all workloads share: fresh processes, results in ``results/NAME.json``, and under which conditions they arose.

A result is a dictionary that holds, beside what was measured, the fields of ``machine()``: without them a number of
seconds says nothing. A workload ends with ``keep(NAME, found)``, which also writes docs/benchmarks.md again.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
THREADS = 2  # cores that every process of the suite may use, or all where there are fewer
CONDITIONS = ("day", "processor", "cores", "threads", "memory_gib", "system", "python", "packages", "load", "load_when")
PACKAGES = ("unskew", "numpy", "numba", "polars")  # of our own environment
UNITS = ("seconds", "cpu", "peak_mb")

Measured = dict[str, Any]


def machine() -> Measured:
    """Day, machine and load: called when a workload has ended."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "day": time.strftime("%Y-%m-%d"),
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": len(usable()),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "load": round(os.getloadavg()[0], 1),
    }


def usable() -> set[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


def fix_threads() -> int:
    """Keep this process and its children on ``THREADS`` cores; where the system cannot, on all of them."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(usable())[:THREADS])
    return len(usable())


def busy(found: Mapping[str, Any]) -> bool:
    """Whether others used the machine: the load exceeds what a workload's own threads explain."""
    return bool(found["load"] > found.get("threads", found.get("cores", THREADS)) + 1)


def conditions(found: Mapping[str, Any]) -> str:
    """When and where something was measured, as far as it was written down."""
    names = [str(found[name]) for name in ("processor", "system") if name in found]
    cores = f"{found['cores']} cores" if "cores" in found else ""
    if found.get("threads", found.get("cores")) != found.get("cores"):
        cores += f", {found['threads']} of them used"
    memory = f"{found['memory_gib']} GiB" if "memory_gib" in found else ""
    python = f"Python {found['python']}" if "python" in found else ""
    load = f"load {found['load']:.1f} when it {found.get('load_when', 'ended')}"
    load += " (a busy machine: others used it)" if busy(found) else ""
    return f"{found['day']}: " + ", ".join(part for part in (*names, cores, memory, python, load) if part)


def versions(*jobs: Mapping[str, Any]) -> str:
    """The libraries that took part: the first package that each job names, or all those of a single job."""
    named = [list(job["versions"].items())[: None if len(jobs) == 1 else 1] for job in jobs]
    return ", ".join(dict.fromkeys(f"{name} {version}" for packages in named for name, version in packages))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table."""
    return ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rows)]


def medians(runs: Sequence[Measured], units: Sequence[str] = UNITS) -> Measured:
    """The first run, with the medians over all runs of what was measured."""
    found = {unit: statistics.median(run[unit] for run in runs) for unit in units if unit in runs[0]}
    return {**runs[0], **found, "runs": len(runs)}


def surroundings() -> dict[str, str]:
    """The variables of a measured process: modules may keep their bytecode, as installed packages have it.

    pip compiles what it installs, so that every other library has its bytecode; from a checkout, where
    ``PYTHONDONTWRITEBYTECODE`` is set, each process would compile all modules of unskew anew.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def alone(python: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Measured:
    """One job in a fresh process: the JSON of its last line."""
    environment = {**surroundings(), "OPENBLAS_NUM_THREADS": "1", **(env or {})}  # nobody's sweeps use threads of BLAS
    environment.pop("OMP_NUM_THREADS", None)  # everybody may use all cores
    done = subprocess.run([str(python), *arguments], capture_output=True, text=True, cwd=HERE, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def stored(name: str) -> Measured | None:
    """What was kept under this name, or nothing."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def keep(name: str, found: Mapping[str, Any]) -> None:
    """Store a result, whole or not at all, and write the page again."""
    import page

    path = RESULTS / f"{name}.json"
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)
    print(f"wrote {path.relative_to(HERE.parent)}", flush=True)
    page.renew()
