"""Fit, count and audit at size: logistic MF on a low-rank world, counts of items and values, an audit of many rows.

Each job runs in a process of its own, for its time and peak memory; results/propensities.json keeps a full run.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from promise import Promise
from store import HERE, Measured, conditions, keep, machine
from store import alone as fresh
from unskew.log import Feedback, Ids, Log, read_log
from workloads import PROPENSITIES

DATA = HERE / ".data"
ROWS, FEW = 100_000_000, 10_000_000
Floats = npt.NDArray[np.float64]
PART = 10_000_000  # rows of each file of ratings
USERS, ITEMS = 2_000_000, 200_000
LOSSES = {
    "truth": "truth",
    "`logistic_mf(dim=10)`": "logistic_mf",
    "offsets alone": "offsets",
    "one constant": "constant",
}


def rows_file(rows: int, *, wide: bool) -> Path:
    """A Parquet log with integer ids and popular items, made once, in chunks."""
    path = DATA / f"rows-{rows}{'-wide' if wide else ''}.parquet"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(0)
        frames = []
        for start in range(0, rows, 5_000_000):
            n = min(5_000_000, rows - start)
            frame = pl.DataFrame(
                {
                    "user": np.sort(rng.integers(start // 50, start // 50 + n // 50 + 1, n)).astype(np.int32),
                    "item": (rng.pareto(0.8, n) * 50).astype(np.int64) % 200_000,
                }
            )
            if wide:
                frame = frame.with_columns(value=rng.integers(0, 2, n), time=np.arange(start, start + n))
            frames.append(frame)
        pl.concat(frames).write_parquet(path, row_group_size=1_000_000)
    return path


def rated_folder(rows: int) -> Path:
    """A folder of Parquet files with ratings, made once: scattered users, no pair twice, as many users in any size."""
    folder = DATA / f"ratings-{rows}"
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}-unfinished")
        unfinished.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        for part, start in enumerate(range(0, rows, PART)):
            row = np.arange(start, min(start + PART, rows))
            user = row * 1_299_709 % USERS
            frame = pl.DataFrame(
                {
                    "user": user.astype(np.int32),
                    "item": ((row // USERS * 4_001 + user * 7_919) % ITEMS).astype(np.int32),
                    "value": rng.choice(5, len(row), p=[0.1, 0.1, 0.2, 0.25, 0.35]) + 1.0,
                }
            )
            frame.write_parquet(unfinished / f"part-{part:02}.parquet", row_group_size=1_000_000)
        unfinished.rename(folder)
    return folder


def random_sample() -> Log:
    """Ratings of pairs that were seen at random."""
    row = np.arange(50_000)
    value = np.random.default_rng(1).choice(5, len(row), p=[0.4, 0.25, 0.2, 0.1, 0.05]) + 1.0
    return Log.from_frame(pl.DataFrame({"user": row, "item": row % 1_000, "value": value}), feedback="ratings")


def bayes(rows: int, how: str) -> dict[str, float]:
    """naive_bayes fitted to values counted in files, or to a log in memory."""
    from unskew.propensity import FitInputs, NaiveBayes, count_values

    folder, mcar = rated_folder(rows), random_sample()
    began = time.perf_counter()
    if how == "files":
        fitted = NaiveBayes.from_counts(count_values(folder), mcar)
    else:
        (path,) = folder.iterdir()
        fitted = NaiveBayes().fit(read_log(path, feedback="ratings"), inputs=FitInputs(mcar=mcar))
    assert fitted.of_value is not None
    return {"seconds": time.perf_counter() - began} | {f"P{k}": float(p) for k, p in enumerate(fitted.of_value, 1)}


def count(rows: int) -> dict[str, float]:
    """Items counted from a Parquet file without holding its rows."""
    from unskew.propensity import count_items

    path = rows_file(rows, wide=False)
    began = time.perf_counter()
    items, counts = count_items(path)
    return {"seconds": time.perf_counter() - began, "items": len(items), "rows": float(np.sum(counts))}


def audit(rows: int, wide: bool) -> dict[str, float]:
    """An audit, reading included."""
    import unskew

    path = rows_file(rows, wide=wide)
    began = time.perf_counter()
    unskew.audit(path, feedback="conversions" if wide else None)
    return {"seconds": time.perf_counter() - began}


def factors(users: int = 15_400, items: int = 1_000, rate: float = 0.0195) -> dict[str, float]:
    """logistic_mf on a world drawn from a low-rank logistic model, judged on a second draw of who saw what."""
    from unskew.propensity import LogisticMF

    rng = np.random.default_rng(0)
    logits = rng.normal(size=(users, 5)) @ rng.normal(size=(5, items)) * 0.5
    logits += rng.normal(size=(users, 1)) * 0.7 + rng.normal(size=(1, items))
    low, high = -20.0, 20.0
    while high - low > 1e-6:  # the global term that gives this share of seen pairs
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.mean(1.0 / (1.0 + np.exp(-logits - middle))) < rate else (low, middle)
    truth = 1.0 / (1.0 + np.exp(-logits - low))
    seen, again = rng.random(truth.shape) < truth, rng.random(truth.shape) < truth
    people, things = (Ids(pl.Series("id", np.arange(n))) for n in seen.shape)
    everything = np.ones_like(seen)

    def log(mask: npt.NDArray[np.bool_]) -> Log:
        indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
        item = np.nonzero(mask)[1].astype(np.int32)
        value = np.ones(len(item))
        return Log(people, things, indptr, item, value=value, feedback=Feedback.CONVERSIONS)

    def loss(p: Floats) -> float:
        p = np.clip(p, 1e-12, 1.0 - 1e-12)
        return float(-np.mean(np.where(again, np.log(p), np.log1p(-p))))

    LogisticMF(epochs=1).fit(log(seen & (np.arange(users) < 50)[:, None]))  # compiles
    found = {"seen": float(seen.sum()), "truth": loss(truth), "constant": loss(np.full_like(truth, seen.mean()))}
    for name, model in {"offsets": LogisticMF(dim=0), "logistic_mf": LogisticMF(dim=10)}.items():
        began = time.perf_counter()
        fitted = model.fit(log(seen))
        found["seconds"] = time.perf_counter() - began
        found[name] = loss(fitted.of(log(everything)).rows.reshape(truth.shape))
    return found


def alone(job: str, *arguments: str) -> Measured:
    """Run one job in a fresh process."""
    return fresh(Path(sys.executable), "propensities.py", job, *arguments)


def measure(rows: int) -> Measured:
    """All jobs, by what they are called on the page."""
    jobs = {f"`count_items`, {n:,} rows": alone("count", str(n)) for n in (FEW, rows)}
    counted = {n: alone("bayes", str(n), "files") for n in (FEW, rows)}
    in_memory = alone("bayes", str(FEW), "memory")
    jobs |= {f"`naive_bayes`, {n:,} ratings counted in files": m for n, m in counted.items()}
    jobs[f"`naive_bayes`, {FEW:,} ratings in memory, reading included"] = in_memory
    jobs[f"`audit`, {FEW:,} rows of user, item"] = alone("audit", str(FEW), "narrow")
    jobs[f"`audit`, {FEW:,} rows with value, time"] = alone("audit", str(FEW), "wide")
    mf = alone("factors")
    jobs[f"`logistic_mf(dim=10)`, 15,400 × 1,000, {mf['seen']:,.0f} seen"] = mf
    differs = max(abs(counted[FEW][f"P{k}"] / in_memory[f"P{k}"] - 1.0) for k in range(1, 6))
    losses = {name: mf[key] for name, key in LOSSES.items()}
    return {"jobs": jobs, "differs": differs, "losses": losses, **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """None: times and memory are shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    losses = ", ".join(f"{name} {loss:.4f}" for name, loss in found["losses"].items())
    lines = [
        f"`python benchmarks/propensities.py` on {conditions(found)}. unskew "
        f"{next(iter(found['jobs'].values()))['versions']['unskew']}.",
        "",
        "| job | seconds | peak MB |",
        "| --- | --- | --- |",
        *(f"| {job} | {m['seconds']:.1f} | {m['peak']:,.0f} |" for job, m in found["jobs"].items()),
        "",
        f"The ratings lie in files of {PART:,} rows, with {USERS:,} users and {ITEMS:,} items in either size. Peak MB "
        "is the largest resident size of a process that does nothing else. Counted in files and in memory, the "
        f"propensities of {FEW:,} ratings differ by {found['differs']:.1g} at most (relative).",
        "",
        f"Log-loss of a second draw of who saw what, in a world of five factors: {losses}.",
    ]
    return {PROPENSITIES: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*")
    parser.add_argument("--rows", type=int, default=ROWS)
    options = parser.parse_args()
    if not options.job:
        results = measure(options.rows)
        print(sections(results)[PROPENSITIES])
        if options.rows == ROWS:
            keep("propensities", results)
        return
    job, *rest = options.job
    if job == "count":
        found = count(int(rest[0]))
    elif job == "bayes":
        found = bayes(int(rest[0]), rest[1])
    elif job == "audit":
        found = audit(int(rest[0]), rest[1] == "wide")
    else:
        found = factors()
    used = {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    print(json.dumps({**found, **used, "versions": {"unskew": version("unskew")}}))


if __name__ == "__main__":
    main()
