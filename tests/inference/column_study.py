"""What does a default call say of two equal models when the column ``propensity`` is what real loggers write?

``python -m tests.inference.column_study`` draws 100 worlds of every kind and writes ``docs/broken_columns.md``;
``--worlds 40`` is for looking and writes nothing, ``--kind TEXT`` takes the kinds that contain this text.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

import numpy as np

from .broken_columns import BROKEN
from .column_worlds import Said, World, judge
from .honest_columns import HONEST, by_item
from .verdict_worlds import Case

PAGE = Path(__file__).parents[2] / "docs" / "broken_columns.md"
WORLDS = 100


@dataclass(frozen=True)
class Task:
    """One world of a kind; with a ``lift`` model b is the better one."""

    kind: str
    world: int
    lift: float = 1.0

    def draw(self) -> World | Case:
        """The world."""
        rng = np.random.default_rng([crc32(self.kind.encode()), self.world, round(10 * self.lift)])
        return HONEST[self.kind][0](rng, self.lift) if self.kind in HONEST else BROKEN[self.kind](rng)


@dataclass(frozen=True)
class Found:
    """What was said in all worlds of a kind, with zeros or without, of equal models and of a better model b."""

    kind: str
    zeros: bool
    equal: tuple[Said, ...]
    better: tuple[Said, ...] = ()

    def share(self, *words: str) -> float:
        """Of the worlds with equal models, those with one of these verdicts."""
        return float(np.mean([said.word in words for said in self.equal]))

    @property
    def false(self) -> float:
        """How often one of two equal models was named."""
        return float(np.mean([bool(said.named) for said in self.equal]))

    @property
    def mostly(self) -> str:
        """Which of them was named more often."""
        return max(Counter(said.named for said in self.equal if said.named).items(), key=lambda n: n[1], default=("",))[
            0
        ]

    @property
    def power(self) -> float:
        """How often the better model was named, of those worlds in which it is better."""
        return float(np.mean([said.named == "b" for said in self.better]))

    @property
    def wrong(self) -> float:
        """How often the worse model was named."""
        return float(np.mean([said.named == "a" for said in self.better]))

    def alarms(self) -> Counter[str]:
        """Why verdicts were withheld, in all worlds."""
        return Counter(said.trust for said in self.equal + self.better if withheld(said))

    @property
    def withheld(self) -> float:
        """How often a verdict was withheld or widened by an alarm, in all worlds."""
        return sum(self.alarms().values()) / len(self.equal + self.better)

    @property
    def refused(self) -> float:
        """How often there was no answer."""
        return float(np.mean([said.word == "refused" for said in self.equal + self.better]))

    @property
    def more(self) -> float:
        """How often the assumption says more than that of an honest log, in all worlds."""
        usual = ("", standard(self.zeros))
        return float(np.mean([said.assumption not in usual for said in self.equal + self.better]))


def withheld(said: Said) -> bool:
    """Whether more than chance stood in the way: a reason is given, or the headline corrects nothing."""
    return said.word == "not debiased" or (said.word == "undecided" and bool(said.trust))


@cache
def standard(zeros: bool) -> str:
    """The assumption of a verdict on an honest log, in which one model is far better."""
    return judge(by_item(np.random.default_rng(0), 4.0).case(zeros)).assumption


def one_world(task: Task) -> dict[bool, Said]:
    """What is said of one world, with zeros and without."""
    made = task.draw()
    return (
        {True: judge(made)} if isinstance(made, Case) else {zeros: judge(made.case(zeros)) for zeros in (True, False)}
    )


def study(kind: str, worlds: int, pool: ProcessPoolExecutor | None = None) -> list[Found]:
    """Draw the worlds of one kind: with zeros, and without."""
    said = []
    for lift in (1.0, HONEST[kind][1]) if kind in HONEST else (1.0,):
        tasks = [Task(kind, world, lift) for world in range(worlds)]
        said.append(list(map(one_world, tasks) if pool is None else pool.map(one_world, tasks, chunksize=5)))
    return [Found(kind, zeros, *(tuple(each[zeros] for each in every) for every in said)) for zeros in said[0][0]]


BROKEN_HEAD = (
    "| column | zeros | better, worse | ahead, behind | whom | depends | undecided | withheld | refused | says more |"
)
HONEST_HEAD = (
    "| column | zeros | lift | false | power | as better | the worse | depends | withheld | refused | says more |"
)


def line(found: Found) -> str:
    """A row of the page's table."""
    shares = _honest(found) if found.kind in HONEST else _broken(found)
    told = (found.withheld, found.refused, found.more)
    return " | ".join([f"| {found.kind}", "yes" if found.zeros else "no", *shares, *map(_percent, told)]) + " |"


def _broken(found: Found) -> list[str]:
    named = _percent(found.share("better", "worse")), _percent(found.share("ahead", "behind")), found.mostly
    others = found.share("depends"), found.share("undecided", "not debiased") - found.withheld
    return [*named, *map(_percent, others)]


def _honest(found: Found) -> list[str]:
    sure = float(np.mean([said.word in ("better", "worse") for said in found.better]))
    depends = float(np.mean([said.word == "depends" for said in found.equal + found.better]))
    shares = (found.false, found.power, sure, found.wrong, depends)
    return [f"{HONEST[found.kind][1]:g}", *map(_percent, shares)]


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g}%"


def table(found: Iterable[Found], head: str) -> Iterator[str]:
    """A table of the page."""
    yield from ("", head, "| --- " * (head.count("|") - 1) + "|", *map(line, found))


def page(found: Sequence[Found]) -> str:
    """The study as a page."""
    worlds = len(found[0].equal)
    lines = [
        "# Broken columns",
        "",
        f"Made by `python -m tests.inference.column_study`: {worlds} worlds of every kind, each with fresh users and "
        "lists, and a default call of `us.evaluate` in each, with zeros logged (`feedback=conversions`) and without. "
        "Shares of worlds are counted by the verdict that makes the headline: *withheld* is undecided with another "
        "reason than chance, *says more* a condition beyond that of an honest log.",
        "",
        "## Columns that are something else",
        "",
        "Both models are equally good, and a resembles what chose the log: naming either is wrong.",
        *table((each for each in found if each.kind in BROKEN), BROKEN_HEAD),
        "",
        "## Columns that are right",
        "",
        "*False* is a winner among equal models. Then b is made better: what it alone lists is relevant *lift* times "
        "as often. *Power* is how often it is named, *as better* how often without a condition.",
        *table((each for each in found if each.kind in HONEST), HONEST_HEAD),
        "",
        "## The worlds",
        "",
    ]
    makers = {**BROKEN, **{kind: make for kind, (make, _) in HONEST.items()}}
    return "\n".join([*lines, *(f"- **{kind}**: {(make.__doc__ or '').strip()}" for kind, make in makers.items()), ""])


def remarks(found: Found) -> Iterator[str]:
    """Why honest logs were held back, and what other cells say than the headline."""
    if found.kind in HONEST:
        yield from (f"{count} withheld: {text}" for text, count in found.alarms().most_common(2))
    if beside := sum(said.beside and not said.named for said in found.equal):
        yield f"in {beside} worlds with equal models another estimator names one, and the headline does not"


def main() -> None:
    """Run the study, and write the page where it is a full one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--kind", default="", help="only kinds that contain this text")
    arguments = parser.parse_args()
    found = []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for kinds, head in ((BROKEN, BROKEN_HEAD), (HONEST, HONEST_HEAD)):
            print(head)
            for kind in (kind for kind in kinds if arguments.kind in kind):
                start = time.perf_counter()
                for each in study(kind, arguments.worlds, pool):
                    found.append(each)
                    print(line(each), f" {time.perf_counter() - start:.0f} s", flush=True)
                    print("".join(f"    {text}\n" for text in remarks(each)), end="", flush=True)
    if arguments.worlds >= WORLDS and not arguments.kind:
        PAGE.write_text(page(found))
        print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
