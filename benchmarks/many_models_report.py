"""Ten models on ten million held-out rows beside polars and DuckDB: what ``many`` in ``results/engines.json`` says.

    {"command": …, "rows": …, "models": …, "jobs": {"unskew": job, "polars": job, "duckdb": job}, conditions}

where a job holds ``seconds``, ``cpu``, ``peak_mb`` and ``versions``.
"""

from __future__ import annotations

from promise import Promise, as_long, at_most
from store import Measured, conditions, table, versions

PEERS = {"polars": "polars", "duckdb": "DuckDB"}
WHAT = "10 models × 10 million rows"


def promises(found: Measured | None) -> list[Promise]:
    """No slower than either, in less than half of polars' memory."""
    jobs = found["jobs"] if found else {}
    ours, polars = jobs.get("unskew"), jobs.get("polars")
    made = [
        as_long(f"{WHAT}, times hand-written {title}", 1, ours, jobs.get(name), found) for name, title in PEERS.items()
    ]
    memory = ours["peak_mb"] / polars["peak_mb"] if ours and polars else None
    return [*made, at_most(f"{WHAT}, times the memory of polars", 0.5, memory)]


def lines(found: Measured) -> list[str]:
    """The stored results in words and a table."""
    jobs = found["jobs"]
    rows = [
        (PEERS.get(name, name), f"{m['seconds']:.1f}", f"{m['cpu']:.1f}", f"{m['peak_mb']:,.0f}")
        for name, m in jobs.items()
    ]
    return [
        "### Many models beside hand-written queries",
        "",
        f"`{found['command']}` on {conditions(found)}. {versions(*jobs.values())}.",
        "",
        f"{found['rows']:,} held-out rows and lists of {found['models']} models, from Parquet: unskew with intervals "
        "and verdicts, the others without.",
        "",
        *table(("", "seconds", "CPU seconds", "peak MB"), rows),
    ]
