"""How long a plan and a draw take: 1 million users × 100,000 items × 5 lists, within 60 s and 2 GiB on two cores.

    python benchmarks/plan.py [USERS]

A log of five rows per user with zeros, ten rows per user before it, five lists that share about half of their items.
A small plan first compiles. Seconds of the plan and of a draw of 500 rows, seconds of all cores together, and the
largest memory of the process, inputs included, medians of three processes; a full run is kept in ``results/plan.json``.
Inputs are made in memory: how long files take to read is measured by ``benchmarks/reading.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

import unskew as us
from peers.common import Taken, report
from promise import GIB, SECONDS, Promise, at_most
from store import Measured, alone, busy, conditions, keep, machine, medians, table, versions
from unskew.log import Feedback, Ids, Log, Recommendations
from workloads import PLANS

ITEMS, MODELS, LENGTH, BEFORE, HELD = 100_000, 5, 10, 10, 5
USERS, ROWS, THREADS, REPEATS = 1_000_000, 500, 2, 3
LIMIT_SECONDS, LIMIT_GIB = 60.0, 2.0


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
        pairs = len(plan.parts.looked.design.item)
        taken = Taken(done - begin, worked - work)
        report(taken, ("unskew", "polars", "numba"), plan=planned - begin, drawn=len(drawn.frame), pairs=pairs)


def promises(found: Measured | None) -> list[Promise]:
    """Time of plan and draw, and memory."""
    seconds, gib = (found["job"]["seconds"], found["job"]["peak_mb"] / 1024) if found else (None, None)
    others = found is not None and busy(found)
    what = "plan and draw for 1 million users × 100,000 items × 5 lists"
    return [
        at_most(what, LIMIT_SECONDS, seconds, SECONDS, busy=others),
        at_most(f"{what}: memory", LIMIT_GIB, gib, GIB),
    ]


def sections(found: Measured) -> dict[str, str]:
    """The stored result in words and a table."""
    job = found["job"]
    rows = [
        ("plan, seconds", f"{job['plan']:.1f}"),
        (f"draw of {job['drawn']:,} rows, seconds", f"{job['seconds'] - job['plan']:.1f}"),
        ("both, CPU seconds", f"{job['cpu']:.1f}"),
        ("memory, inputs included, GiB", f"{job['peak_mb'] / 1024:.2f}"),
    ]
    lines = [
        f"`python benchmarks/plan.py` on {conditions(found)}. {versions(job)}.",
        "",
        f"{found['users']:,} users × {ITEMS:,} items × {MODELS} lists of {LENGTH}, {job['pairs']:,} pairs in which "
        f"lists differ; {THREADS} threads, medians of {job['runs']} processes, compilation not counted.",
        "",
        *table(("", ""), rows),
    ]
    return {PLANS: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("users", nargs="?", type=int, default=USERS)
    parser.add_argument("--once", action="store_true", help="one process of a run")
    options = parser.parse_args()
    if options.once:
        run(2_000, False)
        return run(options.users, True)
    command = (Path(sys.executable), "plan.py", str(options.users), "--once")
    job = medians([alone(*command) for _ in range(REPEATS)], ("seconds", "cpu", "peak_mb", "plan"))
    results = {"users": options.users, "job": job, **machine()}
    print(sections(results)[PLANS])
    return keep("plan", results) if options.users == USERS else None


if __name__ == "__main__":
    main()
