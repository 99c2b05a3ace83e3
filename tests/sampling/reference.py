"""Slow and obvious: successive weighted draws by enumeration, and posteriors by loops over rows."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

Row = tuple[object, object]


def sets(weights: list[float], size: int) -> dict[frozenset[int], float]:
    """The probability of every sample."""
    found: dict[frozenset[int], float] = {}
    for order in permutations(range(len(weights)), size):
        probability, left = 1.0, sum(weights)
        for row in order:
            probability *= weights[row] / left
            left -= weights[row]
        found[frozenset(order)] = found.get(frozenset(order), 0.0) + probability
    return found


def weights(
    rows: list[Row], train: list[Row], random: list[Row] | None, powers: tuple[float, float], zero: float = 1e-4
) -> list[float]:
    """w_u^a w_i^b of each row (carraro20 Eqs. 13, 14), targets from the random rows or uniform."""
    found = [1.0] * len(rows)
    for side, power in enumerate(powers):
        mnar = Counter(row[side] for row in train)
        target = None if random is None else Counter(row[side] for row in random)
        number = len({row[side] for row in rows} | {row[side] for row in train})
        for place, row in enumerate(rows):
            below = mnar[row[side]] / len(train) if mnar[row[side]] else zero
            if target is None:
                above = 1.0 / number
            else:
                above = target[row[side]] / len(random or ()) if target[row[side]] else zero
            found[place] *= (above / below) ** power
    return found
