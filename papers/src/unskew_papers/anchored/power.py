"""Does a plan keep what it promises? Right verdicts at the planned number of rows, counted over draws.

Each plan is told the true difference. Two ways to draw: evenly from the pairs in which two lists differ
(``rows_differ``, for two models alone), and by the plan's draw for all models (``rows``). Users are fixed, so that only
the draw is random; or they are a sample, and drawn anew each time from the population whose difference is the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unskew.design import NORMAL, Plan
from unskew_papers.anchored import judged
from unskew_papers.anchored.case import Case, with_leads
from unskew_papers.anchored.known import KnownPairs
from unskew_papers.arrays import Floats, Ints64

POWER = 0.8


def fixed_users(case: Case, simultaneous: bool, draws: int, seed: int) -> dict[str, Floats]:
    """Planned rows, and how often each truly different pair of models is then called rightly and wrongly."""
    made = case.plan(users_are="fixed", simultaneous=simultaneous)
    found, sign = planned(case, made), np.sign(case.known.lead)
    chosen = found["apart"] > 0.0
    for way, rows in (("even", found["rows_differ"]), ("plan", found["rows"])):
        said = np.full((draws, len(sign)), np.nan)
        for place in np.flatnonzero(chosen & np.isfinite(rows)).tolist():
            two = _two(case.known, place)
            for number in range(draws):
                drawn = _drawn(case, made, two, way, int(rows[place]), [seed, place, number])
                said[number, place] = _word(two, *drawn, tail_of(made), fixed=True)
        found |= _counted(way, said * sign)
    return found


def sampled_users(
    case: Case, fresh: Callable[[int], Case], lead: Floats, simultaneous: bool, draws: int, seed: int
) -> dict[str, Floats]:
    """The same, with fresh users in every draw.

    Args:
        fresh: a case of other users, as many.
        lead: T that such users have on average.
    """
    made = with_leads(case.plan(users_are="sampled", simultaneous=simultaneous), lead)
    found, sign = planned(case, made), np.sign(lead)
    said = {way: np.full((draws, len(sign)), np.nan) for way in ("even", "plan")}
    for number in range(draws):
        other = fresh(number)
        again = other.plan(users_are="sampled", simultaneous=simultaneous)
        for way, rows in (("even", found["rows_differ"]), ("plan", found["rows"])):
            for place in np.flatnonzero(np.isfinite(rows)).tolist():
                two = _two(other.known, place)
                drawn = _drawn(other, again, two, way, int(rows[place]), [seed, place, number])
                said[way][number, place] = _word(two, *drawn, tail_of(made), fixed=False)
    for way, each in said.items():
        found |= _counted(way, each * sign)
    return found


def planned(case: Case, made: Plan) -> dict[str, Floats]:
    """Rows for every pair of models, NaN where no number is enough, and which pairs are truly different.

    ``alone`` is what rows drawn at random need without a log or a guess, judged as if more could always be drawn:
    n = N V / K, V = Σ y d², K = T²/(c + z)²; ``alone_finite`` with the finite-population factor, n = N V / (K + V).
    """
    known, critical = case.known, made.settings.critical
    a, b = known.sides
    noise = known.y @ (known.worth[:, a] - known.worth[:, b]) ** 2
    room = np.maximum(known.lead**2 / (critical + NORMAL.inv_cdf(POWER)) ** 2, 1e-12)
    found = {
        name: np.array([np.nan if (rows := getattr(pair, name)) is None else float(rows) for pair in made.pairs])
        for name in ("rows_random", "rows_differ", "rows")
    }
    found["alone"], found["alone_finite"] = len(known.y) * noise / room, len(known.y) * noise / (room + noise)
    found["apart"] = (np.abs(judged.sampled(known, known.truth).t) > judged.CRITICAL).astype(np.float64)
    return found


def resampled(case: Case, seed: int) -> Case:
    """Other users, drawn with replacement from these."""
    return case.of(np.sort(np.random.default_rng(seed).integers(0, len(case.train), len(case.train))))


def tail_of(made: Plan) -> float:
    """The error probability of a plan's critical value."""
    return 2.0 * (1.0 - NORMAL.cdf(made.settings.critical))


def _drawn(case: Case, made: Plan, two: KnownPairs, way: str, rows: int, seed: list[int]) -> tuple[Ints64, Floats]:
    """By the plan, or evenly where two lists differ."""
    random = np.random.default_rng(seed)
    if way == "plan":
        return case.drawn(made, rows, int(random.integers(2**31)))
    where = two.unseen[two.worth[two.unseen, 0] != two.worth[two.unseen, 1]]
    n = min(rows, len(where))
    return random.choice(where, n, replace=False), np.full(n, n / max(len(where), 1))


def _word(two: KnownPairs, rows: Ints64, p: Floats, tail: float, *, fixed: bool) -> float:
    """1, −1 or 0 of two models; guesses are fitted to what was drawn."""
    q = two.guesses(rows, p)
    found = judged.fixed(two, rows, p, q) if fixed else judged.sampled(two, two.anchored(rows, p, q))
    return float(judged.words(two, found, rows, p, tail)[0])


def _two(known: KnownPairs, place: int) -> KnownPairs:
    """The same pairs with two models alone."""
    chosen = list(known.pairs[place])
    return replace(known, worth=known.worth[:, chosen], log=replace(known.log, worth=known.log.worth[:, chosen]))


def _counted(way: str, said: Floats) -> dict[str, Floats]:
    """Shares of right and of wrong verdicts, by pair of models; NaN where nothing was planned."""
    some = ~np.isnan(said).all(axis=0)
    out = {}
    for name, word in (("right", 1.0), ("wrong", -1.0)):
        out[f"{way}_{name}"] = np.where(some, (said == word).mean(axis=0), np.nan)
    return out
