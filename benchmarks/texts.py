"""Texts as ids against integers: ``python benchmarks/texts.py [--rows N] [--repeats N] [--only KIND …]``.

The evaluation of ``ours.py`` (two models, three estimators, normal intervals, verdicts) from Parquet files whose ids
are written in four ways: as integers, as texts of up to 12 bytes, as texts of 36 bytes (of the form of a UUID), and as
categoricals. 224 rows of each user: 8 held out, 16 in training, and 100 in each of the two lists; 56 million in all by
default. Every run has a fresh process to itself; compiled code is there already. Medians of the time by the clock and
of all cores, and the largest memory; a full run is kept in ``results/texts.json``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from data import Size, ensure
from promise import Promise, as_long
from store import Measured, alone, conditions, keep, machine, medians, table, versions
from workloads import TEXTS

ROWS, PER_USER, ITEMS, REPEATS = 56_000_000, 224, 50_000, 3
FILES = ("test", "train", "a", "b")
SLOWER = 1.5  # times integers, at most


def text(name: str, width: int) -> pl.Expr:
    """An id as a text: a letter and the number in a scrambled order, filled up to at least so many bytes."""
    number = (pl.col(name) * 48_271) % 2_147_483_647  # one to one, and neighbours are far apart
    digits = number.cast(pl.String).str.zfill(10)
    filled = digits if width <= 12 else pl.lit("9f0c2b6e-51d4-4a7b-8c3e-7a") + digits
    return (pl.lit(name[0]) + filled if width <= 12 else filled).alias(name)


KINDS: dict[str, list[pl.Expr]] = {
    "integers": [],
    "short texts": [text(name, 12) for name in ("user", "item")],
    "long texts": [text(name, 36) for name in ("user", "item")],
    "categoricals": [text(name, 12).cast(pl.Categorical) for name in ("user", "item")],
}


def write(size: Size, kind: str) -> Path:
    """The folder of the files with ids of this kind, which are made unless they are there."""
    source = ensure(size)
    if kind == "integers":
        return source
    folder = source.with_name(f"{source.name}-{kind.replace(' ', '-')}")
    if not (folder / "done").exists():
        folder.mkdir(exist_ok=True)
        for name in FILES:
            frame = pl.read_parquet(source / f"{name}.parquet").with_columns(KINDS[kind])
            frame.write_parquet(folder / f"{name}.parquet")
        (folder / "done").touch()
    return folder


def run(folder: Path) -> Measured:
    """One evaluation in a fresh process."""
    return alone(Path(sys.executable), "ours.py", str(folder), "normal")


def promises(found: Measured | None) -> list[Promise]:
    """Each kind beside integers."""
    kinds = found["kinds"] if found else {}
    what = "as ids at 56 million rows, times integers"
    return [
        as_long(f"{kind} {what}", SLOWER, kinds.get(kind), kinds.get("integers"), found)
        for kind in KINDS
        if kind != "integers"
    ]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    size = Size(users=arguments.rows // PER_USER, items=ITEMS, test=8, train=16)
    folders = {kind: write(size, kind) for kind in arguments.only}
    found: dict[str, list[Measured]] = {kind: [] for kind in folders}
    run(next(iter(folders.values())))  # leaves compiled code behind
    for _ in range(arguments.repeats):  # by turns, so that a busy moment hits all of them
        for kind, folder in folders.items():
            found[kind].append(run(folder))
    values = [{name: round(value, 12) for name, value in runs[0]["values"].items()} for runs in found.values()]
    assert all(each == values[0] for each in values), "ids change a number"
    for runs in found.values():
        for one in runs:
            del one["values"]
    kinds = {kind: medians(runs) for kind, runs in found.items()}
    asked = {"rows": PER_USER * size.users, "users": size.users, "items": ITEMS, "repeats": arguments.repeats}
    results = {**asked, "kinds": kinds, **machine()}
    for kind, taken in kinds.items():
        print(
            f"{kind:14} {taken['seconds']:7.2f} s  CPU {taken['cpu']:7.2f} s  {taken['peak_mb']:7,.0f} MB", flush=True
        )
    if set(kinds) == set(KINDS):
        print(sections(results)[TEXTS])
        if arguments.rows == ROWS:
            keep("texts", results)


if __name__ == "__main__":
    main()
