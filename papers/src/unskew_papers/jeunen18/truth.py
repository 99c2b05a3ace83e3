"""Which protocol picks what an A/B test would pick? Shops with a known truth, in which the winner varies.

Worlds are those of ``shop/varied.py``. The truth is the expected number of clicks per user in an A/B test of every
candidate, fitted on the whole log, in the week behind it (``shop/ab_test.py``). A protocol tunes each algorithm by its
own Recall@10 and picks the best of them:

    regret = 1 − clicks of what it picks / clicks of the best candidate

    naive             on LOOCV, hold-out, SW-EVAL
    snips             on all three, with the propensities P that the shop logs; of leave-one-out, one row of n, P/n
    gs                on SW-EVAL, with the same
    exposure path     on SW-EVAL, without propensities (``estimators/exposure_path.py``)

All are pooled over relevant pairs and folds. A candidate whose value the library withholds, since a few weights could
turn it into anything, is not picked. A verdict is wrong where the A/B test has the two the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from unskew import cross_validate
from unskew.core import Progress
from unskew.cross_validation import Average
from unskew_papers.jeunen18.algorithms import I_KNN, NAMES, POP, POP_N, SVD, U_KNN, WITH, WITHOUT_TIME
from unskew_papers.jeunen18.joint import kendall
from unskew_papers.jeunen18.protocols import HOLDOUT, LOOCV, SW, cell_of, kept
from unskew_papers.jeunen18.setting import SHARE, Setting
from unskew_papers.record import Below, Record
from unskew_papers.repeated import Repeated, averaged, claim
from unskew_papers.shop import ShopOverTime, left_out, varied

RUNS, QUICK_RUNS = 12, 3
WEEK = 7
WINDOWS, REPEATS = 14, 3
METRIC = "recall@10"
NUMBERS = {
    SVD: (3, 10, 30, 100),
    U_KNN: (20, 100, 500, 2000),
    I_KNN: (5, 20, 100, 500),
    POP_N: (300, 1000, 3000, 10_000),
}
GRID = {POP: ("most_popular",)} | {name: tuple(WITH[name].format(n) for n in NUMBERS[name]) for name in NUMBERS}
TEXTS = tuple(text for name in NAMES for text in GRID[name])
UNTIMED = tuple(text for name in WITHOUT_TIME for text in GRID[name])
BOTH, EVERY = ("naive", "snips"), ("naive", "snips", "gs", "exposure_path")
WAYS = {
    f"{protocol}, {estimator.replace('_', ' ')}": (protocol, estimator)
    for protocol, estimators in ((LOOCV, BOTH), (HOLDOUT, BOTH), (SW, EVERY))
    for estimator in estimators
}
REGRET = "regret, %"


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """What every way picks in each world, and what that costs."""
    setting.begin(quick, progress)
    size = {"min_users": setting.size.min_users, "folds": min(WINDOWS, setting.size.folds)}
    shops = {seed: varied(setting.small, seed) for seed in range(runs)}
    keys = [{"world": sorted(asdict(shop).items()), "models": list(TEXTS), **size} for shop in shops.values()]

    def make(key: Mapping[str, Any]) -> dict[str, Any]:
        return world(shops[dict(key["world"])["seed"]], **size)

    worlds = setting.store.map(keys, make, workers=setting.workers, progress=progress, stage="shops with a known truth")
    records: list[Record] = []
    for names, title in ((WITHOUT_TIME, "POP, SVD, U-kNN, I-kNN"), (NAMES, "POP-N too")):
        regret: dict[str, Repeated] = {}
        for way in WAYS:
            rows = [dict(_of_world(found, way, names)) for found in worlds]
            for column in rows[0]:
                records.append(averaged(f"truth/{title}", way, column, np.array([row[column] for row in rows])))
            regret[way] = Repeated.mean([row[REGRET] for row in rows])
        pairs = [(f"{protocol}, snips", f"{protocol}, naive") for protocol in (LOOCV, HOLDOUT, SW)]
        pairs += [(way, "LOOCV, naive") for way, (protocol, _) in WAYS.items() if protocol == SW]
        for way, than in pairs:
            column = f"{title}: regret is at most that of {than}"
            records.append(claim("truth/claims", way, column, regret[way], Below(), than, regret[than]))
    top = np.array([[max(_clicks(found, name).values()) for name in NAMES] for found in worlds])
    for place, name in enumerate(NAMES):
        part, first = "truth/the A/B test", 100.0 * (top.argmax(axis=1) == place)
        records.append(averaged(part, "clicks per user, with the best setting", name, top[:, place]))
        records.append(averaged(part, "first in % of worlds", name, first))
    return records


def world(shop: ShopOverTime, min_users: int, folds: int) -> dict[str, Any]:
    """One shop: what an A/B test would show of every candidate, and what every way says."""
    log, weighed = shop.log, left_out(shop.log, REPEATS)
    asked: dict[str, Any] = {"metrics": [METRIC], "target": "pooled", "propensity": "known(part=test)", "workers": 1}
    windows = f"sliding_window(width=1d, folds={folds}, min_users={min_users})"
    found = {
        LOOCV: cross_validate(weighed.log, UNTIMED, split=weighed, estimators=BOTH, **asked),
        HOLDOUT: cross_validate(log, UNTIMED, split=f"holdout(share={SHARE})", estimators=BOTH, **asked),
        SW: cross_validate(log, TEXTS, split=windows, estimators=EVERY, **asked),
    }
    units = {protocol: kept(each, Average.POOLED) for protocol, each in found.items()}
    test = shop.ab_test({text: text for text in TEXTS}, shop.days, WEEK, cuts=(10,))
    out: dict[str, Any] = {"clicks": np.array([test.clicks[text].mean() for text in TEXTS])}
    for way, (protocol, estimator) in WAYS.items():
        cell = cell_of(units[protocol], METRIC, estimator)
        out[f"{way}: value"], out[f"{way}: verdict"] = units[protocol]["value"][cell], units[protocol]["verdict"][cell]
    return out


def _of_world(found: Mapping[str, Any], way: str, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """What a way picks among some algorithms; rankings and verdicts where it has values of all of them."""
    texts = TEXTS if WAYS[way][0] == SW else UNTIMED
    value = dict(zip(texts, np.nan_to_num(found[f"{way}: value"], nan=-1.0).tolist(), strict=True))
    clicks = {name: _clicks(found, name) for name in names}
    tuned = {name: max(GRID[name], key=value.__getitem__) for name in names if GRID[name][0] in value}
    picked = max(tuned, key=lambda name: value[tuned[name]])
    most = max(max(each.values()) for each in clicks.values())
    yield REGRET, 100.0 * (1.0 - clicks[picked][tuned[picked]] / most)
    yield "picks the best algorithm, % of worlds", 100.0 * (max(clicks[picked].values()) == most)
    if len(tuned) < len(names):
        return
    said = np.array([[value[tuned[name]] for name in names]])
    true = np.array([[clicks[name][tuned[name]] for name in names]])
    yield "Kendall's τ of tuned algorithms", float(kendall(said, true)[0])
    place = [texts.index(tuned[name]) for name in names]
    verdict, pairs = found[f"{way}: verdict"][np.ix_(place, place)], list(combinations(range(len(names)), 2))
    signs = np.array([verdict[a, b] * np.sign(true[0, a] - true[0, b]) for a, b in pairs])
    for column, kind in (("right verdicts, %", 1), ("wrong, %", -1), ("undecided, %", 0)):
        yield column, 100.0 * float(np.mean(signs == kind))


def _clicks(found: Mapping[str, Any], name: str) -> dict[str, float]:
    """Of every setting of an algorithm."""
    return {text: float(found["clicks"][TEXTS.index(text)]) for text in GRID[name]}
