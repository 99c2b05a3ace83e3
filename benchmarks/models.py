"""item_knn and wmf beside implicit: ``python benchmarks/models.py [--rows N] [--dims 32,64,100,128]``.

The same generated positives for both (those of ``factorisation.py``), each job in a process of its own, one after the
other. ``knn``: one fit with the same number of neighbours; the cosines of all of them must add up to the same.
``wmf``: the median sweep, and the loss after the last of them, which must be no higher than implicit's. A full run is
kept in ``results/models.json``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from envs import Peer, python_of
from factorisation import ITEMS, ROWS, ratings
from promise import Promise, as_fast
from store import Measured, alone, conditions, keep, machine, versions
from workloads import LEARNERS

NEIGHBOURS, EPOCHS, ALPHA, PENALTY = 50, 4, 1.0, 0.1
DIMS = (32, 64, 100, 128)
KNN_FLOOR, WMF_FLOOR = 1.0, 3.0  # how many times as fast we must be
console = Console(soft_wrap=True)


def ours(folder: Path, job: str, *given: str) -> None:
    """The same work for unskew; a small fit first compiles."""
    import polars as pl

    from peers.common import Taken, Watch, report
    from unskew.log import Feedback, Ids, Log
    from unskew.models import WMF, ItemKNN

    indptr, item = (np.load(folder / f"{name}.npy") for name in ("indptr", "item"))
    people, things = (Ids(pl.Series("id", np.arange(n))) for n in (len(indptr) - 1, ITEMS))
    log, packages = Log(people, things, indptr, item, feedback=Feedback.IMPLICIT), ("unskew", "numpy", "numba")
    few = log.take(np.arange(1000))
    if job == "knn":
        neighbours = int(given[0])
        ItemKNN(neighbours).fit(few).similar()
        watch = Watch()
        similar = ItemKNN(neighbours).fit(log).similar()
        return report(watch.read(), packages, total=float(similar.weight.sum()))
    dim, epochs, alpha, penalty = int(given[0]), int(given[1]), float(given[2]), float(given[3])
    solver: Any = given[4]
    WMF(dim, alpha, penalty, rounds=1, solver=solver).fit(few)
    watch, times = Watch(), []
    times.append(watch.read())
    fitted = WMF(dim, alpha, penalty, rounds=epochs, solver=solver)
    fitted.fit(log, progress=lambda *_: times.append(watch.read()))
    sweep = Taken(*np.median(np.diff(times, axis=0)[1:], axis=0).tolist())
    return report(sweep, packages, loss=fitted.loss(log))


def measure(rows: int, dims: list[int], exact: bool) -> Measured:
    """Everybody on the same positives."""
    folder, found = str(ratings(rows)), {}
    us = (Path(sys.executable), "models.py", "ours", folder)
    implicit = Peer("implicit", "implicit_models", "implicit")
    them = (python_of(implicit), "-m", implicit.module, folder)
    jobs: dict[str, tuple[str, ...]] = {"knn": ("knn", str(NEIGHBOURS))}
    for dim in dims:
        size = ("als", str(dim), str(EPOCHS), str(ALPHA), str(PENALTY))
        jobs |= {f"wmf, d = {dim}": (*size, "cg")} | (
            {f"wmf, d = {dim}, exact rows": (*size, "exact")} if exact else {}
        )
    for title, job in jobs.items():
        pair = {name: alone(python, *rest, *job) for name, (python, *rest) in (("unskew", us), ("implicit", them))}
        pair["faster"] = {unit: pair["implicit"][unit] / pair["unskew"][unit] for unit in ("seconds", "cpu")}
        found[title] = pair
        console.print(title, {name: {k: v for k, v in each.items() if k != "versions"} for name, each in pair.items()})
        for problem in problems(title, pair):
            console.print(f"[red]{problem}")
    return {"rows": rows, "jobs": found, **machine()}


def problems(title: str, pair: Measured) -> list[str]:
    """What makes the comparison unfair."""
    mine, theirs, found = pair["unskew"], pair["implicit"], []
    if title == "knn" and abs(mine["total"] / theirs["total"] - 1.0) > 1e-4:
        found.append(f"{title}: the neighbours are not the same: {mine['total']:.6g} and {theirs['total']:.6g}")
    if title != "knn" and mine["loss"] > 1.001 * theirs["loss"]:
        found.append(f"{title}: our loss is higher: {mine['loss']:.6g} and {theirs['loss']:.6g}")
    return found


def promises(found: Measured | None) -> list[Promise]:
    """How many times as fast as implicit."""
    jobs = found["jobs"] if found else {}
    floors = {"knn": KNN_FLOOR} | {f"wmf, d = {dim}": WMF_FLOOR for dim in DIMS}
    names = {"knn": "item_knn"}
    pairs = {title: jobs.get(title, {"unskew": None, "implicit": None}) for title in floors}
    return [
        as_fast(f"{names.get(title, title)}, beside implicit", floor, pair["unskew"], pair["implicit"], found)
        for (title, pair), floor in zip(pairs.items(), floors.values(), strict=True)
    ]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and tables."""
    first = found["jobs"]["knn"]
    lines = [
        "### item_knn and wmf beside implicit",
        "",
        f"`python benchmarks/models.py` on {conditions(found)}. {versions(first['unskew'], first['implicit'])}.",
        "",
        f"{found['rows']:,} generated positives ({ITEMS:,} items, long tails as in MovieLens-20M). knn: one fit with "
        f"{NEIGHBOURS} neighbours per item by cosine, the same ones. wmf: the median sweep over all users and items, "
        f"with α = {ALPHA:g} and λ = {PENALTY:g}, and the loss after {EPOCHS} sweeps. Both take three conjugate "
        "gradients per row in single precision, unless rows are solved exactly (unskew: in double precision). Both may "
        "use all cores. unskew and implicit take turns; on a busy machine compare CPU seconds (all cores together).",
        "",
        "| | unskew: seconds, CPU seconds | implicit: seconds, CPU seconds | by CPU seconds, unskew is | loss of "
        "unskew, of implicit |",
        "| --- | --- | --- | --- | --- |",
    ]
    unfair = []
    for title, pair in found["jobs"].items():
        mine, theirs = pair["unskew"], pair["implicit"]
        losses = f"{mine['loss']:,.0f}, {theirs['loss']:,.0f}" if "loss" in mine else "–"
        lines.append(
            f"| {title} | {mine['seconds']:.2f}, {mine['cpu']:.2f} | {theirs['seconds']:.2f}, {theirs['cpu']:.2f} | "
            f"{pair['faster']['cpu']:.1f}× as fast | {losses} |"
        )
        unfair += problems(title, pair)
    return {LEARNERS: "\n".join([*lines, "", *(f"- Unfair: {problem}." for problem in unfair)])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="ours FOLDER JOB …: one job of a run")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--dims", default=",".join(map(str, DIMS)))
    parser.add_argument("--exact", action="store_true", help="also solve rows exactly, which takes long")
    options = parser.parse_args()
    if options.job[:1] == ["ours"]:
        _, folder, job, *given = options.job
        return ours(Path(folder), job, *given)
    dims = [int(dim) for dim in options.dims.split(",")]
    results = measure(options.rows, dims, options.exact)
    if (options.rows, tuple(dims)) != (ROWS, DIMS):
        return console.print("a partial run: results and page stay as they are")
    return keep("models", results)


if __name__ == "__main__":
    main()
