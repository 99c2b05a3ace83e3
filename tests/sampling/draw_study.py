"""Do intervals of averages over samples cover, and how often are equal models told apart? Prints a table.

    python -m tests.sampling.draw_study [WORLDS]

Beside the intervals stand those without the term for the fixed size (``inference/draw_error.py``), and those with the
variance between draws added instead: θ̂ ± 1.96 √(SE² + variance between draws / number of draws).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from tests.sampling import draw_worlds as worlds
from tests.sampling.draw_worlds import BY_ITEMS, LISTS, TARGETS
from unskew.inference.draw_error import DrawSums
from unskew.kernels.arrays import Bools, Floats

CASES = ((BY_ITEMS, 0.5, 10), ("wtd_h", 0.5, 10), ("wtd_h", 0.2, 3), ("skew", 0.5, 1))
MODELS = ("popular", "rare")
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Intervals:
    """How intervals and the value of an endless log lie, by [world, target, (popular, rare, difference)].

    Args:
        hold: whether the interval holds the value.
        z: how many standard errors the estimate is off.
        added: whether an interval by the variance between draws, added to SE², holds it; of the two values.
    """

    hold: Bools
    z: Floats
    added: Bools


def intervals(strategy: str, size: float, repeats: int, number: int) -> Intervals:
    """Over so many worlds."""
    found = np.array([_one(seed, strategy, size, repeats) for seed in range(number)])
    return Intervals(found[:, 0] > 0.0, found[:, 1], found[:, 2, :, :2] > 0.0)


def _one(seed: int, strategy: str, size: float, repeats: int) -> Floats:
    world = worlds.draw(seed)
    aims = worlds.truth(strategy, world.counts, size)
    result = worlds.evaluated(world, {name: LISTS[name] for name in MODELS}, strategy, size, repeats)
    out = np.zeros((3, len(TARGETS), 3))
    for t, target in enumerate(TARGETS):
        values = [aims[name, target] for name in MODELS]
        rows = [e for e in result.estimates if e.target == target]
        (verdict,) = (v for v in result.verdicts_ if v.target == target)
        for k, (e, aim) in enumerate(zip(rows, values, strict=True)):
            around = 1.96 * np.hypot(e.se, e.draws_se or 0.0)
            out[:, t, k] = e.low <= aim <= e.high, (e.value - aim) / e.se, abs(e.value - aim) <= around
        aim = values[0] - values[1]
        out[:2, t, 2] = verdict.low <= aim <= verdict.high, (verdict.difference - aim) / verdict.se
    return out


@contextmanager
def without_competition() -> Iterator[None]:
    """Intervals and tests as if rows did not compete for places."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DrawSums, "spread", lambda self, columns, mean: np.zeros((len(columns), len(columns))))
        yield


def false_verdicts(size: float, repeats: int, number: int) -> dict[str, float]:
    """How often two equal models are told apart, by ``BY_ITEMS`` and pooled."""
    train = worlds.other_users()
    log = pl.DataFrame({"user": train.train_user + 10**6, "item": train.train_item})
    told: dict[str, list[bool]] = {}
    for seed in range(number):
        world = worlds.draw(seed)
        for kind, lists in worlds.equal_lists(seed, size).items():
            result = worlds.evaluated(world, lists, BY_ITEMS, size, repeats, train=log, share="users")
            (verdict,) = (v for v in result.verdicts_ if v.target == "pooled")
            told.setdefault(kind, []).append(verdict.verdict != "undecided")
    return {kind: float(np.mean(found)) for kind, found in told.items()}


def main(number: int) -> None:
    """Print the table."""
    print(f"{number} worlds of {worlds.USERS:,} users; coverage of 95 % intervals: popular, rare, difference")
    for strategy, size, repeats in CASES:
        full = intervals(strategy, size, repeats, number)
        with without_competition():
            bare = intervals(strategy, size, repeats, number)
        for t, target in enumerate(TARGETS):
            added = _shares(bare.added[:, t]) if repeats > 1 else "–"
            print(
                f"{strategy}, size {size} × {repeats}, {target}: {_shares(full.hold[:, t])}; without the term "
                f"{_shares(bare.hold[:, t])}; with the variance between draws instead {added}",
                flush=True,
            )
    for repeats in (10, 1):
        told = [false_verdicts(0.5, repeats, number)]
        with without_competition():
            told.append(false_verdicts(0.5, repeats, number))
        print(f"equal models told apart, size 0.5 × {repeats}, with and without the term:", *told, flush=True)


def _shares(found: Bools) -> str:
    return " ".join(f"{share:.1%}" for share in found.mean(axis=0))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
