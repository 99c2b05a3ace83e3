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
from unskew.kernels.arrays import Bools

CASES = ((BY_ITEMS, 0.5, 10), ("wtd_h", 0.5, 10), ("wtd_h", 0.2, 3), ("skew", 0.5, 1))
MODELS = ("popular", "rare")
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Coverage:
    """Whether intervals hold the value of an endless log, by [world, target, (popular, rare, difference)].

    Args:
        full: those of ``evaluate``.
        bare: those without the term for the fixed size.
        added: ... with the variance between draws added instead.
    """

    full: Bools
    bare: Bools
    added: Bools


def coverage(strategy: str, size: float, repeats: int, number: int) -> Coverage:
    """Over so many worlds."""
    found = np.array([_covers(seed, strategy, size, repeats) for seed in range(number)])
    return Coverage(found[:, 0], found[:, 1], found[:, 2])


def _covers(seed: int, strategy: str, size: float, repeats: int) -> Bools:
    world = worlds.draw(seed)
    aims = worlds.truth(strategy, world.counts, size)
    lists = {name: LISTS[name] for name in MODELS}
    found = np.zeros((3, len(TARGETS), 3), dtype=np.bool_)
    whole = worlds.evaluated(world, lists, strategy, size, repeats)
    with without_competition():
        bare = worlds.evaluated(world, lists, strategy, size, repeats)
    for t, target in enumerate(TARGETS):
        aim = [aims[name, target] for name in MODELS]
        for j, result in enumerate((whole, bare)):
            rows = [e for e in result.estimates if e.target == target]
            (verdict,) = (v for v in result.verdicts_ if v.target == target)
            found[j, t] = [
                *(e.low <= value <= e.high for e, value in zip(rows, aim, strict=True)),
                verdict.low <= aim[0] - aim[1] <= verdict.high,
            ]
        for k, (e, value) in enumerate(zip(rows, aim, strict=True)):
            found[2, t, k] = abs(e.value - value) <= 1.96 * np.hypot(e.se, e.draws_se or 0.0)
    return found


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
        found = coverage(strategy, size, repeats, number)
        for t, target in enumerate(TARGETS):
            shares = {
                name: " ".join(f"{share:.1%}" for share in getattr(found, name)[:, t].mean(axis=0))
                for name in ("full", "bare", "added")
            }
            shares["added"] = " ".join(shares["added"].split()[:2]) if repeats > 1 else "–"
            print(f"{strategy:6} size {size} × {repeats:<3} {target:9}", shares, flush=True)
    for size, repeats in ((0.5, 10), (0.5, 1)):
        told = [false_verdicts(size, repeats, number)]
        with without_competition():
            told.append(false_verdicts(size, repeats, number))
        print(f"equal models told apart, size {size} × {repeats}, with and without the term:", *told, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
