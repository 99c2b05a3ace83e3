"""How often does the exposure path name a winner among equal models, and how often does it find a better one?

``python -m tests.inference.path_study`` draws 2,000 worlds in which exposure follows popularity to a degree that nobody
knows, and some in which it does not, and writes ``docs/exposure_path.md``; ``--worlds 200`` is for looking and writes
nothing. The suite runs a few worlds of each kind.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from .path_worlds import FOOLED, KINDS, Said, Size, judge

PAGE = Path(__file__).parents[2] / "docs" / "exposure_path.md"
WORLDS, BETTER_WORLDS, FOOLED_WORLDS, LEVEL = 2_000, 600, 60, 0.05
SKEWS = (0.3, 0.6, 1.0, 1.5)
SHARES = (0.0, 1.0, None)  # of popularity that comes from exposure; None is drawn
USERS, ITEMS = (200, 600, 1_500), (60, 200)
MANY = (300, 1_000, 3_000)  # users of worlds in which the path is fooled
LIFT = 0.5  # by how much the better model is better


@dataclass(frozen=True)
class Draw:
    """One world, by its number; where ``lift`` is 0 its models are equal."""

    kind: str
    size: Size
    world: int
    lift: float


@dataclass(frozen=True)
class Found:
    """A world and what was said in it."""

    draw: Draw
    said: Said


def draws(worlds: int, lift: float) -> list[Draw]:
    """Every kind and strength of skew as often; numbers of users and items and the share of exposure take turns."""
    each = max(1, worlds // (len(KINDS) * len(SKEWS)))
    return [
        Draw(kind, Size(USERS[n // 3 % 3], ITEMS[n // 9 % 2], skew, SHARES[n % 3]), n, lift)
        for kind in KINDS
        for skew in SKEWS
        for n in range(each)
    ]


def fooled(worlds: int) -> list[Draw]:
    """Equal models in worlds that the path does not cover, with more and more users."""
    return [Draw(kind, Size(users, 100, 1.0), n, 0.0) for kind in FOOLED for users in MANY for n in range(worlds)]


def one_world(draw: Draw) -> Found:
    """Draw it, and ask the path."""
    seed = [crc32(draw.kind.encode()), draw.size.users, round(10 * draw.size.skew), draw.world, draw.lift > 0.0]
    return Found(draw, judge((KINDS | FOOLED)[draw.kind](np.random.default_rng(seed), draw.size, draw.lift)))


def study(tasks: Sequence[Draw], pool: ProcessPoolExecutor | None = None) -> list[Found]:
    """All worlds, in their order."""
    return list(map(one_world, tasks) if pool is None else pool.map(one_world, tasks, chunksize=5))


def share(found: Iterable[Found], what: Callable[[Said], bool]) -> float:
    """The share of worlds of which something holds."""
    return float(np.mean([what(each.said) for each in found]))


def limit(worlds: int) -> float:
    """5 % plus three Monte Carlo errors."""
    return LEVEL + 3.0 * math.sqrt(LEVEL * (1.0 - LEVEL) / worlds)


def page(equal: Sequence[Found], better: Sequence[Found], outside: Sequence[Found]) -> str:
    """The study as a page."""
    false = share(equal, lambda said: said.false)
    kept = "which keeps" if false <= limit(len(equal)) else "**which misses**"
    lines = [
        "# The exposure path, tried",
        "",
        f"Made by `python -m tests.inference.path_study`: {len(equal):,} worlds with equal models and {len(better):,} "
        f"with a better one (by {LIFT:.0%}), each with fresh users, likes, lists and exposure "
        "(`tests/inference/path_worlds.py`). Exposure follows popularity to a degree between none and all, a third of "
        "the worlds each: none, all, and drawn at random. 200 to 1,500 users, 60 or 200 items. The truth is known "
        "exactly: recall over relevant pairs, users weighted by their exposure, which is what the path estimates.",
        "",
        "*False* is the share of worlds in which `exposure_path` called one of two equal models ahead, *right* the "
        "share in which it named the better one, *wrong* the share in which it named a worse one, *depends* the share "
        "in which it said of some pair that this depends on how much of popularity comes from exposure. "
        f"{sum(each.said.refused for each in (*equal, *better))} worlds were refused, because no list held a held-out "
        "click, and count as undecided.",
        "",
        f"**{false:.1%} false, {kept} 5 % plus three Monte Carlo errors ({limit(len(equal)):.1%}).** Where the models' "
        "tastes differ and the skew is strong, the honest answer is mostly that it depends: see *right* fall.",
        "",
    ]
    for title, of, names in (
        ("spread of log popularity", lambda draw: draw.size.skew, {skew: f"{skew:g}" for skew in SKEWS}),
        ("models", lambda draw: draw.kind, {kind: kind for kind in KINDS}),
        ("popularity that comes from exposure", lambda draw: draw.size.a, {0.0: "none", 1.0: "all", None: "drawn"}),
        ("users", lambda draw: draw.size.users, {users: f"{users:,}" for users in USERS}),
    ):
        lines += _table(title, of, names, equal, better)
    lines += [
        "## Where the path is fooled",
        "",
        f"Equal models in worlds that the path does not cover, {len(outside) // (len(FOOLED) * len(MANY))} worlds for "
        "each line. More users make it surer, not righter. Every verdict of the path says so: it does not cover "
        "exposure that has nothing to do with popularity, nor exposure chosen for each user.",
        "",
        "| world | users | false | depends |",
        "| --- | --- | --- | --- |",
    ]
    for kind in FOOLED:
        for users in MANY:
            some = [each for each in outside if (each.draw.kind, each.draw.size.users) == (kind, users)]
            told = share(some, lambda said: said.false), share(some, lambda said: said.depends)
            lines.append(f"| {kind} | {users:,} | {told[0]:.0%} | {told[1]:.0%} |")
    described = [f"- **{kind}**: {(make.__doc__ or '').strip()}" for kind, make in (KINDS | FOOLED).items()]
    return "\n".join([*lines, "", "## The worlds", "", *described, ""])


def _table(
    title: str, of: Callable[[Draw], Any], names: Mapping[Any, str], equal: Sequence[Found], better: Sequence[Found]
) -> list[str]:
    """One line for each value of something about worlds."""
    lines = [f"| {title} | worlds | false | depends | better: right | wrong | depends |", "| --- " * 7 + "|"]
    for value, name in names.items():
        some, other = ([each for each in found if of(each.draw) == value] for found in (equal, better))
        false = share(some, lambda said: said.false)
        mark = " **over**" if false > limit(len(some)) else ""
        right, wrong = share(other, lambda said: said.right), share(other, lambda said: said.wrong)
        depends = [share(found, lambda said: said.depends) for found in (some, other)]
        cells = f"{false:.1%}{mark}", f"{depends[0]:.0%}", f"{right:.0%}", f"{wrong:.1%}", f"{depends[1]:.0%}"
        lines.append(f"| {name} | {len(some):,} | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    """Run the study, and write the page where it is a full one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--better", type=int, default=BETTER_WORLDS, help="worlds with a better model")
    parser.add_argument("--fooled", type=int, default=FOOLED_WORLDS, help="worlds of each kind that fools the path")
    arguments = parser.parse_args()
    tasks = [draws(arguments.worlds, 0.0), draws(arguments.better, LIFT), fooled(arguments.fooled)]
    found = []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for what, some in zip(("equal models", "a better model", "outside the path"), tasks, strict=True):
            start = time.perf_counter()
            found.append(study(some, pool))
            told = np.mean([(each.said.false, each.said.right, each.said.wrong) for each in found[-1]], axis=0)
            print(f"{what}: false, right, wrong {np.round(told, 3)} ({time.perf_counter() - start:.0f} s)", flush=True)
    text = page(*found)
    print(text)
    full = arguments.worlds >= WORLDS and arguments.better >= BETTER_WORLDS and arguments.fooled >= FOOLED_WORLDS
    if full:
        PAGE.write_text(text)
        print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
