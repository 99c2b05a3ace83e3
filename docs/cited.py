"""Numbers that stand in sentences of README and docs, by name, from stored results (``docs/renew.py`` puts them there).

python docs/cited.py            print all names with their numbers
python docs/cited.py demo       print one
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
DEMO = re.compile(r"^recall@10, pooled, and the truth.*", re.M | re.S)

COAT, TOGETHER, ALONE = "coat-truth", "recall@10, all pairs together", "recall@10, each pair by itself"
RATINGS, LIKES, BOX = "default call, all ratings", "default call, likes only", "census and tilt"
TEN, HUNDRED = 10_000_000, 100_000_000
IMITATORS = "recall@50, all pairs together"


@cache
def records(study: str) -> dict[tuple[str, str, str], float]:
    """Of a reproduction: what stands in each row and column of its tables."""
    stored = json.loads((HERE / "reproduction" / f"{study}.json").read_text(encoding="utf-8"))
    return {(r["experiment"], r["row"], r["column"]): r["ours"] for r in stored["records"]}


@cache
def benchmark(name: str) -> Any:
    """The stored results of a benchmark."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def coat(experiment: str, group: str, row: str, column: str) -> Callable[[], str]:
    """A share of pairs on Coat: none, or per cent with as many digits as it needs."""

    def text() -> str:
        share = records(f"{COAT}-{experiment}")[group, row, column]
        return "none" if share == 0.0 else f"{share:.0f} %" if share >= 1.0 else f"{share:.1f} %"

    return text


@cache
def figures() -> dict[str, float]:
    """The figures of docs/coat_case.py, on the split that the page shows."""
    sys.path.insert(0, str(ROOT))
    from docs.coat_case import held_out, truth

    import unskew as us

    set_ = us.load("coat")
    return {f.name: f.value for f in (*held_out(set_), truth(set_))}


def demo() -> str:
    """The end of what ``unskew demo`` prints."""
    done = subprocess.run([sys.executable, "-m", "unskew", "demo"], capture_output=True, text=True, check=True)
    found = DEMO.search(done.stdout)
    assert found is not None
    return "\n".join(["```text", *(line.rstrip() for line in found[0].rstrip().splitlines()), "```"])


def stream(rows: int, job: str, unit: str) -> float:
    """Of the benchmark of files that exceed memory."""
    return float(benchmark("engines")["runs"][str(rows)][job][unit])


def times_polars(rows: int) -> Callable[[], str]:
    """CPU seconds of the stream, in those of polars."""
    return lambda: f"{stream(rows, 'stream', 'cpu') / stream(rows, 'polars', 'cpu'):.2g}"


def stream_memory(job: str) -> Callable[[], str]:
    """The peak of 100 million rows."""
    return lambda: f"{stream(HUNDRED, job, 'peak_mb') / 1024:.1f} GiB"


def spark_ratio() -> str:
    """Seconds of unskew on Spark, in those of Spark's own join."""
    jobs = benchmark("spark")["jobs"]
    return f"{jobs['unskew']['seconds'] / jobs['spark']['seconds']:.2g}"


NUMBERS: dict[str, Callable[[], str]] = {
    "coat.naive": lambda: f"{figures()['naive']:.3f}",
    "coat.snips": lambda: f"{figures()['snips']:.3f}",
    "coat.truth": lambda: f"{figures()['truth']:.3f}",
    "coat_truth.ratings.right": coat("models", TOGETHER, RATINGS, "right"),
    "coat_truth.ratings.wrong": coat("models", TOGETHER, RATINGS, "wrong"),
    "coat_truth.likes.right": coat("models", TOGETHER, LIKES, "right"),
    "coat_truth.likes.wrong": coat("models", TOGETHER, LIKES, "wrong"),
    "coat_truth.box.right": coat("models", TOGETHER, BOX, "right"),
    "coat_truth.box.wrong": coat("models", TOGETHER, BOX, "wrong"),
    "coat_truth.gamma1.simple": coat("models", ALONE, "snips, pooled, γ = 1", "wrong"),
    "coat_truth.gamma2.simple": coat("models", ALONE, "snips, pooled, γ = 2", "wrong"),
    "coat_truth.gamma1.learned": coat("learned", ALONE, "snips, pooled, γ = 1", "wrong"),
    "coat_truth.gamma2.learned": coat("learned", ALONE, "snips, pooled, γ = 2", "wrong"),
    "coat_truth.imitators.likes": coat("imitators", IMITATORS, "exposure path, likes only", "wrong"),
    "coat_truth.imitators.ratings": coat("imitators", IMITATORS, "exposure path, all ratings", "wrong"),
    "coat_truth.imitators.naive": coat("imitators", IMITATORS, "naive", "wrong"),
    "coat_truth.imitators.depends": coat("imitators", IMITATORS, RATINGS, "depends"),
    "stream.ten.ratio": times_polars(TEN),
    "stream.hundred.ratio": times_polars(HUNDRED),
    "stream.hundred.memory": stream_memory("stream"),
    "stream.hundred.polars": stream_memory("polars"),
    "spark.ratio": spark_ratio,
    "demo": demo,
}


def cited(name: str) -> str:
    """The number of that name."""
    if name not in NUMBERS:
        raise SystemExit(f"docs/cited.py knows no number '{name}'.")
    return NUMBERS[name]()


if __name__ == "__main__":
    for name in sys.argv[1:] or [name for name in NUMBERS if name != "demo"]:
        print(cited(name) if sys.argv[1:] else f"{name}: {cited(name)}")
