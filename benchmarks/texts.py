"""Texts as ids against integers: ``python benchmarks/texts.py [--rows N] [--repeats N] [--only KIND …]``.

The evaluation of ``ours.py`` (two models, three estimators, normal intervals, verdicts) from Parquet files whose ids
are written in four ways: as integers, as texts of up to 12 bytes, as texts of 36 bytes (of the form of a UUID), and as
categoricals. 224 rows of each user: 8 held out, 16 in training, and 100 in each of the two lists; 56 million in all by
default. Every run has a fresh process to itself; compiled code is there already. Prints medians of the time by the
clock and of all cores, the largest memory, and how many times integers each of them is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl

from data import Size, ensure

HERE = Path(__file__).parent
ROWS, PER_USER, ITEMS, REPEATS = 56_000_000, 224, 50_000, 3
FILES = ("test", "train", "a", "b")


def text(name: str, width: int) -> pl.Expr:
    """An id as a text: a letter and the number in a scrambled order, filled up to at least so many bytes."""
    number = (pl.col(name) * 48_271) % 2_147_483_647  # one to one, and neighbours are far apart
    digits = number.cast(pl.String).str.zfill(10)
    filled = digits if width <= 12 else pl.lit("9f0c2b6e-51d4-4a7b-8c3e-7a") + digits
    return (pl.lit(name[0]) + filled if width <= 12 else filled).alias(name)


KINDS = {
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


def run(folder: Path) -> dict[str, float]:
    """One evaluation in a fresh process."""
    done = subprocess.run(
        [sys.executable, str(HERE / "ours.py"), str(folder), "normal"],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.strip().split("\n")[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--only", nargs="*", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    size = Size(users=arguments.rows // PER_USER, items=ITEMS, test=8, train=16)
    folders = {kind: write(size, kind) for kind in arguments.only}
    found: dict[str, list[Any]] = {kind: [] for kind in folders}
    run(next(iter(folders.values())))  # leaves compiled code behind
    for _ in range(arguments.repeats):  # by turns, so that a busy moment hits all of them
        for kind, folder in folders.items():
            found[kind].append(run(folder))
    values = [{name: round(value, 12) for name, value in runs[0]["values"].items()} for runs in found.values()]
    assert all(each == values[0] for each in values), "ids change a number"
    print(f"{PER_USER * size.users:,} rows, {size.users:,} users, {ITEMS:,} items; medians of {arguments.repeats}")
    base: dict[str, float] = {}
    for kind, runs in found.items():
        taken = {name: statistics.median(one[name] for one in runs) for name in ("seconds", "cpu", "peak_mb")}
        base = base or taken
        times = {name: taken[name] / base[name] for name in taken}
        print(
            f"{kind:14} {taken['seconds']:7.2f} s ({times['seconds']:.2f}×)   CPU {taken['cpu']:7.2f} s "
            f"({times['cpu']:.2f}×)   {taken['peak_mb']:7,.0f} MB ({times['peak_mb']:.2f}×)",
            flush=True,
        )


if __name__ == "__main__":
    main()
