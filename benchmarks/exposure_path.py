"""What the exposure path costs beside a single pooled snips: both from the same frames, in one run.

    python benchmarks/exposure_path.py [ROWS]

Prints seconds by the clock and of the CPU, the best of two, and the ratios. The two lists differ enough to be told
apart at every point of the path, so that tipping points are part of the time.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import polars as pl

import unskew as us

ITEMS, LENGTH, TIMES = 20_000, 10, 2
POPULARITY = 1.0 / np.arange(1, ITEMS + 1) ** 0.8


def log(users: int, rows: int, seed: int) -> pl.DataFrame:
    """Distinct pairs, popular items more often."""
    rng = np.random.default_rng(seed)
    item = rng.choice(ITEMS, rows, p=POPULARITY / POPULARITY.sum())
    pairs = np.unique(rng.integers(0, users, rows) * ITEMS + item)
    return pl.DataFrame({"user": pairs // ITEMS, "item": pairs % ITEMS})


def lists(users: int, seed: int, known: pl.DataFrame | None = None) -> pl.DataFrame:
    """Lists of popular items; those of some users begin with an item that they will click."""
    rng = np.random.default_rng(seed)
    item = rng.choice(ITEMS, users * LENGTH, p=POPULARITY / POPULARITY.sum())
    made = pl.DataFrame({"user": np.repeat(np.arange(users), LENGTH), "item": item})
    if known is not None:
        first = known.group_by("user").first().sample(fraction=0.5, seed=seed)
        made = pl.concat([first, made]).sort("user", maintain_order=True)
    made = made.unique(["user", "item"], keep="first", maintain_order=True)
    return made.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))


def measure(**options: Any) -> tuple[float, float, str]:
    """The least seconds by the clock and of the CPU, and the verdict."""
    clock, cpu = [], []
    for _ in range(TIMES):
        start, used = time.perf_counter(), time.process_time()
        result = us.evaluate(**options)
        clock.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return min(clock), min(cpu), str(result.verdicts_[-1].verdict)


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    users = rows // 20
    train = log(users, rows, 2)
    test = log(users, rows, 1).join(train, on=["user", "item"], how="anti")
    given: dict[str, Any] = {"test": test, "train": train, "drop_seen": True}
    given["models"] = {"first": lists(users, 3, test), "second": lists(users, 4)}
    single = measure(**given, estimators=["snips"], propensity="popularity(gamma=1)", target="pooled")
    path = measure(**given, estimators=["exposure_path"])
    for name, (clock, cpu, verdict) in (("pooled snips", single), ("exposure path", path)):
        print(f"{name:14} {clock:6.2f} s  {cpu:6.2f} CPU s  {verdict}")
    print(f"{len(test):,} rows: {path[0] / single[0]:.2f} times the clock, {path[1] / single[1]:.2f} times the CPU")


if __name__ == "__main__":
    main()
