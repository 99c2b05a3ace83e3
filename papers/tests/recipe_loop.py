"""The slow, obvious references of the recipes: dicts and Python's own numbers, one parameter at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
from tests.kernels.mixing import mix

from unskew.kernels import pair_uniform
from unskew.log import Ids, Log

Row = list[float]
Pair = tuple[int, int, float]


def uniform(seed: int, left: int, right: int) -> float:
    """One number in [0, 1) by the hash that the package uses throughout."""
    return float(pair_uniform(seed, np.array([left], dtype=np.uint64), np.array([right], dtype=np.uint64))[0])


def start(ids: Ids, dim: int, seed: int, first: int, place: Callable[[float], float]) -> list[Row]:
    """Factors by the hash of (seed, id, number)."""
    return [[place(uniform(seed, int(h), first + j)) for j in range(dim)] for h in ids.hashes]


def ordered(log: Log, y: list[float], seed: int) -> list[Pair]:
    """Pairs in the order of the hash of (seed, user, item)."""
    rows = list(zip(log.user.tolist(), log.item.tolist(), y, strict=True))
    return sorted(rows, key=lambda r: uniform(seed, int(log.users.hashes[r[0]]), int(log.items.hashes[r[1]])))


def draws(seed: int) -> Iterator[Callable[[int], int]]:
    """Each time another number below n: SplitMix64 on a counter."""
    for counter in count(mix(seed) + 1):
        drawn = mix(counter & ((1 << 64) - 1)) >> 32
        yield lambda n, drawn=drawn: drawn * n >> 32  # type: ignore[misc]


def dot(v: Row, w: Row) -> float:
    return sum(a * b for a, b in zip(v, w, strict=True))


def squared(pairs: list[Pair], users: list[Row], items: list[Row], rate: float, l2: float, offsets: bool) -> list[Row]:
    """One epoch of plain_mf or biased_mf; with offsets they stand last in each row. Gives back the items' rows."""
    mean = sum(y for *_, y in pairs) / len(pairs) if offsets else 0.0
    for u, i, y in pairs:
        v, w = list(users[u]), list(items[i])
        if offsets:
            error = y - mean - dot(v[:-1], w[:-1]) - v[-1] - w[-1]
            users[u][-1] += rate * (error - l2 * v[-1])
            items[i][-1] += rate * (error - l2 * w[-1])
        else:
            error = y - dot(v, w)
        for j in range(len(v) - offsets):
            users[u][j] += rate * (error * w[j] - l2 * v[j])
            items[i][j] += rate * (error * v[j] - l2 * w[j])
    return items


def pairwise(
    log: Log, pairs: list[Pair], users: list[Row], items: list[Row], rate: float, l2: float, hinge: bool,
    stream: Iterator[Callable[[int], int]],
) -> None:  # fmt: skip
    """One epoch of bpr or mmmf; the offset stands last in each item's row."""
    has = {(u, i) for u, i, _ in pairs}
    by_hash = sorted(range(len(items)), key=lambda i: int(log.items.hashes[i]))
    for _ in pairs:
        u, p, _ = pairs[next(stream)(len(pairs))]
        n = by_hash[next(stream)(len(items))]
        if (u, n) in has:
            continue
        v, w, x = list(users[u]), list(items[p]), list(items[n])
        gap = dot(v, w[:-1]) - dot(v, x[:-1]) + w[-1] - x[-1]
        if hinge and gap > 0.0:
            continue
        slope = 1.0 if hinge else 1.0 / (1.0 + math.exp(gap))
        for j in range(len(v)):
            users[u][j] += rate * (slope * (w[j] - x[j]) - l2 * v[j])
            items[p][j] += rate * (slope * v[j] - l2 * w[j])
            items[n][j] += rate * (-slope * v[j] - l2 * x[j])
        items[p][-1] += rate * (slope - l2 * w[-1])
        items[n][-1] += rate * (-slope - l2 * x[-1])


def rmsprop(
    pairs: list[Pair], users: list[Row], items: list[Row], caches: tuple[list[Row], list[Row]],
    rate: float, decay: float, l2: float, sigmoid: bool,
) -> None:  # fmt: skip
    """One epoch of pmf."""
    for u, i, y in pairs:
        z = dot(users[u], items[i])
        guess = 1.0 / (1.0 + math.exp(-z)) if sigmoid else z
        pull = (y - guess) * (guess * (1.0 - guess) if sigmoid else 1.0)
        for own, cache, other in ((users[u], caches[0][u], items[i]), (items[i], caches[1][i], users[u])):
            for j in range(len(own)):
                slope = pull * other[j] - l2 * own[j]
                cache[j] = decay * cache[j] + (1.0 - decay) * slope**2
                own[j] += rate * slope / (math.sqrt(cache[j]) + 1e-8)


def multiplied(pairs: list[Pair], own: list[Row], other: list[Row], l2: float) -> None:
    """One side of nmf renewed; ``pairs`` tell the own side first."""
    for r, row in enumerate(own):
        mine = [(o, y) for s, o, y in pairs if s == r]
        guess = {o: dot(row, other[o]) for o, _ in mine}
        own[r] = [
            row[j] * sum(y * other[o][j] for o, y in mine)
            / (sum(guess[o] * other[o][j] for o, _ in mine) + len(mine) * l2 * row[j] + 1e-9)
            for j in range(len(row))
        ]  # fmt: skip
