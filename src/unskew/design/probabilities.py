"""The list design: how likely each pair is to be asked about (MATHS §16).

    π_ui = min(1, t·w_ui + r),  w = √(q (1 − q) · Var over the models of λ)        Σ π = n,  Σ_i π_ui ≤ k

Where a listed item is worth 1 (recall), the variance is s (1 − s), s the share of lists that hold the pair: for two
lists the pairs in which they differ, and none else. Var over the models is Σ over pairs of models of (λ_a − λ_b)² / M²,
so that this π makes the summed variance of all differences least. r is the same for all candidates: a share of the draw
that serves values, for which every candidate must have a chance; rows that are left once all pairs in which lists
differ are certain to be asked about are added to it. A pair in some list has both parts together.

Only pairs whose worth differs between lists are held; the others are one number per user.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.design.candidates import Candidates
from unskew.engine.walk import walk
from unskew.kernels.arrays import Floats, Ints32, Ints64
from unskew.kernels.design import inclusion, line_lengths

Weights = npt.NDArray[np.float32]
HALVINGS = 60
STEPS = 1_000  # Newton's: each passes a bend of a concave function, and few are ever needed


@dataclass(frozen=True)
class Scale:
    """What turns weights into probabilities.

    Args:
        t: of the weights.
        rate: r, of every candidate.
        rows: Σ π.
    """

    t: float
    rate: float
    rows: float


@dataclass(frozen=True, eq=False)
class ListDesign:
    """The pairs in which lists differ, with their weights, ascending by user and item (CSR).

    Args:
        others: how many more candidates each user has.
        uniform: the share of the draw that is spread over all candidates alike.
        per_user: at most so many pairs of one user; ``None`` for no limit.
    """

    candidates: Candidates
    start: Ints64
    item: Ints32
    weight: Weights
    others: Ints64
    uniform: float = 0.0
    per_user: int | None = None
    threads: int | None = None

    @property
    def most(self) -> float:
        """The longest line that a user may have."""
        return np.inf if self.per_user is None else float(self.per_user)

    def length(self, t: float, rate: float) -> tuple[float, float]:
        """Σ π over everybody, and its slope in t."""

        def one(low: int, high: int) -> tuple[float, float]:
            found: tuple[float, float] = line_lengths(
                low, high, self.start, self.weight, self.others, self.candidates.asked, t, rate, self.most
            )
            return found

        parts = list(walk(len(self.others), one, self.threads))
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def scale(self, rows: float) -> Scale:
        """The scale at which so many rows are drawn on average; what the limits do not allow is refused."""
        asked = self.candidates.asked
        everything = float(len(self.item)) + float(self.others[asked].sum())
        rate = self.uniform * rows / everything if everything else 0.0
        if rows > everything:
            raise InputError(
                f"{rows:,.0f} rows cannot be drawn: there are {everything:,.0f} candidates.",
                code="out-of-range",
                option="rows",
            )
        t = 0.0
        for _ in range(STEPS):
            total, slope = self.length(t, rate)
            if total >= rows * (1.0 - 1e-12):
                return Scale(t, rate, total)
            if slope <= 0.0:
                break
            t += (rows - total) / slope
        if total >= rows * (1.0 - 1e-9):
            return Scale(t, rate, total)
        if self.uniform > 0.0 and self.length(t, 1.0)[0] >= rows * (1.0 - 1e-9):
            return self._spread(t, rate, rows)
        limit = "" if self.per_user is None else f" with at most {self.per_user} of each user"
        raise InputError(
            f"{rows:,.0f} rows cannot be drawn: there are {len(self.item):,} pairs in which lists differ, and{limit} "
            f"at most {int(total):,} rows can be asked about.\nAsk for fewer rows, or lift a limit (per_user=…).",
            code="out-of-range",
            option="rows",
        )

    def _spread(self, t: float, rate: float, rows: float) -> Scale:
        """Lists give no more: all pairs in which they differ are asked about, and what is left goes to all alike."""
        low, high = rate, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.length(t, middle)[0] < rows else (low, middle)
        return Scale(t, high, self.length(t, high)[0])

    def probabilities(self, scale: Scale) -> tuple[Floats, Floats]:
        """π of every held pair, and of each user's other candidates."""
        listed, rest = np.zeros(len(self.item)), np.zeros(len(self.others))

        def one(low: int, high: int) -> None:
            part = slice(self.start[low], self.start[high])
            self._fill(low, high, scale, listed[part], rest[low:high])

        list(walk(len(self.others), one, self.threads))
        return listed, rest

    def of(self, user: Ints64, item: Ints64, scale: Scale) -> Floats:
        """π of some pairs, by their codes; 0 for what is no candidate."""
        found = np.zeros(len(user))
        may = self.candidates.may_ask(user, item)
        for u in np.unique(user[may]):
            first, last = self.start[u], self.start[u + 1]
            listed, rest = np.zeros(last - first), np.zeros(1)
            self._fill(int(u), int(u) + 1, scale, listed, rest)
            rows = np.flatnonzero(may & (user == u))
            at = np.searchsorted(self.item[first:last], item[rows])
            held = np.append(self.item[first:last], -1)[at] == item[rows]
            found[rows] = np.where(held, np.append(listed, 0.0)[at], rest[0])
        return found

    def _fill(self, low: int, high: int, scale: Scale, listed: Floats, rest: Floats) -> None:
        inclusion(
            low, high, self.start, self.weight, self.others, self.candidates.asked, scale.t, scale.rate, self.most,
            listed, rest,
        )  # fmt: skip
