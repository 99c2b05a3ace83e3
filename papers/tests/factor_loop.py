"""The slow, obvious reference of ``kernels/sgd.py``: one parameter at a time, with the same random stream."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl
from tests.kernels.mixing import mix

from unskew.kernels import pair_uniform
from unskew.log import Ids, Log
from unskew_papers.models import Factors

PAIRWISE = ("bpr", "warp", "warp-kos")


def log_of(liked: npt.NDArray[np.bool_], seen: npt.NDArray[np.bool_] | None = None) -> Log:
    """Positives, and zeros where a pair was seen and not liked; every user and item in the vocabulary."""
    user, item = np.nonzero(np.ones_like(liked))
    frame = pl.DataFrame({"user": user, "item": item, "value": liked.ravel().astype(float)})
    return Log.from_frame(frame, feedback="conversions").take((liked if seen is None else seen).ravel())


class Loop:
    """Stochastic gradient descent as one would write it on a blackboard: lists, one parameter at a time."""

    def __init__(self, model: Factors, log: Log) -> None:
        self.model, self.counter = model, mix(model.seed)
        self.users, self.items = (self.start(ids) for ids in (log.users, log.items))
        fresh = 0.0 if model.schedule == "adadelta" else 1.0
        self.squares = [[[fresh] * (model.dim + 1) for _ in side] for side in (self.users, self.items)]
        self.moved = [[[0.0] * (model.dim + 1) for _ in side] for side in (self.users, self.items)]
        values = log.value
        assert values is not None
        self.rows = [(int(u), int(i), float(y)) for u, i, y in zip(log.user, log.item, values, strict=True)]
        self.liked: dict[int, list[int]] = {u: [] for u in range(len(self.users))}
        for u, i, y in self.rows:
            if y > 0:
                self.liked[u].append(i)
        self.level = 0.0
        if model.loss == "squared":
            self.level = sum(y for _, _, y in self.rows) / len(self.rows)
        if model.loss in PAIRWISE:
            self.rows = [row for row in self.rows if row[2] > 0]
        self.order = list(range(len(self.rows)))

    def start(self, ids: Ids) -> list[list[float]]:
        d = self.model.dim
        return [
            [
                (float(pair_uniform(self.model.seed, np.array([h]), np.array([j], dtype=np.uint64))[0]) - 0.5) / d
                for j in range(d)
            ]
            + [0.0]
            for h in ids.hashes
        ]

    def below(self, n: int) -> int:
        self.counter = (self.counter + 1) & ((1 << 64) - 1)
        return ((mix(self.counter) >> 32) * n) >> 32

    def score(self, u: int, i: int) -> float:
        v, w = self.users[u], self.items[i]
        return sum(a * b for a, b in zip(v[:-1], w[:-1], strict=True)) + v[-1] + w[-1]

    def move(self, side: int, row: int, gradient: list[float]) -> list[float]:
        """Adagrad or Adadelta; gives back the step sizes."""
        values = (self.users, self.items)[side][row]
        sizes = []
        for j, g in enumerate(gradient):
            if self.model.schedule == "adadelta":
                self.squares[side][row][j] = 0.95 * self.squares[side][row][j] + 0.05 * g * g
                size = math.sqrt(self.moved[side][row][j] + 1e-6) / math.sqrt(self.squares[side][row][j] + 1e-6)
                self.moved[side][row][j] = 0.95 * self.moved[side][row][j] + 0.05 * (size * g) ** 2
            else:
                size = self.model.rate / math.sqrt(self.squares[side][row][j])
                self.squares[side][row][j] += g * g
            values[j] -= size * g
            sizes.append(size)
        return sizes

    def shrink(self, sizes: list[float]) -> None:
        """All users and items, by the mean step size."""
        mean = sum(sizes) / len(sizes)
        item_l2 = self.model.l2 if self.model.item_l2 is None else self.model.item_l2
        for side, l2 in ((self.users, self.model.l2), (self.items, item_l2)):
            for row in side:
                row[:] = [x / (1.0 + l2 * mean) for x in row]

    def pointwise(self, u: int, i: int, y: float) -> None:
        z = self.score(u, i) + self.level
        slope = z - y if self.model.loss == "squared" else 1.0 / (1.0 + math.exp(-z)) - (1.0 if y > 0 else 0.0)
        v, w = list(self.users[u]), list(self.items[i])
        sizes = self.move(0, u, [slope * x for x in w[:-1]] + [slope])
        sizes += self.move(1, i, [slope * x for x in v[:-1]] + [slope])
        self.shrink(sizes)

    def pairwise(self, u: int, p: int, n: int, pull: float) -> None:
        v, wp, wn = list(self.users[u]), list(self.items[p]), list(self.items[n])
        sizes = self.move(0, u, [pull * (b - a) for a, b in zip(wp[:-1], wn[:-1], strict=True)] + [0.0])
        sizes += self.move(1, p, [-pull * x for x in v[:-1]] + [-pull])
        sizes += self.move(1, n, [pull * x for x in v[:-1]] + [pull])
        self.shrink(sizes)

    def negative(self, u: int, z: float, p: int) -> None:
        """Warp: draw until one violates."""
        for t in range(1, self.model.max_sampled + 1):
            n = self.below(len(self.items))
            while n in self.liked[u]:
                n = self.below(len(self.items))
            if self.score(u, n) > z - 1.0:
                pool = len(self.items) - (1 if self.model.loss == "warp" else len(self.liked[u]))
                self.pairwise(u, p, n, min(10.0, math.log(max(1, pool // t))))
                return

    def epoch(self) -> None:
        for e in range(len(self.order) - 1, 0, -1):
            other = self.below(e + 1)
            self.order[e], self.order[other] = self.order[other], self.order[e]
        for row in self.order:
            u, p, y = self.rows[row]
            if self.model.loss not in PAIRWISE:
                self.pointwise(u, p, y)
                continue
            if len(self.liked[u]) == len(self.items):
                continue
            if self.model.loss == "bpr":
                for _ in range(1000):
                    n = self.rows[self.below(len(self.rows))][1]
                    if n not in self.liked[u]:
                        gap = self.score(u, p) - self.score(u, n)
                        self.pairwise(u, p, n, 1.0 / (1.0 + math.exp(gap)))
                        break
                continue
            if self.model.loss == "warp-kos":
                many = min(self.model.n, len(self.liked[u]))
                drawn = [self.liked[u][self.below(len(self.liked[u]))] for _ in range(many)]
                drawn.sort(key=lambda i: -self.score(u, i))
                p = drawn[min(self.model.k, many) - 1]
            self.negative(u, self.score(u, p), p)
