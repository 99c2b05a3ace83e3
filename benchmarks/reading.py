"""How long reading takes: a log of ten million rows with six columns, as CSV and as Parquet.

    python benchmarks/reading.py [ROWS]

Seconds and the largest memory of each format, each in a process of its own, medians of three; a full run is kept in
``results/reading.json``. To compare two states of the code, run it with the ``PYTHONPATH`` of each in turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from peers.common import Taken, Watch, report
from promise import Promise
from store import Measured, alone, conditions, keep, machine, table, versions
from workloads import PARQUET

ROWS, TIMES = 10_000_000, 3


def write(folder: Path, rows: int) -> list[Path]:
    rng = np.random.default_rng(0)
    item = (rng.random(rows) ** 2 * 20_000).astype(np.int64)
    frame = pl.DataFrame(
        {
            "user": rng.integers(0, 200_000, rows),
            "item": item,
            "value": rng.integers(1, 6, rows).astype(np.float64),
            "time": rng.integers(1_600_000_000, 1_700_000_000, rows),
            "propensity": 0.05 + 0.9 * rng.random(rows),
            "title": pl.Series(item).cast(pl.String) + " title of it",
        }
    )
    paths = [folder / "log.csv", folder / "log.parquet"]
    frame.write_csv(paths[0])
    frame.write_parquet(paths[1])
    return paths


def read(path: Path) -> None:
    import unskew as us

    runs = []
    for _ in range(TIMES):
        watch = Watch()
        us.read_log(path, feedback="ratings", duplicates="first")
        runs.append(watch.read())
    report(Taken(*np.median(runs, axis=0).tolist()), ("unskew", "polars", "numba"))


def promises(found: Measured | None) -> list[Promise]:
    """None: its time is shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    rows = [
        (kind, f"{m['seconds']:.2f}", f"{m['cpu']:.2f}", f"{m['peak_mb']:,.0f}") for kind, m in found["jobs"].items()
    ]
    lines = [
        "### Reading a log",
        "",
        f"`python benchmarks/reading.py` on {conditions(found)}. {versions(found['jobs']['parquet'])}.",
        "",
        f"{found['rows']:,} rows with user, item, value, time, propensity and a column that is not used, read and "
        f"checked; each format in a process of its own, medians of {TIMES} runs.",
        "",
        *table(("", "seconds", "CPU seconds", "peak MB"), rows),
    ]
    return {PARQUET: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=ROWS)
    parser.add_argument("--once", type=Path, metavar="FILE", help="read one file")
    options = parser.parse_args()
    if options.once:
        return read(options.once)
    with tempfile.TemporaryDirectory() as folder:
        jobs = {
            path.suffix[1:]: alone(Path(sys.executable), "reading.py", "--once", str(path))
            for path in write(Path(folder), options.rows)
        }
    results = {"rows": options.rows, "jobs": jobs, **machine()}
    print(sections(results)[PARQUET])
    return keep("reading", results) if options.rows == ROWS else None


if __name__ == "__main__":
    main()
