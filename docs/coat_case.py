"""A real log whose truth is known: the figures of docs/coat.md (``python docs/coat_case.py``).

Coat has ratings of coats that people chose, with the propensities that its authors ship, and ratings of coats drawn at
random, which show the truth. A model that predicts 3 for every coat has no parameters, so nothing can be overfitted:
its mean absolute error is judged on the chosen coats, and compared with the random ones.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import unskew as us
from unskew.log.datasets import Dataset

SHARE, SEED, SPLITS = 0.3, 0, 200
MODELS = {"three": np.full((290, 300), 3.0)}


@dataclass(frozen=True)
class Figure:
    """The mean absolute error by one estimate, with its interval."""

    name: str
    value: float
    low: float
    high: float

    def holds(self, right: Figure) -> bool:
        """Whether the interval holds the right value."""
        return self.low <= right.value <= self.high


def truth(coat: Dataset) -> Figure:
    """On coats that were drawn at random a plain average is right."""
    assert coat.mcar is not None
    (found,) = us.evaluate(coat.mcar, MODELS, metrics=["mae"], estimators=["naive"]).estimates
    return Figure("truth", found.value, found.low, found.high)


def whole(coat: Dataset) -> list[Figure]:
    """naive and snips on all chosen coats."""
    result = us.evaluate(coat.mnar, MODELS, metrics=["mae"], estimators=["naive", "snips"], propensity="known")
    return [Figure(e.estimator, e.value, e.low, e.high) for e in result.estimates]


def held_out(coat: Dataset, seed: int = SEED) -> list[Figure]:
    """naive and snips on a random 30 % of the chosen coats, as a model that is fitted to the rest would be judged."""
    train, test = us.split.holdout(coat.mnar, SHARE, seed=seed)
    result = us.evaluate(
        test, MODELS, metrics=["mae"], estimators=["naive", "snips"], propensity="known", train=train, threads=1
    )
    return [Figure(e.estimator, e.value, e.low, e.high) for e in result.estimates]


def main() -> None:
    """Print the table of docs/coat.md, and what other splits say; ``table``: the table alone."""
    coat = us.load("coat")
    right = truth(coat)
    print("| judged on | estimator | mae | 95 % interval | holds the truth |\n|---|---|---|---|---|")
    for title, figures in (
        (f"30 % held out, seed {SEED}", held_out(coat)),
        ("all chosen coats", whole(coat)),
        ("coats drawn at random", [right]),
    ):
        for f in figures:
            mark = "" if f is right else "yes" if f.holds(right) else "**no**"
            name, value = (f"**{f.name}**", f"**{f.value:.3f}**") if f is right else (f.name, f"{f.value:.3f}")
            print(f"| {title} | {name} | {value} | [{f.low:.3f}, {f.high:.3f}] | {mark} |")
    if sys.argv[1:] == ["table"]:
        return
    drawn = [held_out(coat, seed) for seed in range(SPLITS)]
    for at, name in enumerate(("naive", "snips")):
        values = [figures[at].value for figures in drawn]
        inside = np.mean([figures[at].holds(right) for figures in drawn])
        print(f"{SPLITS} splits, {name}: mean {np.mean(values):.3f}, truth inside the interval in {100 * inside:.0f} %")


if __name__ == "__main__":
    main()
