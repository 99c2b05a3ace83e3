"""Has something become slower? ``make bench-quick``, or ``python benchmarks/quick.py [--only NAME …] [--record]``.

Each job (``quick_jobs.py``) and its reference take turns in one process. What counts is

    ratio = median over rounds of  CPU seconds of ours / CPU seconds of the reference

CPU seconds hardly feel what others do on the machine, and what they feel (caches, clock rates) both feel alike. Rounds
go on until the median is known to ``PRECISE``, or ``MOST`` have been run, or ``PATIENCE`` has ended. A job is slower if
its ratio exceeds the recorded one (``results/quick.json``) by more than ``TOLERANCE``, and again so when it is measured
once more; then the exit status is 1. ``--record`` keeps the ratios of this machine and this state of the code;
``--file`` names another record, as to compare two states of the code on a machine that has none.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of BLAS that wait use CPU seconds

from rich.console import Console
from rich.table import Table

from store import RESULTS, fix_threads, machine

if TYPE_CHECKING:
    from quick_jobs import Pair

RECORD = RESULTS / "quick.json"
USERS = 20_000
TOLERANCE = 1.3  # three runs beside other work (load 20) differed by up to 1.12
LEAST, MOST, PRECISE = 5, 25, 0.02  # rounds, and the standard error of a median as a share of it
PATIENCE = 10.0  # CPU seconds after which a job is not repeated any more
SHORT = 0.1  # CPU seconds that a timing should last
console = Console(soft_wrap=True, highlight=False)


@dataclass(frozen=True)
class Ratio:
    """The median ratio of a job, its standard error as a share of it, the rounds, and CPU seconds of both."""

    ratio: float
    error: float
    rounds: int
    ours: float
    reference: float


@dataclass(frozen=True)
class Line:
    """A job beside its record."""

    name: str
    now: Ratio
    before: float | None

    @property
    def change(self) -> float | None:
        """How many times slower than recorded."""
        return None if self.before is None else self.now.ratio / self.before

    @property
    def slower(self) -> bool:
        """Whether it is beyond the tolerance."""
        return self.change is not None and self.change > TOLERANCE


def measure(pair: Pair, clock: Callable[[], float] = time.process_time) -> Ratio:
    """Rounds of ours and the reference in turn, until the median ratio is known well enough."""
    jobs = (pair.ours, pair.reference)
    repeats = []
    for job in jobs:
        job()  # compiles, and fills caches
        start = clock()
        job()
        repeats.append(max(1, round(SHORT / max(clock() - start, 1e-4))))
    gc.collect()
    rounds: list[tuple[float, ...]] = []
    began = clock()
    while len(rounds) < MOST:
        taken = []
        for job, times in zip(jobs, repeats, strict=True):
            start = clock()
            for _ in range(times):
                job()
            taken.append((clock() - start) / times)
        rounds.append(tuple(taken))
        ratios = [ours / reference for ours, reference in rounds]
        if len(rounds) >= LEAST and (error_of_median(ratios) < PRECISE or clock() - began > PATIENCE):
            break
    ours, reference = (statistics.median(side) for side in zip(*rounds, strict=True))
    return Ratio(statistics.median(ratios), error_of_median(ratios), len(rounds), ours, reference)


def error_of_median(values: Sequence[float]) -> float:
    """Standard error of a median as a share of it, from the quartiles: 1.2533 · (q₃ − q₁) / 1.349 / √n."""
    low, middle, high = statistics.quantiles(values, n=4)
    return float(1.2533 * (high - low) / 1.349 / len(values) ** 0.5 / middle)


def read(path: Path) -> dict[str, float]:
    """Recorded ratios, by job."""
    if not path.exists():
        return {}
    return {name: float(one["ratio"]) for name, one in json.loads(path.read_text())["ratios"].items()}


def write(path: Path, found: Mapping[str, Ratio]) -> None:
    """Keep ratios beside those that were not measured now, and the conditions."""
    before: dict[str, Any] = json.loads(path.read_text())["ratios"] if path.exists() else {}
    now = {name: {"ratio": one.ratio, "error": one.error, "rounds": one.rounds} for name, one in found.items()}
    path.write_text(json.dumps({"ratios": before | now, **machine()}, indent=1) + "\n", encoding="utf-8")
    console.print(f"wrote {path}")


def table(lines: Sequence[Line]) -> Table:
    """What people look at, narrow enough for any terminal."""
    made = Table("job", "CPU s", "ratio", "± %", "recorded", "slower", "")
    for line in lines:
        change = line.change
        word = "new" if change is None else "[red]SLOWER[/]" if line.slower else "ok"
        word = "faster" if change is not None and change < 1.0 / TOLERANCE else word
        made.add_row(
            line.name,
            f"{line.now.ours:.3f}",
            f"{line.now.ratio:.3g}",
            f"{100 * line.now.error:.0f}",
            "–" if line.before is None else f"{line.before:.3g}",
            "–" if change is None else f"{change:.2f}×",
            word,
        )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    from quick_jobs import JOBS, World

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--record", action="store_true", help="keep these ratios for later runs")
    parser.add_argument("--file", type=Path, default=RECORD, help="the record (default: results/quick.json)")
    parser.add_argument("--users", type=int, default=USERS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    load, threads = os.getloadavg()[0], fix_threads()
    console.print(
        f"{len(options.only)} jobs on {threads} cores (load {load:.1f}), a few minutes; the first run compiles."
    )
    recorded, found = read(options.file), {}
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), options.users)
        for name in options.only:
            pair = JOBS[name](world)
            found[name] = measure(pair)
            line = Line(name, found[name], recorded.get(name))
            console.print(f"{name}: {found[name].ratio:.3g} times “{pair.beside}”, {found[name].rounds} rounds")
            if line.slower and not options.record:  # once more, as nothing should be called slower by chance
                again = measure(pair)
                found[name] = min(found[name], again, key=lambda one: one.ratio)
                console.print(f"{name}: once more {again.ratio:.3g}")
    lines = [Line(name, one, recorded.get(name)) for name, one in found.items()]
    console.print(table(lines))
    if options.record:
        write(options.file, found)
        return 0
    new = [line.name for line in lines if line.before is None]
    slower = [line.name for line in lines if line.slower]
    if new:
        console.print(f"No record yet, so not compared: {', '.join(new)}. --record keeps one.")
    if slower:
        console.print(f"[red]Slower by more than {TOLERANCE:g} times: {', '.join(slower)}.[/]")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
