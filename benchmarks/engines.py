"""Evaluating files that exceed memory: ``python benchmarks/engines.py [--rows N …] [--memory 2GiB] [--repeats N]``.

Held-out rows (user, item, propensity) in no order, ten of each user, and lists of two models, twenty items for each
user, as Parquet. ``stream``: recall@10 by naive and snips with intervals, verdicts and tipping points, in a limit of
memory. ``memory``: the same by the engine in memory, where there is room. ``polars``: the same files joined and grouped
by user by its streaming engine, sums of hits and of weights, and nothing else. Each job in a fresh process. The results
are kept in ``results/engines.json``; 100 million rows take 6 GB of disk, and half an hour (``--rows 100000000``).
The constants in ``src/unskew/engine/stream/sizes.py`` come from the run of 10 million rows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source
from rich.console import Console

from promise import MIB, Promise, as_long, at_most
from store import CONDITIONS, HERE, Measured, alone, conditions, keep, machine, stored, versions
from workloads import ENGINES

ROWS, ITEMS, PER_USER, LISTED, MEMORY = (1_000_000, 10_000_000), 100_000, 10, 20, "2GiB"
LIMIT, SLOWER, LINEAR = 2048.0, 2.0, 1.15  # MiB, times polars, and times what a line through the origin would give
CHUNK = 1_000_000
JOBS = ("stream", "memory", "polars")
MOST = 100_000_000  # rows that the promises are about
FITS = 10_000_000  # rows up to which the engine in memory is measured
console = Console(soft_wrap=True)


def files(rows: int, order: str) -> Path:
    """The folder of the files, which are made unless they are there."""
    folder = HERE / ".data" / f"engines-{rows}-{order}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        users = rows // PER_USER
        write(folder / "test.parquet", held_out(rows, users, order), {"propensity": pl.Float64()})
        for seed, name in enumerate(("a", "b"), 2):
            write(folder / f"{name}.parquet", lists(users, seed, order), {"rank": pl.Int32()})
        (folder / "done").touch()
    return folder


def write(path: Path, pieces: Iterator[pl.DataFrame], more: dict[str, Any]) -> None:
    types = {"user": pl.Int64(), "item": pl.Int64(), **more}
    register_io_source(lambda *_: pieces, schema=types).sink_parquet(path)


def held_out(rows: int, users: int, order: str) -> Iterator[pl.DataFrame]:
    rng = np.random.default_rng(1)
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        item = (ITEMS * rng.random(n) ** 3).astype(np.int64)
        user = np.arange(start, start + n) // PER_USER if order == "sorted" else rng.integers(0, users, n)
        propensity = np.clip(0.3 / (1.0 + item / 200.0), 1e-4, 1.0)
        yield pl.DataFrame({"user": user, "item": item, "propensity": propensity}).unique(
            ["user", "item"], keep="first", maintain_order=True
        )


def lists(users: int, seed: int, order: str, listed: int = LISTED) -> Iterator[pl.DataFrame]:
    """Every user once, in an order that jumps over all of them; rows of some users are mixed."""
    rng, step = np.random.default_rng(seed), 1 if order == "sorted" else 7_368_787
    for start in range(0, users, CHUNK // listed):
        who = np.arange(start, min(start + CHUNK // listed, users), dtype=np.int64) * step % users
        n = len(who) * listed
        first = (ITEMS * rng.random(len(who)) ** (2.0 + seed / 4.0)).astype(np.int64)
        item = (first[:, None] + np.arange(listed) * 37) % ITEMS
        frame = pl.DataFrame(
            {
                "user": np.repeat(who, listed),
                "item": item.ravel(),
                "rank": np.tile(np.arange(1, listed + 1, dtype=np.int32), len(who)),
            }
        )
        yield frame if order == "sorted" else frame[rng.permutation(n)]


def once(folder: Path, job: str, memory: str) -> None:
    """One job; compiled code is warmed up on a few rows."""
    import unskew as us
    from peers.common import Watch, report

    paths = {name: folder / f"{name}.parquet" for name in ("test", "a", "b")}
    watch, value = Watch(), {}
    if job == "polars":
        value = {name: by_polars(paths["test"], paths[name]) for name in ("a", "b")}
    else:
        asked: Any = {"engine": job, "estimators": ["naive", "snips"], "metrics": ["recall@10"], "duplicates": "first"}
        asked |= {"memory": memory} if job == "stream" else {}
        _warm(folder, paths, asked)
        watch = Watch()
        result = us.evaluate(paths["test"], {name: paths[name] for name in ("a", "b")}, **asked)
        value = {e.model: e.value for e in result.estimates if e.estimator == "snips"}
    report(watch.read(), ("unskew", "polars", "numba"), values=value)


def _warm(folder: Path, paths: dict[str, Path], asked: Any) -> None:
    import unskew as us

    few = {}
    for name, path in paths.items():
        few[name] = folder / f"few-{name}.parquet"
        pl.scan_parquet(path).filter(pl.col("user") < 200).head(20_000).sink_parquet(few[name])
    us.evaluate(few["test"], {name: few[name] for name in ("a", "b")}, **asked)


def by_polars(test: Path, lists: Path) -> float:
    """Σ hits/P over Σ 1/P, by users: what hand-written polars would do, without any error."""
    weight = 1.0 / pl.col("propensity")
    found = (
        pl.scan_parquet(test)
        .join(pl.scan_parquet(lists), on=["user", "item"], how="left")
        .group_by("user")
        .agg(hits=(weight * (pl.col("rank") <= 10).fill_null(False)).sum(), all=weight.sum())
        .select(pl.col("hits").sum() / pl.col("all").sum())
        .collect(engine="streaming")
    )
    return float(found.item())


def measure(rows: int, order: str, memory: str, repeats: int) -> Measured:
    """Medians over the repeats of all jobs."""
    folder = str(files(rows, order))
    runs: dict[str, list[Measured]] = {job: [] for job in JOBS if job != "memory" or rows <= FITS}
    for _ in range(repeats):
        for job, each in runs.items():
            each.append(alone(Path(sys.executable), "engines.py", "once", folder, job, memory))
            console.print(
                rows, order, job, {n: round(each[-1][n], 1) for n in ("seconds", "cpu", "peak_mb")}, each[-1]["values"]
            )
    return {
        job: each[0] | {name: float(np.median([run[name] for run in each])) for name in ("seconds", "cpu", "peak_mb")}
        for job, each in runs.items()
    }


def problems(found: Measured) -> list[str]:
    """What was missed."""
    missed = []
    sizes = sorted(found["runs"], key=int)
    for rows in sizes:
        mine, bar = found["runs"][rows]["stream"], found["runs"][rows]["polars"]
        if mine["cpu"] > SLOWER * bar["cpu"]:
            missed.append(f"{int(rows):,} rows take {mine['cpu'] / bar['cpu']:.2f} times the CPU seconds of polars")
        if mine["peak_mb"] > LIMIT:
            missed.append(f"{int(rows):,} rows take {mine['peak_mb']:,.0f} MiB; {LIMIT:,.0f} is the aim")
    for small, large in pairwise(sizes):
        times = found["runs"][large]["stream"]["cpu"] / found["runs"][small]["stream"]["cpu"]
        if times > LINEAR * int(large) / int(small):
            missed.append(f"from {int(small):,} to {int(large):,} rows the CPU seconds grow {times:.1f} times")
    return missed


def promises(found: Measured | None) -> list[Promise]:
    """Those of 100 million rows: memory, time beside polars, and that time grows with the rows and no faster."""
    runs = found["runs"] if found else {}
    most, at = runs.get(str(MOST), {}), _when(found, MOST) if found else None
    mine, few = most.get("stream"), runs.get("1000000", {}).get("stream")
    grows = mine["cpu"] / few["cpu"] / (MOST / 1_000_000) if mine and few else None
    return [
        at_most("stream of 100 million rows in no order: memory", LIMIT, mine["peak_mb"] if mine else None, MIB),
        as_long("stream of 100 million rows, times polars", SLOWER, mine, most.get("polars"), at),
        at_most("from 1 to 100 million rows, times a straight line, by CPU seconds", LINEAR, grows),
    ]


def _when(found: Measured, rows: int | str) -> Measured:
    """The conditions of the run of so many rows, which is not always the latest."""
    found = found.get("when", {}).get(str(rows), found)
    return {name: found[name] for name in CONDITIONS if name in found}


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    sizes = sorted(found["runs"], key=int)
    lines = [
        "### Files that exceed memory: time and memory of the stream",
        "",
        f"`python benchmarks/engines.py`, and for 100 million rows `python benchmarks/engines.py --rows {MOST}`. "
        f"{versions(found['runs'][sizes[0]]['stream'])}.",
        "",
        *(f"- {int(rows):,} rows on {conditions(_when(found, rows))}" for rows in sizes),
        "",
        f"Held-out rows in no order, {PER_USER} of each user over {ITEMS:,} items, and lists of {LISTED} items by two "
        f'models, as Parquet. The stream (`memory="{found["memory"]}"`) and the engine in memory give recall@10 by '
        "naive and snips with intervals, verdicts and tipping points; polars joins and groups the same files by its "
        f"streaming engine and gives two sums. Each job in a fresh process, medians of {found['repeats']} runs; on a "
        "busy machine compare CPU seconds (all cores together). A few pairs are repeated: unskew finds them and keeps "
        "the first, polars counts both.",
        "",
        "| held-out rows | list rows | | seconds | CPU seconds | times the CPU seconds of polars | peak MiB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rows in sizes:
        bar = found["runs"][rows]["polars"]
        for job, mine in found["runs"][rows].items():
            lines.append(
                f"| {int(rows):,} | {2 * LISTED * int(rows) // PER_USER:,} | {job} | {mine['seconds']:.1f} | "
                f"{mine['cpu']:.1f} | {mine['cpu'] / bar['cpu']:.2f} | {mine['peak_mb']:,.0f} |"
            )
    return {ENGINES: "\n".join([*lines, "", *(f"- Missed: {problem}." for problem in problems(found))])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="once FOLDER JOB MEMORY: one job of a run")
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--order", choices=("shuffled", "sorted"), default="shuffled")
    parser.add_argument("--memory", default=MEMORY)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    if options.job[:1] == ["once"]:
        return once(Path(options.job[1]), options.job[2], options.job[3])
    before = stored("engines") or {"runs": {}}
    runs, when = dict(before["runs"]), {n: _when(before, n) for n in before["runs"]}
    for n in options.rows:
        runs[str(n)] = measure(n, options.order, options.memory, options.repeats)
        when[str(n)] = machine()
    results = {"runs": runs, "when": when, "memory": options.memory, "repeats": options.repeats, **machine()}
    for problem in problems(results):
        console.print(f"[red]{problem}")
    if min(options.rows) < min(ROWS) or options.order == "sorted" or options.memory != MEMORY:
        return console.print("a run of another kind: results and page stay as they are")
    return keep("engines", results)


if __name__ == "__main__":
    main()
