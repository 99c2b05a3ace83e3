"""us.cross_validate beside RecTools and RecPack: ``python benchmarks/cross_validation.py [--repeats N] [--quick]``.

The same Parquet file for everybody, the same windows with all rows before them as history, the same models where both
have them, recall@10 and ndcg@10 of every fold, seen items not recommended. Each job is a fresh process from the
file to the values (imports not counted; compiled functions are in numba's cache), one after the other, all of them
again and again, so that what others do on the machine meanwhile hits all alike; medians are kept. Values are compared
fold by fold; averages over folds may differ by little (``CLOSE``), since ties are broken otherwise.

``alone``: thirty weekly folds of Online Retail and five models, as ``cross_validate`` does by default. A full run
is kept in ``results/cross_validation.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console

from envs import Peer, python_of
from promise import SECONDS as IN_SECONDS
from promise import Promise, as_fast, at_most
from store import HERE, Measured, alone, busy, conditions, keep, machine, medians
from workloads import FOLDS as HEADING

FOLDS, REPEATS = 30, 3
FASTER, SECONDS, CLOSE = 5.0, 60.0, 0.002  # at least, at most, and how far values over all folds may lie apart
FIVE = (
    "most_popular",
    "recently_popular(last=50000)",
    "item_knn(neighbours=50)",
    "user_knn(neighbours=50)",
    "svd(dim=20)",
)
SHARED = {
    "RecTools": ("most_popular", "recently_popular(days=30)", "item_knn(neighbours=50)", "svd(dim=20)"),
    "RecPack": ("most_popular", "item_knn(neighbours=50)"),
}
PEERS = {
    "RecTools": Peer("RecTools `cross_validate`, `TimeRangeSplitter`", "rectools_folds", "rectools"),
    "RecPack": Peer("RecPack `Timed`, its pipeline per window", "recpack", "recpack"),
}
LOGS = {"online-retail": "Online Retail", "movietweetings": "MovieTweetings"}
DAYS = {"online-retail": 7, "movietweetings": 1}  # of a window
ESTIMATORS = {"naive": "naive estimates", "default": "naive and exposure_path (default)"}
UNITS = ("seconds", "cpu", "peak_mb", "again", "again_cpu")
console = Console(soft_wrap=True)


def log_file(name: str) -> Path:
    """The log as unskew reads it, each pair of user and item once, with times to the second."""
    path = HERE / ".data" / f"cross_validation-{name}.parquet"
    if not path.exists():
        import unskew as us

        log = us.load(name).mnar
        assert log is not None
        frame = log.to_frame().select("user", "item", "time")
        if frame["time"].dtype.is_integer():
            frame = frame.with_columns(pl.from_epoch("time"))
        path.parent.mkdir(exist_ok=True)
        frame.write_parquet(path)
    return path


def once(path: str, days: str, folds: str, models: str, asked: str) -> None:
    """Ours: from the file to the values of every fold, with intervals and verdicts."""
    from peers.common import Watch, report
    from unskew import cross_validate  # imports are not counted: the others' are made before their watch starts

    options: dict[str, Any] = {"estimators": ["naive"], "target": "per_user"} if asked == "naive" else {}
    last = pl.scan_parquet(path).select(pl.col("time").max()).collect().item()
    until = date(last.year, last.month, last.day) + timedelta(days=1)  # where RecTools lets windows end
    split = f"sliding_window(width={days}d, folds={folds}, min_users=1, until={until})"
    how: dict[str, Any] = {"split": split, "metrics": ["recall@10", "ndcg@10"], **options}
    watch = Watch()
    found = cross_validate(path, json.loads(models), **how)
    taken, watch = watch.read(), Watch()
    cross_validate(path, json.loads(models), **how)
    again = watch.read()
    values: dict[str, list[float]] = {}
    for row in found.folds().filter(pl.col("estimator") == "naive").iter_rows(named=True):
        values.setdefault(f"{row['model']} {row['metric']}", []).append(row["value"])
    report(taken, ("unskew", "polars", "numba"), values=values, again=again.seconds, again_cpu=again.cpu)


def measure(logs: list[str], repeats: int, folds: int) -> Measured:
    """Medians over the repeats of all jobs, and how far the others' values are from ours."""
    paths = {log: str(log_file(log)) for log in logs}
    jobs: dict[str, tuple[Path, *tuple[str, ...]]] = {}
    ours = Path(sys.executable), "cross_validation.py", "once"
    for log, path in paths.items():
        for peer, models in SHARED.items():
            asked = json.dumps(models)
            for estimators in ESTIMATORS:
                jobs[f"{log}/{peer}/{estimators}"] = *ours, path, str(DAYS[log]), str(folds), asked, estimators
            python = python_of(PEERS[peer])
            jobs[f"{log}/{peer}/peer"] = python, "-m", PEERS[peer].module, path, str(DAYS[log]), str(folds), asked
    jobs["alone"] = *ours, paths["online-retail"], "7", str(folds), json.dumps(FIVE), "default"
    for name in ("online-retail/RecTools/naive", "online-retail/RecTools/default", "alone"):
        alone(*jobs[name])  # compiles
    runs: dict[str, list[Measured]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, command in jobs.items():
            runs[name].append(alone(*command))
            console.print(name, {unit: round(runs[name][-1][unit], 1) for unit in UNITS if unit in runs[name][-1]})
    found = {name: medians(each, UNITS) for name, each in runs.items()}
    for name in jobs:
        if name.endswith("peer"):
            found[name]["apart"] = apart(found[name.replace("peer", "naive")]["values"], found[name]["values"])
    for each in found.values():
        each.pop("values")
    return {
        "logs": logs,
        "repeats": repeats,
        "folds": folds,
        "rows": rows_of(paths),
        "jobs": found,
        "priority": priority(),
        **machine(),
    }


def priority() -> int:
    """The priority of this session among others (Linux; lower is served first), without which the clock says little."""
    group = Path("/proc/self/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else 0


def rows_of(paths: dict[str, str]) -> dict[str, list[int]]:
    """Rows, users and items of each log."""
    wanted = pl.len(), pl.col("user").n_unique(), pl.col("item").n_unique()
    return {
        log: list(pl.scan_parquet(path).select(a=wanted[0], b=wanted[1], c=wanted[2]).collect().row(0))
        for log, path in paths.items()
    }


def apart(mine: dict[str, list[float]], theirs: dict[str, list[float]]) -> dict[str, list[float]]:
    """By model and metric: our average over folds, theirs, and the largest difference in one fold."""
    return {
        name: [float(np.mean(mine[name])), float(np.mean(values)), float(np.abs(np.subtract(mine[name], values)).max())]
        for name, values in theirs.items()
    }


def promises(found: Measured | None) -> list[Promise]:
    """How many times as fast as the others, and how long five models take."""
    jobs, made = found["jobs"] if found else {}, []
    for log, title in LOGS.items():
        for peer in SHARED:
            ours, theirs = (jobs.get(f"{log}/{peer}/{who}") for who in ("naive", "peer"))
            what = f"cross-validation of {title}, beside {peer}"
            made.append(as_fast(what, FASTER, ours, theirs, found))
    taken = jobs["alone"]["seconds"] if jobs else None
    others = found is not None and busy(found)
    what = "thirty folds of Online Retail, five models"
    return [*made, at_most(what, SECONDS, taken, IN_SECONDS, busy=others)]


def problems(found: Measured) -> list[str]:
    """What makes the comparison unfair."""
    missed = []
    for name, job in found["jobs"].items():
        if not name.endswith("peer"):
            continue
        log, peer, _ = name.split("/")
        for what, (mine, theirs, _) in job["apart"].items():
            if abs(mine - theirs) > CLOSE:
                missed.append(f"{LOGS[log]}, {peer}, {what}: values are apart, {mine:.4f} and {theirs:.4f}")
    return missed


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and tables."""
    jobs, five = found["jobs"], found["jobs"]["alone"]
    first = found["logs"][0]
    versions = [next(iter(jobs[name]["versions"].items())) for name in (f"{first}/{p}/peer" for p in SHARED)]
    served = f", at a scheduling priority of {found['priority']} (0 is usual)" if found["priority"] else ""
    named = ", ".join(f"{name} {version}" for name, version in [("unskew", five["versions"]["unskew"]), *versions])
    lines = [
        f"`python benchmarks/cross_validation.py` on {conditions(found)}{served}. {named}.",
        "",
        f"{found['folds']} windows with all rows before them as history, from one Parquet file to recall@10 and "
        "ndcg@10 of every fold. Users without a past are not judged, seen items are not recommended, ndcg's ideal is "
        "what a user's held-out items allow. Each job in a fresh process, imports and compilation not counted; medians "
        f"of {found['repeats']} runs, the jobs taking turns. unskew's first call in a process loads its compiled "
        "functions, which a second one (“called again”) finds there. Everybody may use all cores; on a busy machine "
        "compare CPU seconds (all cores together). The others give values; unskew also checks the log, gives intervals "
        "that respect that folds share users, and verdicts, and by default estimates through the exposure path too.",
        "",
        f"Averages over folds are to agree within {CLOSE:g}. Ties in popularity are broken by a hash per user here "
        "and by the order of items elsewhere, and the others' lists end where scores do; that these explain the "
        "differences was not checked list by list. RecPack's SVD weighs by the squares of the singular values, "
        "and so is another model; neither recently_popular nor user_knn was found in it, nor user_knn in "
        "RecTools.",
    ]
    for log in found["logs"]:
        rows, users, items = found["rows"][log]
        width = {1: "day", 7: "week"}[DAYS[log]]
        lines += ["", f"### {LOGS[log]}, by {width}: {rows:,} rows, {users:,} users, {items:,} items", ""]
        for peer, models in SHARED.items():
            lines += _beside(jobs, log, peer, models)
    lines += [
        "### Thirty weekly folds, five models",
        "",
        f"Online Retail, {', '.join(f'`{model}`' for model in FIVE)}, with the default estimators, intervals and "
        f"verdicts: {five['seconds']:.1f} s, {five['cpu']:.1f} CPU seconds, {five['peak_mb']:,.0f} MiB at most.",
        "",
        *(f"- Apart: {problem}." for problem in problems(found)),
    ]
    return {HEADING: "\n".join(lines)}


def _beside(jobs: Measured, log: str, peer: str, models: tuple[str, ...]) -> list[str]:
    """One peer on one log: what all take, and how far values are apart."""
    theirs = jobs[f"{log}/{peer}/peer"]
    lines = [
        f"{', '.join(f'`{model}`' for model in models)}:",
        "",
        "| | seconds | CPU seconds | peak MiB | unskew is faster, by the clock | by CPU seconds |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| {PEERS[peer].title} | {theirs['seconds']:.1f} | {theirs['cpu']:.1f} | {theirs['peak_mb']:,.0f} | – | – |",
    ]
    for estimators, title in ESTIMATORS.items():
        mine = jobs[f"{log}/{peer}/{estimators}"]
        for call, clock, cpu in ((title, "seconds", "cpu"), (f"{title}, called again", "again", "again_cpu")):
            ratios = f"{theirs['seconds'] / mine[clock]:.1f}× | {theirs['cpu'] / mine[cpu]:.1f}×"
            took = f"{mine[clock]:.1f} | {mine[cpu]:.1f} | {mine['peak_mb']:,.0f}"
            lines.append(f"| unskew, {call} | {took} | {ratios} |")
    lines += [
        "",
        f"| average over folds | unskew | {peer} | largest difference in one fold |",
        "| --- | --- | --- | --- |",
        *(f"| {what} | {a:.4f} | {b:.4f} | {most:.4f} |" for what, (a, b, most) in theirs["apart"].items()),
        "",
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="once LOG DAYS FOLDS MODELS ESTIMATORS: one job of a run")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--quick", action="store_true", help="three folds of one log, to see that everything runs")
    options = parser.parse_args()
    if options.job[:1] == ["once"]:
        return once(*options.job[1:])
    logs = ["online-retail"] if options.quick else list(LOGS)
    results = measure(logs, options.repeats, 3 if options.quick else FOLDS)
    for problem in problems(results):
        console.print(f"[red]{problem}")
    if options.quick:
        return console.print("a partial run: results and page stay as they are")
    return keep("cross_validation", results)


if __name__ == "__main__":
    main()
