"""Which protocol ranks as an A/B test would? Shops with a known truth: the week behind the log.

The true ranking is that of expected clicks per user in an A/B test of the candidates, fitted on the whole log, in the
week behind it (``shop/ab_test.py``). A protocol's ranking is that of its Recall@10; its verdicts are
those of the cross-validation at one simultaneous level. A verdict is wrong where the A/B test has the two the other way
round; of pairs that are not decided (or "depends", on the exposure path) nothing is claimed.

    naive on LOOCV, hold-out, SW-EVAL
    snips, gs on SW-EVAL                        with the propensities that the shop knows
    exposure path on SW-EVAL                    without propensities (``estimators/exposure_path.py``)

All are pooled over relevant pairs within a fold, and averaged over folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np

from unskew import cross_validate
from unskew.core import Progress
from unskew_papers.arrays import Floats
from unskew_papers.jeunen18.algorithms import NAMES, POP_N, WITHOUT_TIME
from unskew_papers.jeunen18.joint import kendall
from unskew_papers.jeunen18.protocols import HOLDOUT, LOOCV, SW, decided, joint, kept
from unskew_papers.jeunen18.setting import SHARE, Setting
from unskew_papers.record import Above, Record
from unskew_papers.repeated import Repeated, averaged, claim
from unskew_papers.shop import ShopOverTime

RUNS, QUICK_RUNS = 20, 6
WEEK = 7
WINDOWS, REPEATS = 14, 3
METRIC = "recall@10"
CANDIDATES = {
    "POP": "most_popular",
    "POP-N": "recently_popular(last=1000)",
    "SVD": "svd(dim=30)",
    "U-kNN": "user_knn(neighbours=100, votes=count)",
    "I-kNN": "item_knn(neighbours=50)",
}
WAYS = {
    "LOOCV, naive": (LOOCV, "naive"),
    "hold-out, naive": (HOLDOUT, "naive"),
    "SW-EVAL, naive": (SW, "naive"),
    "SW-EVAL, snips": (SW, "snips"),
    "SW-EVAL, gs": (SW, "gs"),
    "SW-EVAL, exposure path": (SW, "exposure_path"),
}


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Worlds of small shops: τ and verdicts of every way against the A/B test."""
    size = {"min_users": setting.size.min_users, "folds": min(WINDOWS, setting.size.folds)}
    shops = [replace(setting.small, seed=seed) for seed in range(runs)]
    keys = [{"world": sorted(asdict(shop).items()), "models": CANDIDATES, **size} for shop in shops]
    by_seed = {shop.seed: shop for shop in shops}

    def make(key: Mapping[str, Any]) -> dict[str, Any]:
        return world(by_seed[dict(key["world"])["seed"]], **size)

    worlds = setting.store.map(keys, make, workers=setting.workers, progress=progress, stage="shops with a known truth")
    records = []
    for names, title in ((WITHOUT_TIME, "POP, SVD, U-kNN, I-kNN"), (NAMES, "POP-N too")):
        ways = {name: way for name, way in WAYS.items() if POP_N not in names or way[0] == SW}
        taus = {name: np.array([_tau(each, way, names) for each in worlds]) for name, way in ways.items()}
        for name, values in taus.items():
            records.append(averaged(f"truth/{title}", name, "Kendall's τ with the A/B test", values))
            for column, counts in _verdicts(worlds, ways[name], names).items():
                records.append(averaged(f"truth/{title}", name, column, counts))
        if LOOCV in {way[0] for way in ways.values()}:
            own = {name: Repeated.mean(values) for name, values in taus.items()}
            for name in (n for n in ways if ways[n][0] == SW):
                reference = own["LOOCV, naive"]
                records.append(
                    claim("truth/claims", name, "τ is at least LOOCV's", own[name], Above(), "LOOCV's τ", reference)
                )
    part = "truth/the A/B test"
    for place, model in enumerate(CANDIDATES):
        clicks = np.array([each["clicks"][place] for each in worlds])
        first = np.array([100.0 * (np.argmax(each["clicks"]) == place) for each in worlds])
        records.append(averaged(part, "clicks per user", model, clicks))
        records.append(averaged(part, "first in % of worlds", model, first))
    return records


def world(shop: ShopOverTime, min_users: int, folds: int) -> dict[str, Any]:
    """One shop: what an A/B test would show, and what every protocol says."""
    log = shop.log
    test = shop.ab_test(CANDIDATES, shop.days, WEEK, cuts=(10,))
    untimed = {name: CANDIDATES[name] for name in WITHOUT_TIME}
    asked: dict[str, Any] = {"metrics": [METRIC], "target": "pooled", "workers": 1}
    plain = {**asked, "estimators": ["naive"]}
    windows = f"sliding_window(width=1d, folds={folds}, min_users={min_users})"
    every = {**asked, "estimators": ["naive", "snips", "gs", "exposure_path"], "propensity": "known(part=test)"}
    found = {
        LOOCV: cross_validate(log, untimed, split=f"leave_one_out(repeats={REPEATS})", **plain),
        HOLDOUT: cross_validate(log, untimed, split=f"holdout(share={SHARE})", **plain),
        SW: cross_validate(log, CANDIDATES, split=windows, **every),
    }
    units = {protocol: kept(each) for protocol, each in found.items()}
    out: dict[str, Any] = {"clicks": np.array([test.clicks[name].mean() for name in CANDIDATES]), "rows": len(log)}
    for protocol, estimator in WAYS.values():
        unit = units[protocol]
        names = tuple(unit["models"])
        out[f"{protocol}, {estimator}: value"] = joint(unit, METRIC, estimator).value
        out[f"{protocol}, {estimator}: decided"] = np.array(decided(unit, METRIC, names, estimator))
        out[f"{protocol}, {estimator}: models"] = list(names)
    return out


def _tau(found: Mapping[str, Any], way: tuple[str, str], names: Sequence[str]) -> float:
    value, truth = _of(found, way, names), _truth(found, names)
    return float(kendall(value[None], truth[None])[0])


def _verdicts(worlds: Sequence[Mapping[str, Any]], way: tuple[str, str], names: Sequence[str]) -> dict[str, Floats]:
    """Per world the share of pairs that are decided rightly, wrongly and not, in %."""
    counts = []
    for found in worlds:
        judged_names = found[f"{', '.join(way)}: models"]
        pairs = dict(zip(combinations(judged_names, 2), found[f"{', '.join(way)}: decided"].tolist(), strict=True))
        truth = dict(zip(names, _truth(found, names).tolist(), strict=True))
        said = [pairs[pair] * np.sign(truth[pair[0]] - truth[pair[1]]) for pair in pairs if set(pair) <= set(names)]
        counts.append([100.0 * np.mean(np.array(said) == kind) for kind in (1, -1, 0)])
    right, wrong, open_ = np.array(counts).T
    return {"right verdicts, %": right, "wrong, %": wrong, "undecided, %": open_}


def _of(found: Mapping[str, Any], way: tuple[str, str], names: Sequence[str]) -> Floats:
    judged_names, value = found[f"{', '.join(way)}: models"], found[f"{', '.join(way)}: value"]
    return np.array([value[judged_names.index(name)] for name in names])


def _truth(found: Mapping[str, Any], names: Sequence[str]) -> Floats:
    return np.array([found["clicks"][list(CANDIDATES).index(name)] for name in names])
