"""unskew on the same work. ``python ours.py FOLDER JOB`` measures one job and prints one JSON line.

    import      ``import unskew``, and until ``unskew.evaluate`` is there
    kernels     coded arrays → naive metrics of one list; the median of several, compiled code warmed up
    normal      Parquet files → full table and verdicts: two models, three estimators, normal intervals
    bootstrap   the same with 1,000 bootstrap replicates

Every job has a fresh process to itself.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from peers import common

ESTIMATORS = ("naive", "snips", "gs(strata=5)")
PACKAGES = ("unskew", "numpy", "numba", "polars")
REPLICATES = 1_000


def import_only() -> None:
    watch = common.Watch()
    import unskew  # noqa: F401

    imported = watch.read()
    from unskew import evaluate  # noqa: F401

    common.report(imported, PACKAGES, ready=watch.read().seconds)


def full_table(folder: Path, interval: Literal["normal", "bootstrap"]) -> None:
    from unskew import evaluate

    watch = common.Watch()
    result = evaluate(
        str(folder / "test.parquet"),
        {name: str(folder / f"{name}.parquet") for name in common.MODELS},
        metrics=list(common.METRICS),
        estimators=list(ESTIMATORS),
        propensity="popularity(gamma=2)",
        target="per_user",
        train=str(folder / "train.parquet"),
        interval=interval,
        replicates=REPLICATES,
    )
    table, verdicts = result.table(), result.verdicts()
    taken = watch.read()
    naive = table.filter(model=common.MODELS[0], estimator="naive", target="per_user")
    values = dict(naive.select("metric", "value").iter_rows())
    common.report(taken, PACKAGES, values=values, rows=table.height, verdicts=verdicts.height)


def kernels(folder: Path) -> None:
    from kernel import prepare

    watch = common.Watch()
    metrics = prepare(folder)
    build = watch.read().seconds
    values = metrics()
    common.report(common.typical(metrics), PACKAGES, build=build, values=values)


def main() -> None:
    folder, job = Path(sys.argv[1]), sys.argv[2]
    jobs: dict[str, Callable[[], None]] = {
        "import": import_only,
        "kernels": lambda: kernels(folder),
        "normal": lambda: full_table(folder, "normal"),
        "bootstrap": lambda: full_table(folder, "bootstrap"),
    }
    jobs[job]()


if __name__ == "__main__":
    main()
