"""How often do answers name a model where two are equally good, and do their intervals cover?

``python -m tests.anchored.study 200`` draws so many worlds of each kind, rate and number of questions and prints a
table; ``python -m tests.anchored.study 200 plan rounds`` those of some kinds; the suite runs a few.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.anchored.plan_worlds import KINDS as PLANNED
from tests.anchored.plan_worlds import judge_plan
from tests.anchored.worlds import Draw, Said, judge
from tests.worlds import monte_carlo_error

KINDS, RATES, QUESTIONS = ("cancelled", "positives"), (0.002, 0.03, 0.3), (100, 500, 2000)
PLANNED_RATES, PLANNED_QUESTIONS = (0.02, 0.15), 500
LEVEL = 0.05


def draws(worlds: int) -> list[Draw]:
    """So many worlds of each kind."""
    kinds = [(kind, rate, n) for kind in KINDS for rate in RATES for n in QUESTIONS]
    kinds += [(kind, rate, PLANNED_QUESTIONS) for kind in PLANNED for rate in PLANNED_RATES]
    return [Draw(world, *each) for each in kinds for world in range(worlds)]


def judge_any(draw: Draw) -> Said:
    """One world, asked by chances of its own or by a plan."""
    return judge_plan(draw) if draw.kind in PLANNED else judge(draw)


def limit(worlds: int) -> float:
    """5 % plus three Monte Carlo errors."""
    return LEVEL + 3.0 * monte_carlo_error(LEVEL, worlds)


def wrong(found: Sequence[Said]) -> float:
    """The share of worlds in which one of two equal models was named."""
    return sum(said.decided for said in found) / len(found)


def covered(found: Sequence[Said]) -> float:
    """The share of values whose interval holds the truth, of those that were given."""
    return sum(said.covered for said in found) / max(sum(said.given for said in found), 1)


def table(asked: Sequence[Draw], found: Sequence[Said]) -> str:
    """One line for each kind of world."""
    lines = ["| world | relevance | questions | positive answers | wrong | covers | values given |", "| --- " * 7 + "|"]
    for key in dict.fromkeys((draw.kind, draw.rate, draw.questions) for draw in asked):
        some = [s for d, s in zip(asked, found, strict=True) if (d.kind, d.rate, d.questions) == key]
        mark = " **over**" if wrong(some) > limit(len(some)) else ""
        positive = sum(said.positive for said in some) / len(some)
        given = sum(said.given for said in some) / (2 * len(some))
        covers = f"{covered(some):.1%}" if given else "–"
        rest = f"{positive:.1f} | {wrong(some):.1%}{mark} | {covers} | {given:.0%}"
        lines.append(f"| {key[0]} | {key[1]:g} | {key[2]:,} | {rest} |")
    return "\n".join(lines)


def main() -> None:
    """Run the study and print it."""
    kinds = sys.argv[2:] or [*KINDS, *PLANNED]
    asked = [draw for draw in draws(int(sys.argv[1]) if len(sys.argv) > 1 else 2000) if draw.kind in kinds]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        found = list(pool.map(judge_any, asked, chunksize=20))
    print(table(asked, found))


if __name__ == "__main__":
    main()
