"""Slow and obvious: averages over samples, their errors and the test of a difference, by loops over rows.

Samples come from ``us.sample``, one call for each seed and size; the formulas are those at the top of
``inference/draw_error.py`` and ``inference/contrast.py``, for recall.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

import unskew as us

Columns = dict[Any, list[float]]  # per user: one number per model, then the divisor


def columns(rows: list[tuple[Any, Any]], lists: list[set[tuple[Any, Any]]], users: list[Any], target: str) -> Columns:
    """What each user brings, of some rows."""
    out: Columns = {}
    for user in users:
        mine = [row for row in rows if row[0] == user]
        found = [float(sum(row in listed for row in mine)) for listed in lists] + [float(len(mine))]
        if target == "per_user" and mine:
            found = [number / len(mine) for number in found[:-1]] + [1.0]
        out[user] = found
    return out


class Reference:
    """Values, standard errors and tests of an average over samples."""

    def __init__(
        self, log: us.Log, strategy: str, train: Any, size: int, seeds: list[int], lists: list[Any], target: str
    ) -> None:
        whole = log.to_frame().select("user", "item").rows()
        users = list(log.users.values)
        band = max(min(size, len(whole) - size) // 10, 1) if size < len(whole) else 0

        def averaged(number: int) -> tuple[Columns, Counter[Any]]:
            x: Columns = {user: [0.0] * (len(lists) + 1) for user in users}
            drawn: Counter[Any] = Counter()
            for seed in seeds:
                rows = []
                if number:
                    part = us.sample(log, strategy, train=train, size=number, seed=seed)
                    rows = part.to_frame().select("user", "item").rows()
                for user, row in columns(rows, lists, users, target).items():
                    x[user] = [a + b / len(seeds) for a, b in zip(x[user], row, strict=True)]
                drawn.update(row[0] for row in rows)
            return x, drawn

        x, drawn = averaged(size)
        number = Counter(row[0] for row in whole)
        self.t = {u: drawn[u] / len(seeds) - size / len(whole) * number[u] for u in users}
        self.x = x
        self.users = users
        self.total = [sum(x[u][c] for u in users) for c in range(len(lists) + 1)]
        self.slope = [0.0] * (len(lists) + 1)
        if band:
            larger, smaller = averaged(size + band)[0], averaged(size - band)[0]
            self.slope = [sum(larger[u][c] - smaller[u][c] for u in users) / (2 * band) for c in range(len(lists) + 1)]

    def value(self, model: int) -> float:
        return self.total[model] / self.total[-1]

    def se(self, model: int) -> float:
        """m/(m−1) Σ e² with e the linearised contribution, less what the user's rows take from others."""
        return self._error([float(j == model) for j in range(len(self.total) - 1)])

    def se_of_difference(self) -> float:
        return self._error([1.0, -1.0])

    def _error(self, signs: list[float]) -> float:
        value = sum(sign * self.value(j) for j, sign in enumerate(signs))
        parts = []
        for u in self.users:
            row = [a - k * self.t[u] for a, k in zip(self.x[u], self.slope, strict=True)]
            parts.append((sum(s * a for s, a in zip(signs, row, strict=False)) - value * row[-1]) / self.total[-1])
        active = sum(any(self.x[u]) for u in self.users)
        return math.sqrt(active / (active - 1) * sum(e * e for e in parts)) if active > 1 else math.nan

    def score(self) -> float:
        """Σ d / √(m/(m−1) Σ (d − κ t)²), d = what a user says for the first model against the second."""
        d = [self.x[u][0] - self.x[u][1] for u in self.users]
        slope = self.slope[0] - self.slope[1]
        mean = sum(d) / len(d)
        held = sum(self.t.values())
        squares = sum(e * e for e in d)
        squares += slope**2 * sum(t * t for t in self.t.values())
        squares -= 2.0 * slope * (sum(e * t for e, t in zip(d, self.t.values(), strict=True)) - mean * held)
        apart = int(np.count_nonzero(d))
        return sum(d) / math.sqrt(apart / (apart - 1) * squares)
