"""How long splitting takes, beside polars sorting the same rows by time: thirty daily windows of a log of four months.

    python benchmarks/splits.py [ROWS]

Seconds, seconds of all cores together and the largest memory of each job, each in a process of its own: polars' sort
of user, item and time; the splits (which rows train and which are judged in each window, and how many users have both
a past and a present); and the splits with both logs of every fold made, one after the other. Medians of three; compiled
functions are there already. Times are drawn evenly, rows lie by user, as a log holds them. A full run is kept in
``results/splits.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from peers.common import Taken, Watch, report
from promise import Promise, as_long
from store import Measured, alone, conditions, keep, machine, table, versions
from unskew.log import Feedback, Ids, Log
from unskew.split import make_splits
from workloads import SPLITS

SPLIT = "sliding_window(width=1d, folds=30)"
PER_USER, ITEMS, SECONDS, FIRST = 50, 100_000, 120 * 86_400, 1_500_000_000
ROWS, TIMES, SLOWER = 100_000_000, 3, 2.0


def log_of(rows: int) -> Log:
    """Every user has fifty different items, at times of their own."""
    rng = np.random.default_rng(0)
    users = rows // PER_USER
    step = rng.integers(1, ITEMS // PER_USER, users, dtype=np.int32)
    item = (np.arange(PER_USER, dtype=np.int32)[None, :] * step[:, None]).ravel()
    return Log(
        Ids(pl.Series("id", np.arange(users))),
        Ids(pl.Series("id", np.arange(ITEMS))),
        np.arange(0, rows + 1, PER_USER),
        item,
        time=rng.integers(FIRST, FIRST + SECONDS, rows),
        feedback=Feedback.IMPLICIT,
    )


def sorted_by_polars(log: Log) -> Callable[[], object]:
    frame = pl.DataFrame({"user": log.user, "item": log.item, "time": log.time})
    return lambda: frame.sort("time")


def split(log: Log) -> Callable[[], object]:
    return lambda: make_splits(log, SPLIT)


def split_and_make(log: Log) -> Callable[[], object]:
    return lambda: [len(part) for fold in make_splits(log, SPLIT) for part in fold]


JOBS = {"polars": sorted_by_polars, "split": split, "split and make": split_and_make}
TITLES = {
    "polars": "polars sorts user, item and time by time",
    "split": f"`{SPLIT}`",
    "split and make": "the same, and both logs of every fold",
}


def once(job: str, rows: int) -> None:
    """One job, several times; compiled before."""
    split_and_make(log_of(10_000 * PER_USER))()
    work, runs = JOBS[job](log_of(rows // PER_USER * PER_USER)), []
    for _ in range(TIMES):
        watch = Watch()
        work()
        runs.append(watch.read())
    report(Taken(*np.median(runs, axis=0).tolist()), ("unskew", "polars", "numba"))


def promises(found: Measured | None) -> list[Promise]:
    """Time beside polars' sort."""
    jobs = found["jobs"] if found else {}
    what = "100 million rows into 30 windows, times polars sorting them"
    return [as_long(what, SLOWER, jobs.get("split"), jobs.get("polars"), found)]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    rows = [
        (TITLES[job], f"{m['seconds']:.1f}", f"{m['cpu']:.1f}", f"{m['peak_mb']:,.0f}")
        for job, m in found["jobs"].items()
    ]
    lines = [
        f"`python benchmarks/splits.py` on {conditions(found)}. {versions(found['jobs']['split'])}.",
        "",
        f"{found['rows']:,} rows, {PER_USER} of each user, over four months; each job in a process of its own, medians "
        f"of {TIMES} runs, compilation not counted.",
        "",
        *table(("job", "seconds", "CPU seconds", "peak MB"), rows),
    ]
    return {SPLITS: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=ROWS)
    parser.add_argument("--once", choices=list(JOBS), help="one job of a run")
    options = parser.parse_args()
    if options.once:
        return once(options.once, options.rows)
    jobs = {}
    for job in JOBS:
        jobs[job] = alone(Path(sys.executable), "splits.py", str(options.rows), "--once", job)
        print(f"{jobs[job]['seconds']:7.2f} s  {jobs[job]['cpu']:7.2f} CPU s  {TITLES[job]}", flush=True)
    return keep("splits", {"rows": options.rows, "jobs": jobs, **machine()}) if options.rows == ROWS else None


if __name__ == "__main__":
    main()
