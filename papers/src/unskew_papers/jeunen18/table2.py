"""Tables 1 and 2, Figure 1: the logs, and Recall@k under leave-one-out, SW-EVAL and a random hold-out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import hypot
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.arrays import present
from unskew_papers.climb import best
from unskew_papers.jeunen18 import printed
from unskew_papers.jeunen18.algorithms import CUTS, POP, POP_N, WITHOUT_TIME
from unskew_papers.jeunen18.joint import Joint, tau
from unskew_papers.jeunen18.protocols import HOLDOUT, LOOCV, SW, decided, joint
from unskew_papers.jeunen18.setting import SHOP, SOURCES, Setting
from unskew_papers.record import Above, Record, judged

SEVERAL = 2.0  # how many times LOOCV's level must be that of SW-EVAL
MAIN = "recall@10"
SEVERAL_ROWS = "users with several rows"
SHOWN = (*WITHOUT_TIME, POP_N)  # in this order an algorithm has the same colour under both protocols


def table_1(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """How large the logs are."""
    setting.begin(quick, progress)
    records = []
    for name in setting.there():
        size = setting.store.once({"size": setting.mark(name)}, partial(_size, setting, name))
        paper = {"|D|": printed.ROWS, "|U|": printed.USERS, "|I|": printed.ITEMS, "sparsity, %": printed.SPARSITY}
        for column in (*paper, SEVERAL_ROWS):
            theirs = paper.get(column) if name == SHOP else None
            records.append(judged("table1/logs", name, column, float(size[column]), paper=theirs))
    return records


def _size(setting: Setting, name: str) -> dict[str, float]:
    log = present(setting.log(name))
    counts = np.diff(log.indptr)
    users, items = int(np.count_nonzero(counts)), len(np.unique(log.item))
    found = {"|D|": len(log), "|U|": users, "|I|": items, "sparsity, %": 100.0 * (1.0 - len(log) / (users * items))}
    return found | {SEVERAL_ROWS: int(np.count_nonzero(counts > 1))}


def table_2(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@k of all algorithms under all protocols, Δ % to the best, and what the paper says of them."""
    setting.begin(quick, progress)
    records: list[Record] = []
    claims: list[Record] = []
    for name in setting.there():
        units = {protocol: setting.judged(name, protocol) for protocol in protocols_of(name)}
        for protocol, unit in units.items():
            theirs = printed.TABLE_2.get(protocol) if name == SHOP else None
            records += values(f"table2/{name}, {protocol}", unit, theirs)
        if SW in units:
            claims += list(compared(name, units))
    return records + claims + settings_of(setting)


def protocols_of(name: str) -> tuple[str, ...]:
    """Leave-one-out and hold-out only where times do not tell when somebody acted."""
    return (LOOCV, HOLDOUT) if SOURCES[name].width is None else (LOOCV, SW, HOLDOUT)


def values(part: str, unit: Mapping[str, Any], theirs: printed.Printed | None = None) -> list[Record]:
    """Recall@k with standard errors, and Δ % to the best of each k."""
    found, deltas = [], []
    for place, k in enumerate(CUTS):
        each = joint(unit, f"recall@{k}")
        best_printed = max(row[place] for row in theirs.values()) if theirs else None
        for model in (model for model in SHOWN if model in each.names):
            paper = theirs[model][place] if theirs else None
            own = (each.of_name(model), each.se(model))
            found.append(judged(part, str(k), model, own[0], paper=paper, se=own[1]))
            ratio, error = each.ratio(model, each.best)
            delta = round(100.0 * (paper / best_printed - 1.0)) if paper is not None and best_printed else None
            where = f"{part}, Δ % to the best"
            deltas.append(judged(where, str(k), model, 100.0 * (ratio - 1.0), paper=delta, se=100.0 * error))
    return found + deltas


def compared(name: str, units: Mapping[str, Mapping[str, Any]]) -> Iterator[Record]:
    """The paper's three criteria at k = 10: levels, ratios, rankings."""
    loo, sw = joint(units[LOOCV], MAIN), joint(units[SW], MAIN)
    yield from level(name, loo, sw)
    common = WITHOUT_TIME
    ratio = {"LOOCV": loo.ratio(POP, loo.best), "SW-EVAL": sw.ratio(POP, sw.best)}
    yield judged(
        "findings/claims",
        name,
        "POP is closer to the best under SW-EVAL than under LOOCV",
        ratio["SW-EVAL"][0],
        rule=Above(),
        reference=("under LOOCV", ratio["LOOCV"][0]),
        paired_se=hypot(ratio["SW-EVAL"][1], ratio["LOOCV"][1]),
    )
    opposite = opposed(units[LOOCV], units[SW], common)
    for pair in opposite:
        for protocol, each in ((LOOCV, loo), (SW, sw)):
            value, error = each.difference(*pair)
            part = "findings/pairs decided one way under LOOCV, the other way under SW-EVAL: difference of Recall@10"
            yield judged(part, f"{name}: {pair[0]} less {pair[1]}", protocol, value, se=error)
    yield judged(
        "findings/claims",
        name,
        "some pair is decided one way under LOOCV, the other way under SW-EVAL",
        float(len(opposite)),
        rule=Above(),
        reference=("one pair", 1.0),
    )
    for other in (SW, HOLDOUT):
        value, _, low, high = tau(loo.only(common), joint(units[other], MAIN).only(common))
        for column, number in ((f"τ of LOOCV and {other}", value), ("2.5 %", low), ("97.5 %", high)):
            yield judged(f"findings/Kendall's τ of LOOCV and {other}, Recall@10", name, column, number)
    ratios = {f"POP, {protocol}": found for protocol, found in ratio.items()} | {
        "POP-N, SW-EVAL": sw.ratio(POP_N, sw.best)
    }
    for column, (value, error) in ratios.items():
        yield judged("findings/popularity over the best, Recall@10", name, column, value, se=error)


def level(name: str, loo: Joint, sw: Joint) -> Iterator[Record]:
    """How many times the best value under SW-EVAL that under LOOCV is."""
    yield judged(
        "findings/claims",
        name,
        "the best Recall@10 under LOOCV is at least twice that under SW-EVAL",
        loo.of_name(loo.best),
        rule=Above(SEVERAL),
        reference=("that under SW-EVAL", sw.of_name(sw.best)),
        paired_se=hypot(loo.se(loo.best), SEVERAL * sw.se(sw.best)),
    )
    part = "findings/Recall@10 under LOOCV over SW-EVAL"
    for column, a, b in (*((model, model, model) for model in loo.names), ("the best of each", loo.best, sw.best)):
        times = loo.of_name(a) / sw.of_name(b)
        error = times * hypot(loo.se(a) / loo.of_name(a), sw.se(b) / sw.of_name(b))
        yield judged(part, name, column, times, se=error)


def opposed(one: Mapping[str, Any], other: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs that both decide, in opposite ways."""
    both = zip(decided(one, MAIN, names), decided(other, MAIN, names), combinations(names, 2), strict=True)
    return [pair for first, second, pair in both if first * second < 0]


def settings_of(setting: Setting) -> list[Record]:
    """The settings that were chosen: neighbours, dimensions, N; and the largest that were tried."""
    records = []
    for name in setting.there():
        tried = setting.tried(name)
        for model in (model for model in SHOWN if model in tried):
            records.append(judged("settings/chosen", name, model, float(best(tried[model]))))
            records.append(judged("settings/the largest tried", name, model, float(tried[model][-1][0])))
    return records
