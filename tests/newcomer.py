"""A newcomer's first five minutes: ``python -m tests.newcomer``, run by ``make verify``.

From a fresh clone and two CSV files with column names of their own to a verdict and a page, by the commands that README
gives under "Your own files", installation included. Fails if a command does, if no verdict or page comes, or if all of
it takes more than five minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
LIMIT = 300.0  # seconds
VERDICT = re.compile(r"\b(is ahead|is better|cannot decide|undecided|depends)\b")


def purchases(folder: Path) -> None:
    """A shop's purchases before and after a day, as it would write them."""
    rng = np.random.default_rng(0)
    customers, articles = 1_500, 300
    taste = rng.integers(0, 6, customers)
    odds = 1.0 / (1.0 + np.arange(articles)) ** 0.7
    for name, per_customer, day in (("bought_before", 20, "2026-03-01"), ("bought_later", 6, "2026-04-01")):
        who = np.repeat(np.arange(customers), per_customer)
        own = (rng.random(len(who)) < 0.5)[:, None] & (np.arange(articles) % 6 == taste[who][:, None])
        weight = odds * np.where(own, 8.0, 1.0)
        bought = (weight.cumsum(1) > rng.random((len(who), 1)) * weight.sum(1, keepdims=True)).argmax(1)
        rows = pl.DataFrame({"CustomerID": who + 12_000, "StockCode": bought}).unique(maintain_order=True)
        code = pl.format("A{}", pl.col("StockCode") + 10_000)
        rows.with_columns(StockCode=code, InvoiceDate=pl.lit(day)).write_csv(folder / f"{name}.csv")


def commands() -> list[str]:
    """Those of README's first block under "Your own files"."""
    text = (ROOT / "README.md").read_text("utf-8").split("## Your own files")[1]
    found = re.search(r"```bash\n(.*?)```", text, re.S)
    assert found is not None
    return [line.split("#")[0].strip() for line in found[1].replace("\\\n", " ").splitlines() if line.strip()]


def main() -> None:
    """Clone, install, evaluate; print how long each took."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "unskew"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        purchases(folder)
        start, said = time.perf_counter(), ""
        for command in ("make setup", *commands()):
            begun = time.perf_counter()
            line = command if command.startswith("make") else f". .venv/bin/activate && {command}"
            done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
            print(f"{time.perf_counter() - begun:6.1f} s  {command}", flush=True)
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            said += done.stdout
        taken = time.perf_counter() - start
        if not VERDICT.search(said):
            sys.exit(f"no verdict came:\n{said}")
        if "<html" not in (folder / "report.html").read_text("utf-8"):
            sys.exit("no page came")
        print(f"{taken:6.1f} s  in all (at most {LIMIT:.0f})")
        if taken > LIMIT:
            sys.exit("that is too long")


if __name__ == "__main__":
    main()
