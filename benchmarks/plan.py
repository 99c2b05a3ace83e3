"""How long a plan and a draw take: 1 million users × 100,000 items × 5 lists, within 60 s and 2 GiB on two cores.

    python benchmarks/plan.py [USERS]

A log of five rows per user with zeros, ten rows per user before it, five lists that share about half of their items.
A small plan first compiles. Prints the seconds of the plan and of a draw of 500 rows, seconds of all cores together,
and the largest memory of the process, inputs included. Inputs are made in memory: how long files take to read is
measured by ``benchmarks/reading.py``.
"""

from __future__ import annotations

import os
import resource
import sys
import time

import numpy as np
import polars as pl

import unskew as us
from unskew.log import Feedback, Ids, Log, Recommendations

ITEMS, MODELS, LENGTH, BEFORE, HELD = 100_000, 5, 10, 10, 5
ROWS, THREADS = 500, 2


def ids(many: int) -> Ids:
    """Numbers from 0."""
    return Ids(pl.Series("id", np.arange(many)))


def spread(users: int, first: int, each: int) -> np.ndarray:
    """``each`` different items of every user, ascending: every user's lie in steps of their own, from ``first``."""
    rng = np.random.default_rng(first)
    start, step = rng.integers(0, ITEMS // 2, users), rng.integers(1, ITEMS // 2 // 32, users)
    return (start[:, None] + step[:, None] * np.arange(first, first + each)[None, :]).astype(np.int32).ravel()


def log_of(users: int, people: Ids, things: Ids, first: int, each: int) -> Log:
    """Seen pairs, one in ten relevant."""
    value = (np.random.default_rng(first).random(users * each) < 0.1).astype(np.float64)
    indptr = np.arange(0, users * each + 1, each)
    item = spread(users, first, each)
    return Log(people, things, indptr, item, value=value, feedback=Feedback.CONVERSIONS)


def lists_of(users: int, people: Ids, things: Ids, model: int) -> Recommendations:
    """Ten items; neighbouring models share some of them."""
    item = (spread(users, 20, LENGTH).reshape(users, LENGTH) + 7 * (model * np.arange(LENGTH) // 5)) % ITEMS
    rank = np.tile(np.arange(1, LENGTH + 1, dtype=np.int32), users)
    return Recommendations(
        people, things, np.arange(0, users * LENGTH + 1, LENGTH), item.astype(np.int32).ravel(), rank
    )


def run(users: int, say: bool) -> None:
    """Make the inputs, plan, draw."""
    people, things = ids(users), ids(ITEMS)
    models = {f"m{m}": lists_of(users, people, things, m) for m in range(MODELS)}
    seen, log = log_of(users, people, things, 0, BEFORE), log_of(users, people, things, 12, HELD)
    begin, work = time.perf_counter(), time.process_time()
    plan = us.plan(models, log=log, seen=seen, detect="5%", threads=THREADS)
    planned = time.perf_counter()
    drawn = plan.draw(ROWS)
    done, worked = time.perf_counter(), time.process_time()
    if say:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        pairs = len(plan.parts.looked.design.item)
        print(f"{users:,} users × {ITEMS:,} items × {MODELS} lists of {LENGTH}: {pairs:,} pairs in which lists differ")
        print(f"plan {planned - begin:.1f} s, draw of {len(drawn.frame):,} rows {done - planned:.1f} s")
        print(f"{worked - work:.1f} s of all cores together, {memory:.2f} GiB at most, load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    run(2_000, False)
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, True)
