"""Theorems 4.1 and 4.2 user by user, in a world whose propensities are known, with exposure drawn again and again.

The bias and the concentration term are those of ``unskew_papers.bounds``. Theorem 4.2: with gs, whose weights are the
means of 1/P over the seen items of a stratum, the first is at least that of IPS (w = 1/P), which is 0, and the second
at most that of IPS. Theorem 4.1: |R̂ − R| is at most their sum with probability 1 − 2δ. Its proof takes weights as
fixed; those of gs depend on what was seen, so that for gs it is only looked at here. An unseen item has the weight of
its stratum, and 0 where nothing of that stratum was seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unskew.core import Progress
from unskew.simulate import World
from unskew_papers.arrays import Bools, Floats, Ints64
from unskew_papers.bounds import weights_bias, weights_concentration
from unskew_papers.gs23.setting import Setting
from unskew_papers.record import Above, Below, Record, judged
from unskew_papers.repeated import averaged

LEVEL = 0.9  # 1 − 2δ
STRATA = (1, 2, 5, 20)
CUT = 30
WORLD = World(users=300, items=200, relevant=32.0, impressions=160.0)
DRAWS, QUICK_DRAWS = 200, 40


class Terms(NamedTuple):
    """Of every user, in one draw of exposure."""

    value: Floats
    bias: Floats
    concentration: Floats


def theorem(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Both theorems in worlds of 300 users."""
    draws = QUICK_DRAWS if quick else DRAWS
    rows: dict[tuple[str, str], list[float]] = {}
    broken: dict[str, float] = {}
    for world in range(runs):
        for name, numbers, worst in _world(world, draws):
            for what, number in numbers.items():
                rows.setdefault((name, what), []).append(number)
            broken[name] = max(broken.get(name, -math.inf), worst)
        if progress is not None:
            progress("worlds", world + 1, runs)
    records = [
        averaged("theorem/terms and what happens", name, what, np.array(found)) for (name, what), found in rows.items()
    ]
    for name, worst in broken.items():
        if name != "IPS":
            told = "concentration is at most that of IPS, for every user and draw"
            how = {"runs": runs, "rule": Below(), "reference": ("rounding", 1e-9)}
            records.append(judged("theorem/4.2", name, told, worst, **how))  # type: ignore[arg-type]
            least = min(rows[name, "least bias term"])
            told = "bias term is at least that of IPS, which is 0, for every user and draw"
            records.append(judged("theorem/4.2", name, told, least, runs=runs, rule=Above(), reference=("0", 0.0)))
    share, told = (
        rows["IPS", "users × draws within the bound"],
        f"|R̂ − R| is within the bound with probability {LEVEL:g}",
    )
    bound = judged("theorem/4.1", "IPS", told, min(share), runs=runs, rule=Above(), reference=("1 − 2δ", LEVEL))
    return [*records, bound]


def _world(seed: int, draws: int) -> list[tuple[str, dict[str, float], float]]:
    """Terms and errors of every estimator in one world, and by how much a concentration exceeds that of IPS."""
    world = WORLD.draw(seed)
    pairs = world.pairs
    own = pairs.relevant
    user = np.repeat(np.arange(WORLD.users), np.diff(pairs.indptr))[own]
    p, item = pairs.propensity[own], pairs.item[own]
    enough = np.bincount(user, minlength=WORLD.users) >= 2
    keep = enough[user]
    user, p, item = np.unique(user[keep], return_inverse=True)[1], p[keep], item[keep]
    n = np.bincount(user).astype(np.float64)
    worth = (np.argsort(np.argsort(-world.population.catalogue.reach))[item] < CUT).astype(np.float64)
    truth = np.bincount(user, worth) / n
    rng = np.random.default_rng([seed, 23])
    seen = [rng.random(len(p)) < p for _ in range(draws)]
    ips = [_terms(user, n, worth, p, each, 1.0 / p) for each in seen]
    found = [("IPS", _summary(ips, truth), 0.0)]
    for count in STRATA:
        edges = np.quantile(p, np.arange(1, count) / count)
        stratum = np.searchsorted(edges, p).astype(np.int64)
        terms = [_terms(user, n, worth, p, each, _gs(user, stratum, count, p, each)) for each in seen]
        worst = max(float((a.concentration - b.concentration).max()) for a, b in zip(terms, ips, strict=True))
        found.append((f"gs, {count} strata" if count > 1 else "gs, 1 stratum", _summary(terms, truth), worst))
    return found


def _gs(user: Ints64, stratum: Ints64, count: int, p: Floats, seen: Bools) -> Floats:
    """The mean of 1/P over the seen items of the user's stratum; 0 where there are none."""
    cell = user * count + stratum
    size = int(cell.max()) + 1
    total = np.bincount(cell[seen], 1.0 / p[seen], minlength=size)
    number = np.bincount(cell[seen], minlength=size)
    return np.asarray(np.divide(total, number, out=np.zeros(size), where=number > 0)[cell])


def _terms(user: Ints64, n: Floats, worth: Floats, p: Floats, seen: Bools, weight: Floats) -> Terms:
    value = np.bincount(user, np.where(seen, worth * weight, 0.0)) / n
    return Terms(value, weights_bias(weight, p, user), weights_concentration(weight, seen, user, level=LEVEL))


def _summary(terms: list[Terms], truth: Floats) -> dict[str, float]:
    value, bias, concentration = (np.array(each) for each in zip(*terms, strict=True))
    error = np.abs(value - truth)
    centre = value.mean(axis=0)
    return {
        "bias term": float(bias.mean()),
        "least bias term": float(bias.min()),
        "bias": float(np.abs(centre - truth).mean()),
        "concentration term": float(concentration.mean()),
        "95 % of |R̂ − E R̂|": float(np.quantile(np.abs(value - centre), 0.95, axis=0).mean()),
        "|R̂ − R|": float(error.mean()),
        "users × draws within the bound": float((error <= bias + concentration + 1e-12).mean()),
    }
