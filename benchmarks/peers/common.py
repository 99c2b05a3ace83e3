"""What the peer scripts share. Standard library only: each script runs in an environment of its own.

A peer is three functions: ``test(folder)`` reads the held-out items into the library's own structure,
``listed(folder, name)`` does the same for one model's lists, and ``metrics(test, listed)`` returns the
metric values by canonical name. The script then measures one of two jobs and prints one JSON line.

    arrays   structures already built → metrics of one list; the median of several, compiled code warmed up
    files    Parquet files → metrics of both lists, once, in a fresh process; imports not counted
"""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

CUTS = (5, 10, 20, 100)
FAMILIES = ("recall", "ndcg", "map")
METRICS = tuple(f"{family}@{k}" for family in FAMILIES for k in CUTS)
MODELS = ("a", "b")

Values = dict[str, float]


def main(
    packages: tuple[str, ...],
    test: Callable[[Path], Any],
    listed: Callable[[Path, str], Any],
    metrics: Callable[[Any, Any], Values],
    differs: Mapping[str, str] | None = None,
) -> None:
    """Measure the job named on the command line, ``FOLDER arrays|files``.

    Args:
        packages: distributions whose versions are reported; the library itself first.
        differs: metric families whose definition differs from ours, and how; their values are not compared.
    """
    folder, job = Path(sys.argv[1]), sys.argv[2]
    if job == "arrays":
        watch = Watch()
        held_out, lists = test(folder), listed(folder, MODELS[0])
        build = watch.read().seconds
        values = metrics(held_out, lists)
        taken = typical(lambda: metrics(held_out, lists))
    else:
        watch, build = Watch(), 0.0
        held_out = test(folder)
        values, _ = (metrics(held_out, listed(folder, name)) for name in MODELS)
        taken = watch.read()
    report(taken, packages, build=build, values=values, differs=dict(differs or {}))


class Taken(NamedTuple):
    """Time by the clock, and of all cores together."""

    seconds: float
    cpu: float


class Watch:
    """Starts when it is made."""

    def __init__(self) -> None:
        self.start = Taken(time.perf_counter(), time.process_time())

    def read(self) -> Taken:
        """The time since the start."""
        return Taken(time.perf_counter() - self.start.seconds, time.process_time() - self.start.cpu)


def typical(job: Callable[[], object]) -> Taken:
    """The medians of three runs, or of as many as fit into a second."""
    runs: list[Taken] = []
    while len(runs) < 3 or sum(run.seconds for run in runs) < 1.0:
        watch = Watch()
        job()
        runs.append(watch.read())
    return Taken(*(statistics.median(taken) for taken in zip(*runs, strict=True)))


def report(taken: Taken, packages: tuple[str, ...], **more: object) -> None:
    """Print what was measured as one JSON line."""
    versions = {name: version(name) for name in packages}
    print(json.dumps({**taken._asdict(), "peak_mb": peak_mb(), "versions": versions, **more}))


def peak_mb() -> float:
    """Peak resident memory of this process.

    ``ru_maxrss`` of a child starts at the size of the process that started it; Linux's ``VmHWM`` does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
