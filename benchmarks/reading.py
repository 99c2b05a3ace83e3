"""How long reading takes: a log of ten million rows with six columns, as CSV and as Parquet.

    python benchmarks/reading.py [ROWS]

Prints seconds and the largest memory of each format, each in a process of its own, the best of three. To compare two
states of the code, run it with the ``PYTHONPATH`` of each in turn.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

TIMES = 3


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

    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        us.read_log(path, feedback="ratings", duplicates="first")
        seconds.append(time.perf_counter() - start)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{path.suffix[1:]:8} {min(seconds):6.2f} s  {largest:5.2f} GB  ({us.__file__})", flush=True)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for path in write(Path(folder), rows):
            process = processes.Process(target=read, args=(path,))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
