"""unskew sample beside plain reading and writing by polars: ``python benchmarks/sampling.py [--rows N] [--repeats N]``.

A generated log (user, item, time, value, in the order of time) and a training log of a tenth of its rows, as Parquet.
``polars``: scan the log and write all its rows, which streams. ``reg`` and ``wtd_h``: draw half of the rows, write them
with their weights and report the skew. Each job in a fresh process, one after the other, all of them again and again,
so that what others do on the machine meanwhile hits all alike; medians are kept, those of a full run in
``results/sampling.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source
from rich.console import Console

from promise import MIB, Promise, as_long, at_most
from store import HERE, Measured, alone, conditions, keep, machine, medians, versions
from workloads import SAMPLING as HEADING

ROWS, USERS, ITEMS, REPEATS = 100_000_000, 1_000_000, 100_000, 3
CHUNK = 1_000_000
SLOWER, MEMORY = 2.0, 1024.0  # at most: times as long as polars, and MiB
TITLES = {
    "polars": "polars: read and write all rows",
    "reg": "`unskew sample --strategy reg`",
    "wtd_h": "`unskew sample --strategy wtd_h`, with a training log of a tenth of the rows",
}
console = Console(soft_wrap=True)


def logs(rows: int) -> Path:
    """The folder of both logs, which are made unless they are there."""
    folder = HERE / ".data" / f"sampling-{rows}"
    if not (folder / "log.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "train.parquet", rows // 10, 1)
        _write(folder / "log.parquet", rows, 2)
    return folder


def _write(path: Path, rows: int, seed: int) -> None:
    """Rows of users and items with long tails, one a second; ids are numbers with gaps, in no order of fame."""
    rng = np.random.default_rng(0)
    activity, fame = rng.lognormal(0.0, 1.1, USERS), 1.0 / (np.arange(1, ITEMS + 1) + 60.0) ** 1.1
    shares = [np.cumsum(each) / each.sum() for each in (activity, rng.permutation(fame))]
    rng = np.random.default_rng(seed)

    def pieces(*_: object) -> Iterator[pl.DataFrame]:
        for start in range(0, rows, CHUNK):
            n = min(CHUNK, rows - start)
            user, item = (3 * np.searchsorted(share, rng.random(n)) + 7 for share in shares)
            time = 1_500_000_000 + np.arange(start, start + n)
            yield pl.DataFrame({"user": user, "item": item, "time": time, "value": rng.integers(1, 6, n)})

    types = dict.fromkeys(("user", "item", "time", "value"), pl.Int64())
    temporary = path.with_suffix(".part")
    register_io_source(pieces, schema=types).sink_parquet(temporary)
    temporary.rename(path)


def once(folder: Path, job: str) -> None:
    """One job; compiled code is warmed up on a small log."""
    from peers.common import Watch, report
    from unskew.sampling import sample_file

    log, out = folder / "log.parquet", folder / f"{job}.out.parquet"
    watch, kept = Watch(), 0
    if job == "polars":
        pl.scan_parquet(log).sink_parquet(out)
    else:
        how: Any = {"strategy": job, "train": folder / "train.parquet" if job == "wtd_h" else None, "size": 0.5}
        few = folder / "few.parquet"
        pl.scan_parquet(log).head(1000).sink_parquet(few)
        sample_file(few, out, **how)
        watch = Watch()
        kept = sample_file(log, out, **how).kept
    taken = watch.read()
    rows = pl.scan_parquet(out).select(pl.len()).collect().item()
    out.unlink()
    report(taken, ("unskew", "polars", "numba"), rows=rows, kept=kept)


def measure(rows: int, repeats: int) -> Measured:
    """Medians over the repeats of all jobs."""
    folder = str(logs(rows))
    runs: dict[str, list[Measured]] = {job: [] for job in TITLES}
    for _ in range(repeats):
        for job, each in runs.items():
            each.append(alone(Path(sys.executable), "sampling.py", "once", folder, job))
            console.print(job, {name: round(each[-1][name], 1) for name in ("seconds", "cpu", "peak_mb", "rows")})
    jobs = {job: medians(each) for job, each in runs.items()}
    size = (Path(folder) / "log.parquet").stat().st_size
    return {"rows": rows, "repeats": repeats, "bytes": size, "jobs": jobs, **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """Time beside polars, and memory."""
    jobs = found["jobs"] if found else {}
    made: list[Promise] = []
    for job in ("reg", "wtd_h"):
        mine, title = jobs.get(job), f"`sample --strategy {job}` of 100 million rows"
        made.append(as_long(f"{title}, times polars", SLOWER, mine, jobs.get("polars"), found))
        made.append(at_most(f"{title}: memory", MEMORY, mine["peak_mb"] if mine else None, MIB))
    return made


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    bar, jobs = found["jobs"]["polars"], found["jobs"]
    lines = [
        f"`python benchmarks/sampling.py` on {conditions(found)}. {versions(bar)}.",
        "",
        f"{found['rows']:,} generated rows ({USERS:,} users, {ITEMS:,} items; user, item, time and value, "
        f"{found['bytes'] / 1e6:,.0f} MB of Parquet); half of them are drawn and written with their weights. Each job "
        f"in a fresh process, imports and compilation not counted; medians of {found['repeats']} runs, the jobs taking "
        "turns. polars writes by its defaults (zstd at level 3), unskew with zstd at level 1.",
        "",
        "| | seconds | CPU seconds | times the seconds of polars | times its CPU seconds | peak MiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for job, title in TITLES.items():
        mine = jobs[job]
        ratios = "– | –" if job == "polars" else " | ".join(f"{mine[u] / bar[u]:.2f}" for u in ("seconds", "cpu"))
        lines.append(f"| {title} | {mine['seconds']:.1f} | {mine['cpu']:.1f} | {ratios} | {mine['peak_mb']:,.0f} |")
    return {HEADING: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="once FOLDER JOB: one job of a run")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    if options.job[:1] == ["once"]:
        return once(Path(options.job[1]), options.job[2])
    results = measure(options.rows, options.repeats)
    if options.rows != ROWS:
        return console.print("a partial run: results and page stay as they are")
    return keep("sampling", results)


if __name__ == "__main__":
    main()
