"""Census and tilt (MATHS §15), written down as slowly and obviously as possible: loops over users × items.

Nothing of the library is used: features, regression, sums, gradients and errors are made anew from dictionaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Pair = tuple[int, int]
WIDTH = 6


@dataclass(frozen=True)
class World:
    """Training and held-out rows with outcomes, and models' lists as user → items, the best first."""

    users: int
    items: int
    train: Mapping[Pair, int]
    test: Mapping[Pair, int]
    lists: Mapping[str, Mapping[int, Sequence[int]]]


@dataclass(frozen=True)
class Answer:
    """Values and standard errors, of models and of the difference of the first two."""

    values: dict[str, float]
    errors: dict[str, float]
    difference_error: float


def features(world: World, rank: int, shrink: float) -> dict[Pair, list[float]]:
    """x of every pair, before it is standardised."""
    mean = (sum(world.train.values()) + 1) / (len(world.train) + 2)

    def side(place: int, who: int) -> list[float]:
        mine = [y for pair, y in world.train.items() if pair[place] == who]
        share = (sum(mine) + shrink * mean) / (len(mine) + shrink)
        return [math.log(share / (1 - share)), math.log(1 + len(mine))]

    rest = np.zeros((world.users, world.items))
    counts = [
        [sum(pair[place] == who for pair in world.train) for who in range(many)]
        for place, many in enumerate((world.users, world.items))
    ]
    for u in range(world.users):
        for i in range(world.items):
            rest[u, i] = ((u, i) in world.train) - counts[0][u] * counts[1][i] / len(world.train)
    left, size, right = np.linalg.svd(rest)
    of_items = [side(1, i) for i in range(world.items)]
    found = {}
    for u in range(world.users):
        of_user = side(0, u)
        for i in range(world.items):
            affinity = sum(left[u, r] * size[r] * right[r, i] for r in range(min(rank, len(size))))
            found[u, i] = [1.0, *of_items[i], *of_user, affinity]
    return found


def standardised(raw: dict[Pair, list[float]], rows: Sequence[Pair]) -> dict[Pair, list[float]]:
    """All features but the first with mean 0 and variance 1 over the rows."""
    found = {pair: [1.0] for pair in raw}
    for c in range(1, WIDTH):
        mean = sum(raw[pair][c] for pair in rows) / len(rows)
        spread = math.sqrt(sum((raw[pair][c] - mean) ** 2 for pair in rows) / len(rows))
        for pair, x in raw.items():
            found[pair].append((x[c] - mean) / spread if spread > 1e-9 else 0.0)
    return found


def sigmoid(eta: float) -> float:
    return 1.0 / (1.0 + math.exp(-eta))


def fitted(
    x: dict[Pair, list[float]], outcomes: Mapping[Pair, int], ridge: float
) -> tuple[np.ndarray, np.ndarray, dict[int, np.ndarray]]:
    """θ, H and the scores of users, by Newton's method."""
    theta = np.zeros(WIDTH)
    for _ in range(30):
        slope, curve = np.zeros(WIDTH), np.zeros((WIDTH, WIDTH))
        for c in range(1, WIDTH):
            slope[c] -= ridge * theta[c]
            curve[c, c] += ridge
        for pair, y in outcomes.items():
            row = np.array(x[pair])
            q = sigmoid(float(row @ theta))
            slope += (y - q) * row
            curve += q * (1 - q) * np.outer(row, row)
        theta = theta + np.linalg.solve(curve, slope)
    scores: dict[int, np.ndarray] = {}
    for (u, i), y in outcomes.items():
        row = np.array(x[u, i])
        scores[u] = scores.get(u, np.zeros(WIDTH)) + (y - sigmoid(float(row @ theta))) * row
    return theta, curve, scores


def popularity(world: World, unseen: Sequence[Pair]) -> list[float]:
    """z of every item, standardised over the unseen pairs."""
    number = [math.log(1 + sum(pair[1] == i for pair in world.train)) for i in range(world.items)]
    mean = sum(number[i] for _, i in unseen) / len(unseen)
    spread = math.sqrt(sum((number[i] - mean) ** 2 for _, i in unseen) / len(unseen))
    return [(n - mean) / spread for n in number]


def estimate(
    world: World, k: int, odds: float, slope: float, *, divided: bool, with_model: bool = True, rank: int = 10
) -> Answer:
    """R of every model for recall@k, as an average over relevant pairs (``divided``) or a sum per user.

    Args:
        with_model: whether the error of the model is part of the standard error.
    """
    candidates = [(u, i) for u in range(world.users) for i in range(world.items) if (u, i) not in world.train]
    unseen = [pair for pair in candidates if pair not in world.test]
    x = standardised(features(world, rank, 10.0), list(world.test))
    theta, curve, scores = fitted(x, world.test, 1.0)
    z = popularity(world, unseen)
    q = {(u, i): sigmoid(float(np.array(x[u, i]) @ theta) - math.log(odds) + slope * z[i]) for u, i in unseen}
    values, errors, parts = {}, {}, {}
    for name, lists in world.lists.items():
        top = {(u, i) for u, items in lists.items() for i in items[:k]}
        above, below = [0.0] * world.users, [0.0] * world.users
        for u, i in candidates:
            guess = world.test[u, i] if (u, i) in world.test else q[u, i]
            above[u] += guess * ((u, i) in top)
            below[u] += guess
        if not divided:
            below = [1.0] * world.users
        total = sum(below)
        value = sum(above) / total
        g = np.zeros(WIDTH)
        for u, i in unseen:
            h = (((u, i) in top) - (value if divided else 0.0)) / total
            g += q[u, i] * (1 - q[u, i]) * h * np.array(x[u, i])
        push = np.linalg.solve(curve, g)
        e = [
            (above[u] - value * below[u]) / total
            + (float(push @ scores.get(u, np.zeros(WIDTH))) if with_model else 0.0)
            for u in range(world.users)
        ]
        centre = sum(e) / world.users
        parts[name] = [each - centre for each in e]
        values[name] = value
        errors[name] = _error(parts[name])
    first, second = list(parts.values())[:2]
    return Answer(values, errors, _error([a - b for a, b in zip(first, second, strict=True)]))


def _error(parts: Sequence[float]) -> float:
    """Users as a sample: every user of a small world has candidates, and counts."""
    m = len(parts)
    return math.sqrt(m / (m - 1) * sum(part**2 for part in parts))
