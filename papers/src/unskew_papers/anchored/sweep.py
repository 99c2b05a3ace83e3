"""How much a number of rows tells: every way to use them, on the same case, over many draws.

Rows alone, propensities and PPI++ use rows that were drawn at random from all candidates; anchored uses rows that were
drawn at random from those outside the log, or by the plan's draw, made once for all models with its usual share of a
quarter for values. Of each draw it is kept how well values come out and what is said of every pair of models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from unskew.design import Plan
from unskew_papers.anchored import judged, ppi
from unskew_papers.anchored.case import Case
from unskew_papers.anchored.known import KnownPairs, Sums
from unskew_papers.arrays import Bools, Floats, Ints64

ALONE, UNIFORM, LISTS = "random rows alone", "anchored, random rows", "anchored, list design"
WEIGHTED, PPI = "propensities fitted on random rows", "PPI++"
METHODS = (ALONE, UNIFORM, LISTS, WEIGHTED, PPI)
TAIL = 1.0 - judged.LEVEL
MEASURES = (
    "tau", "rmse", "covered", "given", "right", "wrong", "joint_right", "joint_wrong", "fixed_right", "fixed_wrong",
)  # fmt: skip


class Target(NamedTuple):
    """What estimates are held against.

    Args:
        values: of every model.
        lead: T of every pair of models, by its sign; ``own_lead`` of the users at hand, if they are all there are.
        apart: which pairs are truly different: beyond 1.96 standard errors if users are a sample.
    """

    values: Floats
    lead: Floats
    own_lead: Floats
    apart: Bools

    @classmethod
    def of(cls, known: KnownPairs, population: KnownPairs | None = None) -> Target:
        """The truth of these users, or of a population that they were drawn from."""
        all_of_them = population or known
        apart = np.abs(judged.sampled(all_of_them, all_of_them.truth).t) > judged.CRITICAL
        return cls(all_of_them.truth.values, all_of_them.lead, known.lead, apart)


def sweep(
    case: Case, target: Target, rows: int, draws: int, seed: int, tails: dict[str, float] | None = None
) -> dict[str, Floats]:
    """By method and measure, one number per draw.

    ``right`` counts truly different pairs, ``wrong`` all pairs of models; each pair by itself at 1.96, ``joint`` at one
    level for all pairs, ``fixed`` at 1.96 if users are all there are. ``tails`` are the error probabilities of that one
    level, by method, where they are known already.
    """
    known, made = case.known, case.usual_plan
    random = np.random.default_rng([seed, rows])
    tails = {} if tails is None else tails
    found: dict[str, list[float]] = {f"{method} | {what}": [] for method in METHODS for what in MEASURES}

    def keep(method: str, said: dict[str, float]) -> None:
        for what in MEASURES:
            found[f"{method} | {what}"].append(said.get(what, np.nan))

    for number in range(draws):
        at_random = np.sort(random.choice(len(known.y), min(rows, len(known.y)), replace=False))
        even = np.full(len(at_random), len(at_random) / len(known.y))
        keep(ALONE, _alone(known, target, at_random, even, tails))
        keep(WEIGHTED, _weighted(known, target, at_random, tails))
        keep(PPI, _ppi(known, target, at_random, tails))
        outside = np.sort(random.choice(known.unseen, min(rows, len(known.unseen)), replace=False))
        even = np.full(len(outside), len(outside) / len(known.unseen))
        keep(UNIFORM, _anchored(known, target, outside, even, tails, UNIFORM))
        drawn, p = listed(case, made, rows, seed * 100_000 + number)
        keep(LISTS, _anchored(known, target, drawn, p, tails, LISTS))
    return {name: np.array(values) for name, values in found.items()}


def listed(case: Case, made: Plan, rows: int, seed: int) -> tuple[Ints64, Floats]:
    """By the plan, ascending; no more than there are."""
    drawn, p = case.drawn(made, min(rows, len(case.known.unseen)), seed)
    order = np.argsort(drawn)
    return drawn[order], p[order]


def _anchored(
    known: KnownPairs, target: Target, rows: Ints64, p: Floats, tails: dict[str, float], name: str
) -> dict[str, float]:
    q = known.guesses(rows, p)
    sums, fixed = known.anchored(rows, p, q), judged.fixed(known, rows, p, q)
    tail = _joint(known, sums, tails, name)
    differences = judged.sampled(known, sums)
    said = {
        "": judged.words(known, differences, rows, p, TAIL),
        "joint_": judged.words(known, differences, rows, p, tail),
        "fixed_": judged.words(known, fixed, rows, p, TAIL),
    }
    return _scores(target, sums.values, judged.answered_intervals(known, sums, rows, p), said)


def _joint(known: KnownPairs, sums: Sums, tails: dict[str, float], name: str) -> float:
    """α* of one level for all pairs of models: from the first draw, as its covariances hardly change with the draw."""
    if name not in tails:
        tails[name] = judged.joint_tail(known, sums.own.T @ sums.own)
    return tails[name]


def _alone(known: KnownPairs, target: Target, rows: Ints64, p: Floats, tails: dict[str, float]) -> dict[str, float]:
    sums = known.rows_alone(rows, p)
    return _plain(known, target, sums, tails, ALONE)


def _weighted(known: KnownPairs, target: Target, rows: Ints64, tails: dict[str, float]) -> dict[str, float]:
    return _plain(known, target, known.weighted_log(rows), tails, WEIGHTED)


def _plain(known: KnownPairs, target: Target, sums: Sums, tails: dict[str, float], name: str) -> dict[str, float]:
    """Without rules for few answers: what a difference beyond its error says."""
    if not sums.total.sum() > 0.0:
        return {"given": 0.0}
    tail = _joint(known, sums, tails, name)
    differences = judged.sampled(known, sums)
    said = {
        mark: np.where(differences.beyond(level), np.sign(differences.lead), 0.0)
        for mark, level in (("", TAIL), ("joint_", tail))
    }
    return _scores(target, sums.values, judged.intervals(sums), said)


def _ppi(known: KnownPairs, target: Target, rows: Ints64, tails: dict[str, float]) -> dict[str, float]:
    """Values by its ratio, differences by its mean of yd; f is what the log's model says."""
    f = 1.0 / (1.0 + np.exp(-known.score))
    others = np.ones(len(f), dtype=np.bool_)
    others[rows] = False
    if not others.any() or not known.y[rows].any():
        return {"given": 0.0}
    a, b = known.sides
    values = ppi.ratio(known.y[rows], f[rows], known.worth[rows], f[others], known.worth[others])
    d, far = (known.worth[some][:, a] - known.worth[some][:, b] for some in (rows, others))
    leads = ppi.mean(known.y[rows, None] * d, f[rows, None] * d, f[others, None] * far)
    differences = judged.Differences(leads.value, leads.se, np.full(len(a), np.inf))
    tail = tails.get(ALONE, TAIL)
    said = {
        mark: np.where(differences.beyond(level), np.sign(differences.lead), 0.0)
        for mark, level in (("", TAIL), ("joint_", tail))
    }
    reach = judged.CRITICAL * values.se
    return _scores(target, values.value, np.stack([values.value - reach, values.value + reach], axis=1), said)


def _scores(target: Target, values: Floats, interval: Floats, said: dict[str, Floats]) -> dict[str, float]:
    true = target.values
    given = np.isfinite(interval).all(axis=1)
    inside = (interval[:, 0] <= true + 1e-9) & (true - 1e-9 <= interval[:, 1])
    found = {
        "tau": float(kendalltau(values, true).statistic),
        "rmse": float(np.sqrt(np.square(values / true - 1.0).mean())),
        "covered": float(inside[given].mean()) if given.any() else np.nan,
        "given": float(given.mean()),
    }
    for mark, word in said.items():
        sign = np.sign(target.own_lead if mark == "fixed_" else target.lead)
        found[f"{mark}right"] = float((word == sign)[target.apart].mean()) if target.apart.any() else np.nan
        found[f"{mark}wrong"] = float((word * sign < 0.0).mean())
    return found
