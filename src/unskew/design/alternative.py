"""What a difference of T says about relevance, beyond what q says (MATHS §16, "Planning").

q gives a lead T_q of its own, Σ_L yd + Σ qd. If the model that it puts ahead is truly ahead by T > T_q, the pairs to
which that model gives more must be more relevant than q says. Evenly spread over them that is

    δ = (T − T_q) / Σ_{d>0} d        E y = q + δ        E (y − q)² = q(1 − q) + δ (1 − 2q)

so that V grows by δ Σ_{d>0} (1 − 2q) d², and expected hits by δ for each of these pairs. Without it plans promise too
much wherever a good model finds what the log did not show. Between users, sums of squares grow as their mean does, by
(T² − T_q²)/U. Answers tell all of this better (``pilot.py``); then nothing is added.
"""

from __future__ import annotations

from typing import NamedTuple

from unskew.design.listed import Stakes


class Alternative(NamedTuple):
    """V, expected hits and B of one pair of models, if they differ by T."""

    variance: float
    hits: float
    between: float


def alternative(stakes: Stakes, a: int, b: int, detect: float, users: int) -> Alternative:
    """If the model that log and guesses put ahead is ahead by ``detect``."""
    lead = float(stakes.value[a] - stakes.value[b])
    first, second = (a, b) if lead >= 0.0 else (b, a)
    room = float(stakes.ahead[first, second])
    delta = min(1.0, max(0.0, detect - abs(lead)) / room) if room > 0.0 else 0.0
    between = float(stakes.between[a, b]) + (detect**2 - lead**2) / max(users, 1)
    return Alternative(
        max(float(stakes.variance[a, b]) + delta * float(stakes.lean[first, second]), 0.0),
        float(stakes.hits[a, b]) + delta * float(stakes.places[first, second]),
        max(between, detect**2 / max(users, 1)),
    )
