"""What ``results/texts.json`` says: the same evaluation with ids of other kinds.

    {"rows": …, "users": …, "items": …, "repeats": …, "kinds": {"integers": job, "short texts": job, …}, conditions}

where a job holds medians of ``seconds``, ``cpu`` and ``peak_mb``, and ``versions``.
"""

from __future__ import annotations

from promise import Promise, as_long
from store import Measured, conditions, table, versions
from workloads import TEXTS

SLOWER = 1.5  # times integers, at most
KINDS = ("short texts", "long texts", "categoricals")


def promises(found: Measured | None) -> list[Promise]:
    """Each kind beside integers."""
    kinds = found["kinds"] if found else {}
    what = "as ids at 56 million rows, times integers"
    return [as_long(f"{kind} {what}", SLOWER, kinds.get(kind), kinds.get("integers"), found) for kind in KINDS]


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    base, rows = found["kinds"]["integers"], []
    for kind, job in found["kinds"].items():
        times = [f"{job[unit] / base[unit]:.2f}" for unit in ("seconds", "cpu", "peak_mb")]
        taken = (f"{job['seconds']:.1f}", f"{job['cpu']:.1f}", f"{job['peak_mb']:,.0f}")
        rows.append((kind, *(cell for pair in zip(taken, times, strict=True) for cell in pair)))
    header = ("ids", "seconds", "times integers", "CPU seconds", "times integers", "peak MB", "times integers")
    lines = [
        f"`python benchmarks/texts.py` on {conditions(found)}. {versions(base)}.",
        "",
        f"The full table from Parquet ({found['rows']:,} rows in all, {found['users']:,} users, {found['items']:,} "
        "items) with ids as integers, as texts of 11 and of 36 bytes, and as categoricals; the numbers are the same. "
        f"Each in a fresh process, by turns, medians of {found['repeats']} runs.",
        "",
        *table(header, rows),
    ]
    return {TEXTS: "\n".join(lines)}
