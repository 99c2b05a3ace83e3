"""Results of workloads that have not been measured here, as their scripts would keep them."""

from __future__ import annotations

from typing import Any

import store

WHEN = {"day": "2026-01-02", "cores": 2, "threads": 2, "load": 1.9, "memory_gib": 24, "python": "3.11.7"}


def job(seconds: float, **more: Any) -> dict[str, Any]:
    """A job that kept two cores busy."""
    versions = {"unskew": "0.1.0", "polars": "2.1.0"}
    return {"seconds": seconds, "cpu": 2 * seconds, "peak_mb": 100 * seconds, "versions": versions, **more}


SIZE = {"rows": 10, "users": 100, "items": 50, "models": 2}
GROWN = {"base": 1.0, "rows × 2": 2.0, "models × 10": 11.0}
RESULTS: dict[str, dict[str, Any]] = {
    "reading": {"rows": 10, "jobs": {"csv": job(1), "parquet": job(0.5)}},
    "propensities": {"jobs": {"`audit`, 10 rows": job(1, peak=200.0)}, "differs": 0.0, "losses": {"truth": 0.07}},
    "shop_over_time": {
        "rows": 9, "users": 3, "items": 4, "visits": 5, "log": 30.0, "tested": 2, "test": 16.0, "peak_mb": 400.0,
        "versions": {"unskew": "0.1.0"},
    },
    "growth": {"jobs": {name: job(s, size=SIZE, inputs_mb=50.0) for name, s in GROWN.items()}, "repeats": 3},
}  # fmt: skip


def find(name: str) -> dict[str, Any] | None:
    """Stored, or made up where nothing is."""
    return store.stored(name) or (RESULTS[name] | WHEN if name in RESULTS else None)
