"""What the exposure path costs beside a single pooled snips: both from the same frames, in one run.

    python benchmarks/exposure_path.py [ROWS]

Seconds by the clock and of the CPU, medians of three, the two taking turns, and their ratios; a full run is kept in
``results/exposure_path.json``. The two lists differ enough to be told apart at every point of the path, so that tipping
points are part of the time.
"""

from __future__ import annotations

import argparse
import statistics
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

import unskew as us
from peers.common import Watch, peak_mb
from promise import Promise, as_long
from store import Measured, conditions, keep, machine, table, versions
from workloads import PARQUET

ROWS, ITEMS, LENGTH, TIMES, SLOWER = 10_000_000, 20_000, 10, 3, 2.0
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


def measure(rows: int) -> Measured:
    """Both in turn; the first round compiles and is not counted."""
    users = rows // 20
    train = log(users, rows, 2)
    test = log(users, rows, 1).join(train, on=["user", "item"], how="anti")
    given: dict[str, Any] = {"test": test, "train": train, "drop_seen": True}
    given["models"] = {"first": lists(users, 3, test), "second": lists(users, 4)}
    asked: dict[str, dict[str, Any]] = {
        "pooled snips": {"estimators": ["snips"], "propensity": "popularity(gamma=1)", "target": "pooled"},
        "exposure path": {"estimators": ["exposure_path"]},
    }
    runs: dict[str, list[Measured]] = {name: [] for name in asked}
    for _ in range(TIMES + 1):
        for name, options in asked.items():
            watch = Watch()
            result = us.evaluate(**given, **options)
            runs[name].append(watch.read()._asdict() | {"verdict": str(result.verdicts_[-1].verdict)})
    jobs = {
        name: each[-1] | {unit: statistics.median(run[unit] for run in each[1:]) for unit in ("seconds", "cpu")}
        for name, each in runs.items()
    }
    packages = {name: version(name) for name in ("unskew", "polars", "numba")}
    return {"rows": len(test), "jobs": jobs, "versions": packages, "peak_mb": peak_mb(), **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """Time beside one estimate."""
    jobs = found["jobs"] if found else {}
    single, path = (jobs.get(name) for name in ("pooled snips", "exposure path"))
    return [as_long("exposure path of 10 million rows, times pooled snips", SLOWER, path, single, found)]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    rows = [(name, f"{m['seconds']:.2f}", f"{m['cpu']:.2f}", m["verdict"]) for name, m in found["jobs"].items()]
    lines = [
        "### The exposure path beside one estimate",
        "",
        f"`python benchmarks/exposure_path.py` on {conditions(found)}. {versions(found)}.",
        "",
        f"{found['rows']:,} held-out rows and two models, from frames in memory to intervals, verdicts and tipping "
        f"points; medians of {TIMES} runs, taking turns; {found['peak_mb']:,.0f} MB at most.",
        "",
        *table(("", "seconds", "CPU seconds", "verdict"), rows),
    ]
    return {PARQUET: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=lambda text: int(float(text)), default=ROWS)
    options = parser.parse_args()
    results = measure(options.rows)
    print(sections(results)[PARQUET])
    return keep("exposure_path", results) if options.rows == ROWS else None


if __name__ == "__main__":
    main()
