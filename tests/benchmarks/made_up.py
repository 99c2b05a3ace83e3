"""Results of workloads as their scripts would keep them, made up: what has not been measured here can be shown too."""

from __future__ import annotations

import copy
from typing import Any

import store

WHEN = {"day": "2026-01-02", "cores": 2, "threads": 2, "load": 1.9, "memory_gib": 24, "python": "3.11.7"}


def job(seconds: float, **more: Any) -> dict[str, Any]:
    """A job that kept two cores busy."""
    versions = {"unskew": "0.1.0", "polars": "2.1.0"}
    return {"seconds": seconds, "cpu": 2 * seconds, "peak_mb": 100 * seconds, "versions": versions, **more}


def factors_lists() -> dict[str, Any]:
    each = {"product": 2.0, "unskew": 2.5, "numpy": 9.0, "implicit": 6.0, "faiss": 7.0}
    runs: dict[str, dict[str, Any]]
    runs = {name: {"seconds": [s] * 3, "cpu": [2 * s] * 3, "memory": 2**30, "same": 1.0} for name, s in each.items()}
    runs["unskew"]["checked"] = [2_000, 2_000]
    return {"asked": {"users": 100_000, "items": 20_000, "dim": 64, "times": 3}, "libraries": runs, **WHEN}


def core() -> dict[str, Any]:
    found = copy.deepcopy(store.stored("core"))
    assert found is not None
    plain = copy.deepcopy(found["peers"]["polars"])
    more = {"title": "plain polars, full table", "same_work": True}
    found["peers"]["polars_full"] = plain | more | {"files": plain["files"] | {"seconds": 2.0, "cpu": 4.0}}
    found["ours"]["files"] |= {"seconds": 3.0, "cpu": 5.0}
    return found | WHEN


def engines() -> dict[str, Any]:
    runs = {str(n): {"stream": job(n / 1e6), "polars": job(n / 2e6)} for n in (1_000_000, 10_000_000, 100_000_000)}
    return {"runs": runs, "memory": "2GiB", "repeats": 1, **WHEN}


def growth() -> dict[str, Any]:
    size = {"rows": 10, "users": 100, "items": 50, "models": 2}
    names = {"base": 1.0, "rows × 2": 2.0, "models × 10": 11.0}
    return {"jobs": {name: job(s, size=size, inputs_mb=50.0) for name, s in names.items()}, "repeats": 3, **WHEN}


RESULTS: dict[str, dict[str, Any]] = {
    "core": core(),
    "top_k": factors_lists(),
    "reading": {"rows": 10, "jobs": {"csv": job(1), "parquet": job(0.5)}, **WHEN},
    "exposure_path": {
        "rows": 10,
        "jobs": {"pooled snips": job(1, verdict="undecided"), "exposure path": job(1.5, verdict="depends")},
        "versions": {"unskew": "0.1.0"},
        "peak_mb": 300.0,
        **WHEN,
    },
    "propensities": {
        "jobs": {"`audit`, 10 rows": job(1, peak=200.0)},
        "differs": 0.0,
        "losses": {"truth": 0.07},
        **WHEN,
    },
    "splits": {"rows": 10, "jobs": {"polars": job(2), "split": job(1), "split and make": job(3)}, **WHEN},
    "shop_over_time": {
        "rows": 9, "users": 3, "items": 4, "visits": 5, "log": 30.0, "tested": 2, "test": 16.0, "peak_mb": 400.0,
        "versions": {"unskew": "0.1.0"}, **WHEN,
    },
    "plan": {"users": 10, "job": job(20, plan=19.0, drawn=500, pairs=7, runs=3), **WHEN},
    "growth": growth(),
    "engines": engines(),
    "many_models": {
        "rows": 10,
        "models": 10,
        "memory": "768MiB",
        "repeats": 3,
        "jobs": {"unskew": job(3, verdicts=45), "polars": job(9), "duckdb": job(4)},
        **WHEN,
    },
    "spark": {"rows": 10, "cores_of_spark": 2, "jobs": {"spark": job(20), "unskew": job(30)}, **WHEN},
    "texts": {
        "rows": 10, "users": 2, "items": 3, "repeats": 3,
        "kinds": {kind: job(s) for kind, s in
                  {"integers": 4, "short texts": 5, "long texts": 5.5, "categoricals": 4.5}.items()},
        **WHEN,
    },
}  # fmt: skip


def find(name: str) -> dict[str, Any] | None:
    """Made up, or stored where something is."""
    return RESULTS.get(name) or store.stored(name)
