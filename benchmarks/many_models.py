"""Ten models at once, from Parquet: ``python benchmarks/many_models.py [--rows N] [--models N] [--memory M]``.

Held-out rows (user, item, propensity) in no order, ten of each user, and for every model a list of ten items for each
user: as many rows. ``unskew``: recall@10 of every model by snips with intervals, verdicts of all pairs and tipping
points, by the stream in a limit of memory. ``polars`` and ``DuckDB``: for each model the same files joined, grouped by
user and summed, which is the estimate alone. Each job in a fresh process. The aim is to take no longer than either, in
less than half of polars' memory. The limit was chosen among 512MiB, 768MiB and 1GiB by the time that they take: with
512MiB DuckDB is quicker by the clock, though not by CPU seconds. Runs of 10 million rows and ten models are kept in
``results/many_models.json``; their files take 1 GB of disk.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from engines import ITEMS, PER_USER, by_polars, held_out, lists, write
from envs import Peer, python_of
from promise import Promise, as_long, at_most
from store import HERE, Measured, alone, conditions, keep, machine, medians, versions
from workloads import ENGINES

ROWS, MODELS, LISTED, MEMORY = 10_000_000, 10, 10, "768MiB"
LESS = 0.5  # of polars' memory
DUCKDB = Peer("DuckDB", "duckdb", "duckdb")
TITLES = {"unskew": "unskew, with intervals and verdicts", "polars": "polars, sums", "duckdb": "DuckDB, sums"}
console = Console(soft_wrap=True)


def files(rows: int, models: int) -> Path:
    """The folder of the files, which are made unless they are there."""
    folder = HERE / ".data" / f"many-models-{rows}-{models}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        users = rows // PER_USER
        write(folder / "test.parquet", held_out(rows, users, "shuffled"), {"propensity": pl.Float64()})
        for number in range(models):
            made = lists(users, number + 2, "shuffled", LISTED)
            write(folder / f"{number}.parquet", made, {"rank": pl.Int32()})
        (folder / "done").touch()
    return folder


def once(folder: Path, job: str, models: int, memory: str) -> None:
    """One job; compiled code is warmed up on a few rows."""
    from peers.common import Watch, report

    names = [str(number) for number in range(models)]
    if job == "polars":
        watch = Watch()
        values = {name: by_polars(folder / "test.parquet", folder / f"{name}.parquet") for name in names}
        return report(watch.read(), ("polars",), values=values)
    few = folder / "few"
    few.mkdir(exist_ok=True)
    for name in ("test", *names[:2]):
        some = pl.scan_parquet(folder / f"{name}.parquet").filter(pl.col("user") < 20_000)  # of whom some have hits
        some.sink_parquet(few / f"{name}.parquet")
    _evaluated(few, names[:2], memory)
    watch = Watch()
    result = _evaluated(folder, names, memory)
    values = {e.model: e.value for e in result.estimates if e.estimator == "snips"}
    return report(watch.read(), ("unskew", "polars", "numba"), values=values, verdicts=len(result.verdicts_))


def _evaluated(folder: Path, names: list[str], memory: str) -> Any:
    import unskew as us

    models = {name: folder / f"{name}.parquet" for name in names}
    asked: Any = {"estimators": ["snips"], "metrics": ["recall@10"], "target": "pooled", "duplicates": "first"}
    return us.evaluate(folder / "test.parquet", models, engine="stream", memory=memory, **asked)


def measure(rows: int, models: int, memory: str, repeats: int) -> Measured:
    """Medians over the repeats of all jobs."""
    folder = str(files(rows, models))
    here = Path(sys.executable)
    jobs: dict[str, tuple[Path, *tuple[str, ...]]] = {
        "unskew": (here, "many_models.py", "once", folder, "unskew", str(models), memory),
        "polars": (here, "many_models.py", "once", folder, "polars", str(models), memory),
        "duckdb": (python_of(DUCKDB), "-m", DUCKDB.module, folder, str(models)),
    }
    runs: dict[str, list[Measured]] = {job: [] for job in jobs}
    for _ in range(repeats):
        for job, command in jobs.items():
            found = alone(*command)
            runs[job].append(found)
            shown = {name: round(found[name], 1) for name in ("seconds", "cpu", "peak_mb")}
            console.print(rows, models, job, shown, {name: round(value, 6) for name, value in found["values"].items()})
    return {job: medians(each) for job, each in runs.items()}


def promises(found: Measured | None) -> list[Promise]:
    """No slower than either, in less than half of polars' memory."""
    jobs, what = found["jobs"] if found else {}, f"{MODELS} models × 10 million rows"
    mine, polars = jobs.get("unskew"), jobs.get("polars")
    memory = mine["peak_mb"] / polars["peak_mb"] if mine and polars else None
    return [
        as_long(f"{what}, times hand-written polars", 1, mine, polars, found),
        as_long(f"{what}, times hand-written DuckDB", 1, mine, jobs.get("duckdb"), found),
        at_most(f"{what}, times the memory of polars", LESS, memory),
    ]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    jobs, rows, models = found["jobs"], found["rows"], found["models"]
    lines = [
        "### Ten models at once, from Parquet",
        "",
        f"`python benchmarks/many_models.py` on {conditions(found)}. {versions(*jobs.values())}.",
        "",
        f"{rows:,} held-out rows in no order, {PER_USER} of each user over {ITEMS:,} items, lists of {LISTED} items "
        f'by {models} models, as Parquet. unskew (`engine="stream"`, `memory="{found["memory"]}"`) gives recall@10 by '
        f"snips with intervals, {jobs['unskew']['verdicts']} verdicts between models and tipping points. polars (its "
        "streaming engine) and DuckDB join every model's lists to the rows, group by user and give the estimate alone. "
        f"Each job in a fresh process, medians of {found['repeats']} runs. The limit was chosen among three by the "
        "time that they take: with 512MiB DuckDB was quicker by the clock, though not by CPU seconds.",
        "",
        "| | seconds | CPU seconds | peak MiB |",
        "| --- | --- | --- | --- |",
        *(
            f"| {TITLES[job]} | {each['seconds']:.1f} | {each['cpu']:.1f} | {each['peak_mb']:,.0f} |"
            for job, each in jobs.items()
        ),
    ]
    return {ENGINES: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="once FOLDER JOB MODELS MEMORY: one job of a run")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--memory", default=MEMORY)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    if options.job[:1] == ["once"]:
        return once(Path(options.job[1]), options.job[2], int(options.job[3]), options.job[4])
    jobs = measure(options.rows, options.models, options.memory, options.repeats)
    asked = {"rows": options.rows, "models": options.models, "memory": options.memory, "repeats": options.repeats}
    results = {"jobs": jobs, **asked, **machine()}
    console.print(sections(results)[ENGINES])
    if (options.rows, options.models) != (ROWS, MODELS):
        return console.print("a run of another size: results and page stay as they are")
    return keep("many_models", results)


if __name__ == "__main__":
    main()
