"""How often is census and tilt wrong where the box is right, and where people have tastes that its model cannot know?

``python -m tests.census.box_study`` draws 500 worlds inside the box and 120 with tastes, and writes ``docs/census.md``;
``--worlds 50 --tastes 10`` is for looking and writes nothing. The suite runs 30 worlds inside the box.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.worlds import monte_carlo_error

from .box_worlds import ALONE, DEFAULT, NAIVE, Said, inside, judge, with_tastes

PAGE = Path(__file__).parents[2] / "docs" / "census.md"
WORLDS, TASTE_WORLDS, LEVEL = 500, 40, 0.05
POINTS = ((1.0, 0.0), (2.0, 0.2), (3.0, 0.3), (4.0, 0.0), (4.0, 0.4))  # odds and slope; the box ends at the last one
USERS = (150, 400)
TASTES = ((2.0, 0.0, 0.0), (4.0, 0.4, 0.0), (4.0, 0.4, 0.5))  # odds, slope, and how much people see what suits them


@dataclass(frozen=True)
class Inside:
    """One world inside the box, by its number."""

    world: int
    odds: float
    slope: float
    users: int


@dataclass(frozen=True)
class Tastes:
    """One world of people with tastes, by its number."""

    world: int
    odds: float
    slope: float
    personal: float


def draws(worlds: int) -> list[Inside]:
    """Every point of the box and every number of users as often."""
    each = max(1, worlds // (len(POINTS) * len(USERS)))
    return [Inside(n, *point, users) for point in POINTS for users in USERS for n in range(each)]


def taste_draws(worlds: int) -> list[Tastes]:
    """So many worlds of each kind."""
    return [Tastes(n, *kind) for kind in TASTES for n in range(worlds)]


def one_world(draw: Inside | Tastes) -> Said:
    """Draw it, and ask."""
    if isinstance(draw, Tastes):
        return judge(with_tastes(draw.world, draw.odds, draw.slope, draw.personal), default=True)
    return judge(inside(draw.world, draw.odds, draw.slope, draw.users))


def false(found: Sequence[Said], who: str = ALONE) -> float:
    """The share of worlds with a wrong verdict on any pair."""
    return sum(said.counts[who].wrong > 0 for said in found) / len(found)


def limit(worlds: int) -> float:
    """5 % plus three Monte Carlo errors."""
    return LEVEL + 3.0 * monte_carlo_error(LEVEL, worlds)


def page(inner: Sequence[tuple[Inside, Said]], outer: Sequence[tuple[Tastes, Said]]) -> str:
    """The study as a page."""
    every = [said for _, said in inner]
    share = false(every)
    kept = "which keeps" if share <= limit(len(every)) else "**which misses**"
    lines = [
        "# Census and tilt, tried",
        "",
        f"Made by `python -m tests.census.box_study`: {len(inner):,} worlds inside the box and {len(outer):,} in which "
        "people have tastes beyond the census model (`tests/census/box_worlds.py`, `tests/census/taste_worlds.py`). "
        "`tilted` has its usual box, odds up to 4 and slope up to .4.",
        "",
        "*Any wrong* is the share of worlds with a wrong verdict on any pair of models; *of decided* is the share of "
        "wrong ones among all verdicts that name a model; *right*, *depends* and *undecided* are shares of all pairs; "
        "*covers* is the share of models whose true value lies in the region of `tilted`.",
        "",
        "## Inside the box",
        "",
        "What is unseen is less relevant than the model of what was seen says, by exactly these odds and this slope, "
        "and nobody has a taste that the features do not hold. Seven models, among them two pairs of twins, which are "
        "equally good: a verdict on twins is wrong. `tilted` is told nothing of where in the box it is.",
        "",
        f"**Any wrong in {share:.1%} of the worlds, {kept} 5 % plus three Monte Carlo errors "
        f"({limit(len(every)):.1%}).**",
        "",
    ]
    lines += _head("odds, slope")
    for odds, slope in POINTS:
        some = [said for draw, said in inner if (draw.odds, draw.slope) == (odds, slope)]
        lines.append(_line(f"{odds:g}, {slope:g}", some, ALONE, judged=True))
    lines += ["", *_head("users")]
    lines += [
        _line(f"{users:,}", [said for draw, said in inner if draw.users == users], ALONE, judged=True)
        for users in USERS
    ]
    lines += [
        "",
        "## Tastes that the census model does not know",
        "",
        "Odds and slope are again inside the box, but people have tastes of their own, in four dimensions, which two "
        "of the seven models learn from training and another one knows in part. The census model has item and user "
        "means, counts and exposure affinity, so that no point of the box is right, and every verdict says that the "
        "box does not cover this. *Seen by taste*: people also see what suits their taste. "
        f"{len(outer) // len(TASTES)} worlds for each kind. The default call asks the exposure path, too: what one "
        "decides and the other contradicts somewhere depends.",
        "",
        *_head("world", "asked"),
    ]
    for kind in TASTES:
        some = [said for draw, said in outer if (draw.odds, draw.slope, draw.personal) == kind]
        name = f"odds {kind[0]:g}, slope {kind[1]:g}{', seen by taste' if kind[2] else ''}"
        lines += [_line(f"{name} | {who}", some, who) for who in (ALONE, DEFAULT, NAIVE)]
    return "\n".join([*lines, ""])


def _head(*names: str) -> list[str]:
    cells = [*names, "worlds", "any wrong", "of decided", "right", "depends", "undecided", "covers"]
    return [f"| {' | '.join(cells)} |", "| --- " * len(cells) + "|"]


def _line(name: str, found: Sequence[Said], who: str, *, judged: bool = False) -> str:
    counts = [said.counts[who] for said in found]
    right, wrong, depends, undecided = (
        sum(getattr(each, what) for each in counts) for what in ("right", "wrong", "depends", "undecided")
    )
    total, decided = right + wrong + depends + undecided, max(right + wrong, 1)
    any_wrong = false(found, who)
    mark = " **over**" if judged and any_wrong > limit(len(found)) else ""
    covers = "" if who == NAIVE else f"{sum(s.covered for s in found) / sum(s.models for s in found):.1%}"
    told = f"{any_wrong:.1%}{mark} | {wrong / decided:.2%} | {right / total:.0%} | {depends / total:.0%}"
    return f"| {name} | {len(found)} | {told} | {undecided / total:.0%} | {covers} |"


def main() -> None:
    """Run the study, and write the page where it is a full one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="worlds inside the box")
    parser.add_argument("--tastes", type=int, default=TASTE_WORLDS, help="worlds of each kind of tastes")
    arguments = parser.parse_args()
    inner, outer = draws(arguments.worlds), taste_draws(arguments.tastes)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        start = time.perf_counter()
        said = list(pool.map(one_world, inner, chunksize=5))
        print(f"inside: {false(said):.3f} false ({time.perf_counter() - start:.0f} s)", flush=True)
        tastes = list(pool.map(one_world, outer, chunksize=2))
    text = page(list(zip(inner, said, strict=True)), list(zip(outer, tastes, strict=True)))
    print(text)
    if arguments.worlds >= WORLDS and arguments.tastes >= TASTE_WORLDS:
        PAGE.write_text(text)
        print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
