"""Does a plan keep what it promises? Right verdicts at the planned number of rows, counted over draws.

Each plan is told the true difference. Two ways to draw: evenly from the pairs in which two lists differ
(``rows_differ``, for two models alone), and by the plan's draw for all models. Users are fixed (only the draw is random),
or a sample: then they are drawn anew, with replacement, from those of the case, whose difference is the truth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.design.plan import Plan
from unskew.design.power import NORMAL
from unskew.kernels.arrays import Floats, Ints64
from unskew.studies.anchored import judged
from unskew.studies.anchored.case import Case
from unskew.studies.anchored.known import KnownPairs

POWER = 0.8


def planned(case: Case, made: Plan) -> dict[str, Floats]:
    """Rows for every pair of models, NaN where no number is enough, and which pairs are truly different.

    ``alone`` is what rows drawn at random need without a log or a guess, by the error that they are usually given:
    n = N Σ y d² / (T²/(c + z)² − B), B = Σ over users of T_u²; ``alone_fixed`` with the finite-population factor.
    """
    known, critical = case.known, made.settings.critical
    a, b = known.sides
    d = known.worth[:, a] - known.worth[:, b]
    noise, room = known.y @ d**2, known.lead**2 / (critical + NORMAL.inv_cdf(POWER)) ** 2
    found = {
        name: np.array([_number(getattr(pair, name)) for pair in made.pairs])
        for name in ("rows_random", "rows_differ", "rows")
    }
    with np.errstate(divide="ignore"):
        found["alone"] = len(known.y) * noise / room
        found["alone_fixed"] = len(known.y) * noise / (room + noise)
    found["differing"] = np.array([float(pair.differing) for pair in made.pairs])
    found["apart"] = (np.abs(judged.sampled(known, known.truth).t) > 1.96).astype(np.float64)
    return found


def even_draws(case: Case, rows: Floats, sign: Floats, tail: float, draws: int, seed: int, *, fixed: bool) -> Floats:
    """How often each pair of models is called rightly and wrongly, (pairs, 2), drawn evenly where its lists differ."""
    out = np.full((len(rows), 2), np.nan)
    for place in np.flatnonzero(np.isfinite(rows)):
        two = _two(case.known, place)
        where = two.unseen[two.worth[two.unseen, 0] != two.worth[two.unseen, 1]]
        random = np.random.default_rng([seed, place])
        n = min(int(rows[place]), len(where))
        said = np.empty(draws)
        for number in range(draws):
            drawn = np.sort(random.choice(where, n, replace=False))
            said[number] = _word(two, drawn, np.full(n, n / len(where)), tail, fixed)[0]
        out[place] = (said == sign[place]).mean(), (said == -sign[place]).mean()
    return out


def plan_draws(case: Case, made: Plan, rows: int, sign: Floats, tail: float, seed: int, *, fixed: bool) -> Floats:
    """What one draw for all models says of every pair, as right (1), wrong (−1) or undecided (0)."""
    drawn, p = case.drawn(made, rows, seed)
    return _word(case.known, drawn, p, tail, fixed) * sign


def resampled(case: Case, seed: int) -> Case:
    """Other users, drawn with replacement from these."""
    return case.of(np.sort(np.random.default_rng(seed).integers(0, len(case.train), len(case.train))))


def tail_of(made: Plan) -> float:
    """The error probability of a plan's critical value."""
    return 2.0 * (1.0 - NORMAL.cdf(made.settings.critical))


def _word(known: KnownPairs, rows: Ints64, p: Floats, tail: float, fixed: bool) -> Floats:
    q = known.guesses(rows, p)
    found = judged.fixed(known, rows, p, q) if fixed else judged.sampled(known, known.anchored(rows, p, q))
    return judged.words(known, found, rows, p, tail)


def _two(known: KnownPairs, place: int) -> KnownPairs:
    """The same pairs with two models alone."""
    chosen = list(known.pairs[place])
    return replace(known, worth=known.worth[:, chosen], log=replace(known.log, worth=known.log.worth[:, chosen]))


def _number(rows: int | None) -> float:
    return np.nan if rows is None else float(rows)
