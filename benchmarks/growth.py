"""How time and memory grow with rows, users, items and models: ``python benchmarks/growth.py [--repeats N]``.

One evaluation is the base: a million held-out rows of 100,000 users, 10,000 items, lists of 20 items by two models,
recall@10 and ndcg@10 by naive, snips and gs with intervals and verdicts, from arrays in memory. Then one of the four is
made larger, the others stay: twice and ten times as many. ``rows`` are held-out rows of each user; ``users`` come with
as many rows and lists each; ``models`` share nothing. Each size in a fresh process, compilation not counted, medians of
several; kept in ``results/growth.json``. Rows beyond memory: ``engines.py``.

    times a straight line = CPU seconds of the larger / (CPU seconds of the base × how many times larger)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from promise import Promise
from store import Measured, alone, conditions, keep, machine, medians, table, versions
from workloads import GROWTH

LISTED, REPEATS, TIMES = 20, 3, (2, 10)


@dataclass(frozen=True)
class Size:
    """One evaluation: held-out rows of each user, users, items and models."""

    rows: int = 10
    users: int = 100_000
    items: int = 10_000
    models: int = 2

    def larger(self, side: str, times: int) -> Size:
        """One side made larger."""
        return replace(self, **{side: times * getattr(self, side)})


def once(size: Size) -> None:
    """One evaluation, after a small one that compiles."""
    import unskew as us
    from peers.common import Watch, peak_mb, report

    asked: Any = {"metrics": ["recall@10", "ndcg@10"], "estimators": ["naive", "snips", "gs"], "propensity": "known"}
    us.evaluate(*inputs(replace(size, users=200, models=2)), **asked)
    log, lists = inputs(size)
    before, watch = peak_mb(), Watch()
    us.evaluate(log, lists, **asked)
    report(watch.read(), ("unskew", "polars", "numba"), inputs_mb=before)


def inputs(size: Size) -> tuple[Any, dict[str, Any]]:
    """Every user's items lie in parts of the catalogue, one in each, so that none is there twice."""
    from unskew.log import Feedback, Ids, Log, Recommendations

    rng = np.random.default_rng(0)
    people, things = (Ids(pl.Series("id", np.arange(n))) for n in (size.users, size.items))

    def drawn(each: int) -> Any:
        part = size.items // each
        popular = part * rng.random((size.users, each)) ** 3  # lists and logs meet at the first items of each part
        return (popular.astype(np.int64) + np.arange(each) * part).astype(np.int32)

    def starts(each: int) -> Any:
        return np.arange(size.users + 1, dtype=np.int64) * each

    propensity = rng.uniform(0.05, 1.0, size.users * size.rows)
    log = Log(
        people,
        things,
        starts(size.rows),
        drawn(size.rows).ravel(),
        propensity=propensity,
        feedback=Feedback.IMPLICIT,
    )
    rank = np.tile(np.arange(1, LISTED + 1, dtype=np.int32), size.users)
    lists = {
        f"m{model}": Recommendations(people, things, starts(LISTED), drawn(LISTED).ravel(), rank)
        for model in range(size.models)
    }
    return log, lists


def measure(base: Size, repeats: int) -> Measured:
    """The base, and each side made larger."""
    jobs = {"base": base} | {f"{side} × {n}": base.larger(side, n) for side in asdict(base) for n in TIMES}
    found = {}
    for name, size in jobs.items():
        sides = [str(side) for side in asdict(size).values()]
        runs = [alone(Path(sys.executable), "growth.py", "--once", *sides) for _ in range(repeats)]
        found[name] = medians(runs) | {"size": asdict(size)}
        print(f"{name}: {found[name]['seconds']:.1f} s, {found[name]['cpu']:.1f} CPU s", flush=True)
    return {"jobs": found, "repeats": repeats, **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """None here: the line of 1 to 100 million rows is promised of the stream (``engines.py``)."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The stored results in words and a table."""
    base, rows = found["jobs"]["base"], []
    for name, job in found["jobs"].items():
        size = job["size"]
        line = "–" if name == "base" else f"{job['cpu'] / base['cpu'] / int(name.split('× ')[1]):.2f}"
        sides = (size["users"] * size["rows"], size["users"], size["items"], size["models"])
        memory = f"{job['peak_mb']:,.0f} ({job['inputs_mb']:,.0f})"
        rows.append(
            (name, *(f"{side:,}" for side in sides), f"{job['seconds']:.1f}", f"{job['cpu']:.1f}", line, memory)
        )
    lines = [
        "### Rows, users, items, models",
        "",
        f"`python benchmarks/growth.py` on {conditions(found)}. {versions(base)}.",
        "",
        f"recall@10 and ndcg@10 by naive, snips and gs with intervals and verdicts, lists of {LISTED}, from arrays in "
        f"memory; one side made larger at a time. Each in a fresh process, medians of {found['repeats']} runs. Peak MB "
        "includes what the process held before (in brackets: the inputs).",
        "",
        *table(
            (
                "",
                "held-out rows",
                "users",
                "items",
                "models",
                "seconds",
                "CPU seconds",
                "times a straight line",
                "peak MB",
            ),
            rows,
        ),
    ]
    return {GROWTH: "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", nargs=4, type=int, metavar=("ROWS", "USERS", "ITEMS", "MODELS"))
    parser.add_argument("--users", type=int, default=Size.users, help="of the base; fewer are for looking")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    if options.once:
        return once(Size(*options.once))
    results = measure(Size(users=options.users), options.repeats)
    print(sections(results)[GROWTH])
    return keep("growth", results) if options.users == Size.users else None


if __name__ == "__main__":
    main()
