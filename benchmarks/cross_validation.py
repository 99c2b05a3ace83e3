"""How long a cross-validation takes: thirty weekly windows × five models on Online Retail, with verdicts over all.

    python benchmarks/cross_validation.py [WORKERS]

Prints seconds, and seconds of all cores together, of ``us.cross_validate`` with the naive estimator alone, with what it
computes by default (naive and the exposure path), and with finished folds found again. Compiled functions are there
already; the log is read before.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

import unskew as us

SPLIT = "sliding_window(width=1w, folds=30)"
MODELS = (
    "most_popular",
    "recently_popular(last=50000)",
    "item_knn(neighbours=50)",
    "user_knn(neighbours=50)",
    "svd(dim=20)",
)


def main() -> None:
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()
    log = us.load("online-retail").mnar
    assert log is not None
    us.cross_validate(log, MODELS, split="sliding_window(width=1w, folds=2)", workers=workers)  # compiles
    print(f"{len(log):,} rows, {len(MODELS)} models, {workers} workers", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (
            ("naive", {"estimators": ["naive"]}),
            ("naive and exposure_path (default)", {"store": folder}),
            ("the same, finished folds found again", {"store": folder}),
        ):
            start, busy = time.perf_counter(), time.process_time()
            found = us.cross_validate(log, MODELS, split=SPLIT, workers=workers, **options)
            seconds, cores = time.perf_counter() - start, time.process_time() - busy
            print(f"{seconds:7.1f} s  {cores:7.1f} s of cores  {len(found.folds_)} folds, {name}", flush=True)


if __name__ == "__main__":
    main()
