"""How long splitting takes, beside polars sorting the same rows by time: thirty daily windows of a log of four months.

    python benchmarks/splits.py [ROWS]

Prints seconds, seconds of all cores together and the largest memory of each job, each in a process of its own: polars'
sort of user, item and time; the splits (which rows train and which are judged in each window, and how many users have
both a past and a present); and the splits with both logs of every fold made, one after the other. The best of three;
compiled functions are there already. Times are drawn evenly, rows lie by user, as a log holds them.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from unskew.log import Feedback, Ids, Log
from unskew.split import make_splits

SPLIT = "sliding_window(width=1d, folds=30)"
PER_USER, ITEMS, SECONDS, FIRST = 50, 100_000, 120 * 86_400, 1_500_000_000
TIMES = 3


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


JOBS = {
    "polars sort by time": sorted_by_polars,
    f"{SPLIT}": split,
    f"{SPLIT}, and every fold's two logs": split_and_make,
}


def measure(job: str, rows: int) -> None:
    split_and_make(log_of(10_000 * PER_USER))()  # compiles
    work = JOBS[job](log_of(rows // PER_USER * PER_USER))
    seconds, cores = [], []
    for _ in range(TIMES):
        start, busy = time.perf_counter(), time.process_time()
        work()
        seconds.append(time.perf_counter() - start)
        cores.append(time.process_time() - busy)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{min(seconds):7.2f} s  {min(cores):7.2f} s of cores  {largest:5.1f} GB  {job}", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    print(f"{rows:,} rows", flush=True)
    processes = multiprocessing.get_context("spawn")
    for job in JOBS:
        process = processes.Process(target=measure, args=(job, rows))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
