"""How often does a default call name a winner among equal models, and how often does it find a better one?

``python -m tests.inference.false_verdicts`` draws 500 worlds for every row, each with fresh users, and writes
``docs/false_verdicts.md``; ``--worlds 40`` is for looking and writes nothing. The suite runs one small row per kind.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

import numpy as np

from .verdict_worlds import KINDS, judge

PAGE = Path(__file__).parents[2] / "docs" / "false_verdicts.md"
WORLDS, LEVEL = 500, 0.05
PULL = 1.0  # how much the better model prefers relevant items


@dataclass(frozen=True)
class Row:
    """One kind of world: so many users, clicks per user on average, and a spread of exposure."""

    kind: str
    users: int
    clicks: float
    tail: float


@dataclass(frozen=True)
class Found:
    """Shares of worlds with a false verdict, with a right one, and refused."""

    row: Row
    worlds: int
    false: float
    power: float
    refused: float

    @property
    def limit(self) -> float:
        """5 % plus three Monte Carlo errors."""
        return LEVEL + 3.0 * math.sqrt(LEVEL * (1.0 - LEVEL) / self.worlds)


def rows() -> list[Row]:
    """From 30 to 2,000 users, one to twenty clicks per user, even and heavy-tailed exposure."""
    sizes = ((30, 5.0, 0.5), (100, 1.0, 1.5), (100, 20.0, 0.5), (400, 3.0, 1.5), (2_000, 1.0, 0.5), (2_000, 5.0, 1.5))
    usual = [Row(kind, *size) for kind in list(KINDS)[:2] for size in sizes]
    return usual + [Row(kind, 600, 4.0, 1.0) for kind in list(KINDS)[2:]]


def one_world(task: tuple[Row, int]) -> tuple[bool, bool, bool]:
    """One world with equal models, and one with a better one."""
    row, world = task
    made = []
    for pull in (0.0, PULL):
        rng = np.random.default_rng([crc32(row.kind.encode()), row.users, round(10 * row.clicks), world, round(pull)])
        made.append(judge(KINDS[row.kind](rng, row.users, row.clicks, row.tail, pull)))
    return made[0].decided, made[1].right, made[0].refused


def study(row: Row, worlds: int, pool: ProcessPoolExecutor | None = None) -> Found:
    """Draw the worlds of one row."""
    tasks = [(row, world) for world in range(worlds)]
    said = list(map(one_world, tasks) if pool is None else pool.map(one_world, tasks, chunksize=10))
    false, power, refused = np.mean(said, axis=0)
    return Found(row, worlds, float(false), float(power), float(refused))


def page(found: Sequence[Found]) -> str:
    """The study as a page."""
    worst = max(each.false for each in found)
    over = [each for each in found if each.false > each.limit]
    worlds = found[0].worlds
    kept = "Every row keeps" if not over else f"**{len(over)} rows miss**"
    lines = [
        "# False verdicts",
        "",
        f"Made by `python -m tests.inference.false_verdicts`: {worlds} worlds for every row, each with fresh users, "
        "preferences, lists and exposure (`tests/inference/verdict_worlds.py`). Relevance does not depend on exposure, "
        "so lists that ignore relevance are equally good, whatever they show. Each world is given to a default call of "
        "`us.evaluate`; *false* is the share of worlds in which its headline estimator named a winner among equal "
        "models (for five models any of ten pairs, for segments any of them), *power* the share in which the better "
        "model was named when there was one, *refused* the share that was not answered at all.",
        "",
        f"{kept} 5 % plus three Monte Carlo errors ({found[0].limit:.1%}); the worst is {worst:.1%}. Few users or few "
        "clicks leave little power: there the answer is “undecided”, with the reason.",
        "",
        "| world | users | clicks per user | spread of exposure | false | power | refused |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in found:
        row = each.row
        mark = " **over**" if each.false > each.limit else ""
        lines.append(
            f"| {row.kind} | {row.users:,} | {row.clicks:g} | {row.tail:g} | {each.false:.1%}{mark} | {each.power:.0%} "
            f"| {each.refused:.0%} |"
        )
    described = [f"- **{kind}**: {(make.__doc__ or '').strip().splitlines()[0]}" for kind, make in KINDS.items()]
    return "\n".join([*lines, "", "## The worlds", "", *described, ""])


def main() -> None:
    """Run the study, and write the page where it is a full one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--kind", help="only kinds that contain this text")
    arguments = parser.parse_args()
    chosen = [row for row in rows() if not arguments.kind or arguments.kind in row.kind]
    found = []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for row in chosen:
            start = time.perf_counter()
            found.append(study(row, arguments.worlds, pool))
            each = found[-1]
            print(
                f"{row.kind:28} {row.users:6,} users {row.clicks:4g} clicks {row.tail:g}: false {each.false:.3f}"
                f"{' OVER' if each.false > each.limit else ''}, power {each.power:.2f}, refused {each.refused:.2f}"
                f" ({time.perf_counter() - start:.0f} s)",
                flush=True,
            )
    if arguments.worlds >= WORLDS and not arguments.kind:
        PAGE.write_text(page(found))
        print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
