"""MF-IPS at size, and on Coat: ``python benchmarks/factorisation.py [speed|coat] [--rows N]``.

``speed``: seconds per epoch (all users, then all items) of unskew, implicit and cornac on the same generated ratings,
each in a process of its own, one after the other. ``coat``: cross-validation and the error on the random test ratings
over ten seeds; the test ratings are used for nothing else. Both are kept in ``results/factorisation.json``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from envs import Peer, python_of
from promise import Promise
from store import HERE, Measured, alone, conditions, keep, machine, stored, versions
from workloads import LEARNERS

USERS, ITEMS, ROWS, DIM, EPOCHS = 138_000, 27_000, 20_000_000, 20, 6
ROUNDS = {"als": (1, 3, 6), "sgd": (1, 7, 30)}  # of the fits that are judged; those of sgd are cornac's
SEEDS = 10
console = Console(soft_wrap=True)


def ratings(rows: int) -> Path:
    """Ratings like those of MovieLens-20M: long tails of users and items, half stars, liked items rated more."""
    folder = HERE / ".data" / f"ratings-{rows}"
    if (folder / "propensity.npy").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    share = rows / ROWS
    users = int(USERS * share)
    activity = np.maximum(20.0, rng.lognormal(4.2, 1.1, users))
    fame = 1.0 / (np.arange(1, ITEMS + 1) + 60.0) ** 1.25
    left, right = rng.normal(size=(users, 8)), rng.normal(size=(ITEMS, 8)) * 0.25
    pairs: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
    while len(pairs) < rows:  # with replacement, and again until enough of them are different
        n = int((rows - len(pairs)) * 1.3) + 1000
        user = rng.choice(users, n, p=activity / activity.sum()).astype(np.int64)
        item = rng.choice(ITEMS, n, p=fame / fame.sum())
        pairs = np.union1d(pairs, user * ITEMS + item)
    pairs = np.sort(rng.choice(pairs, rows, replace=False))
    user, item = pairs // ITEMS, (pairs % ITEMS).astype(np.int32)
    mean = np.empty(rows)
    for start in range(0, rows, 1_000_000):
        part = slice(start, start + 1_000_000)
        mean[part] = 3.5 + np.einsum("ij,ij->i", left[user[part]], right[item[part]])
    value = np.clip(np.round(2.0 * (mean + 0.8 * rng.normal(size=rows))) / 2.0, 0.5, 5.0)
    expected = 1.0 - np.exp(-1.3 * rows * activity[user] / activity.sum() * fame[item] / fame.sum())
    found = {"indptr": np.concatenate([[0], np.cumsum(np.bincount(user, minlength=users))]), "item": item}
    for name, array in (found | {"value": value, "propensity": np.maximum(expected, 1e-4)}).items():
        np.save(folder / f"{name}.npy", array)
    return folder


def ours(folder: Path, dim: int, epochs: int, solver: Any) -> None:
    """One fit with known propensities, and the time of every epoch; then how well fits of a few epochs predict."""
    import polars as pl

    from peers.common import Taken, Watch, peak_mb, report
    from unskew.log import Feedback, Ids, Log
    from unskew.models import MF

    indptr, item, value, p = (np.load(folder / f"{n}.npy") for n in ("indptr", "item", "value", "propensity"))
    people, things = (Ids(pl.Series("id", np.arange(n))) for n in (len(indptr) - 1, ITEMS))
    log = Log(people, things, indptr, item, value=value, propensity=p, feedback=Feedback.RATINGS)
    MF(dim, solver=solver, rounds=1).fit(log.take(np.arange(1000)))  # compiles
    watch, times = Watch(), []
    model = MF(dim, 1.0, propensity="known", solver=solver, rounds=epochs, tolerance=0.0)
    model.fit(log, progress=lambda *_: times.append(watch.read()))
    epoch, peak = Taken(*np.median(np.diff(times, axis=0), axis=0).tolist()), peak_mb()
    held, quality = np.arange(len(value)) % 100 == 0, []
    train, test = log.take(~held), log.take(held)
    for rounds in ROUNDS[solver]:
        watch = Watch()
        model = MF(dim, 1.0, solver=solver, rounds=rounds, tolerance=0.0).fit(train)
        taken = watch.read()
        quality.append((rounds, *taken, float(np.sqrt(np.mean((model.of(test).rows - value[held]) ** 2)))))
    report(epoch, ("unskew", "numpy", "numba"), quality=quality, peak_mb=peak)


def speed(rows: int) -> Measured:
    """Everybody on the same ratings; ours again on a quarter of them, for memory."""
    folder, few = ratings(rows), ratings(rows // 4)
    size, found = (str(DIM), str(EPOCHS)), {}
    jobs: dict[str, tuple[Path, *tuple[str, ...]]] = {
        f"unskew MF-IPS ({solver}){part}": (Path(sys.executable), "factorisation.py", "ours", str(where), *size, solver)
        for solver in ROUNDS
        for part, where in (("", folder), (", a quarter of the rows", few))
    }
    implicit, cornac = Peer("implicit", "implicit", "implicit"), Peer("cornac", "cornac", "cornac")
    jobs["cornac MF (SGD)"] = (python_of(cornac), "-m", cornac.module, str(folder), *size)
    for solver, title in (("cg", "implicit ALS (default: 3 steps of CG)"), ("exact", "implicit ALS (exact rows)")):
        jobs[title] = (python_of(implicit), "-m", implicit.module, str(folder), *size, solver)
    for title, (python, *arguments) in jobs.items():
        found[title] = alone(python, *arguments)
        console.print(title, {name: found[title][name] for name in ("seconds", "cpu", "peak_mb")})
    return {"rows": rows, "dim": DIM, "jobs": found, **machine()}


def coat(seeds: int) -> Measured:
    """Cross-validation and test errors on Coat, for every seed, loss and weighting."""
    import unskew as us

    data = us.load("coat")
    assert data.mcar is not None and data.mcar.value is not None
    MF, rows = us.models.MF, []
    MF.search(data.mnar, penalties=(5.0,), dims=(2,), loss="absolute", rounds=2)  # compiles
    began, cpu = time.perf_counter(), time.process_time()
    for seed in range(seeds):
        for loss in ("squared", "absolute"):
            for name, propensity in (("MF-IPS", "known"), ("MF-naive", None)):
                model = MF.search(data.mnar, propensity, loss=loss, seed=seed)
                error = model.of(data.mcar).rows - data.mcar.value
                row = {"seed": seed, "loss": loss, "model": name, "penalty": model.penalty, "dim": model.dim}
                row |= {"offsets": model.offsets, "MSE": float(np.mean(error**2)), "MAE": float(np.mean(np.abs(error)))}
                rows.append(row)
                console.print(" ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    taken = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    return {"rows": rows, **taken, **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """None: how it compares is shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and tables."""
    speed_lines = _speed_lines(found["speed"]) if "speed" in found else []
    coat_lines = _coat_lines(found["coat"]) if "coat" in found else []
    return {LEARNERS: "\n".join([*speed_lines, *coat_lines])}


def _speed_lines(found: Measured) -> list[str]:
    jobs = found["jobs"]

    def ratio(title: str, job: Measured) -> str:
        if "unskew" in job["versions"]:
            return "–"
        solver = "sgd" if "SGD" in title else "als"
        return f"{solver}: {job['cpu'] / jobs[f'unskew MF-IPS ({solver})']['cpu']:.1f}× as fast"

    return [
        "### Factorising ratings: speed",
        "",
        f"`python benchmarks/factorisation.py speed` on {conditions(found)}. {versions(*jobs.values())}.",
        "",
        f"{found['rows']:,} generated ratings ({USERS:,} users, {ITEMS:,} items, long tails as in MovieLens-20M), "
        f"d = {found['dim']}. An epoch is one sweep over all users and all items, or over all ratings for SGD; the "
        "median of several (cornac: the mean). unskew has offsets and weights 1/P; als solves each row exactly in "
        "double precision, sgd works in single precision. implicit works in single precision, without offsets. On a "
        "busy machine seconds depend on what others do meanwhile: compare CPU seconds (all cores together).",
        "",
        "| | seconds per epoch | CPU seconds per epoch | by these, unskew is | peak MB |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {title} | {job['seconds']:.2f} | {job['cpu']:.2f} | {ratio(title, job)} | {job['peak_mb']:,.0f} |"
            for title, job in jobs.items()
        ),
        "",
        "Epochs are not alike: one of SGD touches every rating once, in n·d steps; one of alternating least squares "
        "solves every row, in n·d² steps. Objectives differ, too: cornac does not weigh ratings, and its penalty of a "
        "user grows with her number of ratings, that of schnabel16 (ours, whatever the solver) does not. What fits of "
        "a few epochs achieve, with every hundredth rating left out, unweighted, nothing tuned (unskew: λ = 1; cornac: "
        "its defaults), the start included:",
        "",
        "| | epochs | seconds | CPU seconds | RMSE of the ratings left out |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {title.replace('MF-IPS', 'MF-naive')} | {epochs} | {seconds:.1f} | {cpu:.1f} | {rmse:.4f} |"
            for title, job in jobs.items()
            if "quarter" not in title
            for epochs, seconds, cpu, rmse in job.get("quality", ())
        ),
        "",
    ]


def _coat_lines(found: Measured) -> list[str]:
    rows = found["rows"]
    seeds = sorted({row["seed"] for row in rows})
    lines = [
        "### Factorising ratings: accuracy on Coat",
        "",
        f"`python benchmarks/factorisation.py coat` on {conditions(found)}; {found['seconds'] / 60:.1f} minutes, "
        f"{found['cpu'] / 60:.1f} minutes of CPU time.",
        "",
        "Settings (λ, d, treatment of offsets) by 4-fold cross-validation on the self-selected ratings, scored by "
        "inverse propensities (MF-naive: unweighted); a seed is another assignment of folds. Then one fit to all of "
        "them, judged on the random ratings, which nothing else has seen; the 366 pairs that stand in both parts are "
        "kept, as in the paper. Propensities are the shipped ones. schnabel16 Table 2: MF-IPS MSE 1.093, MAE 0.860; "
        "MF-naive 1.202, 0.920.",
        "",
        f"| loss | | MSE, mean of {len(seeds)} seeds (least – greatest) | MAE, mean (least – greatest) |",
        "| --- | --- | --- | --- |",
    ]
    groups: dict[tuple[str, str], list[Measured]] = {}
    for row in rows:
        groups.setdefault((row["loss"], row["model"]), []).append(row)
    for (loss, model), each in groups.items():
        cells = []
        for metric in ("MSE", "MAE"):
            values = [row[metric] for row in each]
            cells.append(f"{np.mean(values):.3f} ({min(values):.3f} – {max(values):.3f})")
        lines.append(f"| {loss} | {model} | {' | '.join(cells)} |")
    searched = sorted({(row["model"], row["loss"], row["penalty"], row["dim"], row["offsets"]) for row in rows})
    chosen = [
        f"{model}, {loss} loss: λ = {penalty:g}, d = {dim}, offsets {offsets}"
        for model, loss, penalty, dim, offsets in searched
    ]
    return [*lines, "", "Settings that were chosen by some seed: " + "; ".join(chosen) + ".", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "job", nargs="*", help="speed or coat (both by default), or ours FOLDER DIM EPOCHS SOLVER: one job of a run"
    )
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    if options.job[:1] == ["ours"]:
        _, folder, dim, epochs, solver = options.job
        return ours(Path(folder), int(dim), int(epochs), solver)
    results = stored("factorisation") or {}
    if not options.job or "coat" in options.job:
        results["coat"] = coat(options.seeds)
    if not options.job or "speed" in options.job:
        results["speed"] = speed(options.rows)
    if (options.rows, options.seeds) != (ROWS, SEEDS):
        return console.print("a partial run: results and page stay as they are")
    return keep("factorisation", results)


if __name__ == "__main__":
    main()
