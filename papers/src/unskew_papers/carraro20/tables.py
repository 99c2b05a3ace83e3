"""Tables 1 to 4 of carraro20, ours beside the paper's.

The paper averages ten random splits of the same ratings as ours, so its numbers err as the mean of ten of our runs
does. One is met where the two differ by no more than two standard errors of their difference, which is √(1 + runs/10)
of our own, and half a unit of the last printed digit besides. τ moves in steps; it is met where the middle 95 % of τ
from ten of our runs, drawn at random again and again, hold the paper's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew.log import Log
from unskew_papers.arrays import Floats
from unskew_papers.carraro20.numbers import agreement, mean_off, off, over_runs, tau
from unskew_papers.carraro20.printed import (
    ALL,
    OFF,
    RECOMMENDERS,
    STATISTICS,
    STRATEGIES,
    TABLE_1,
    TAU,
    THOUSAND,
    TRUTH,
    UNITS,
    WITHOUT_MF,
)
from unskew_papers.carraro20.protocol import KEPT, METRICS, TESTS
from unskew_papers.carraro20.recommenders import FACTORS, PENALTIES, Choice
from unskew_papers.carraro20.setting import Parts, Setting, Unit
from unskew_papers.record import Above, Among, Below, Near, Record, Rule, judged
from unskew_papers.repeated import Repeated, averaged, claim, shown

RUNS, QUICK = 40, 2
PAPER_RUNS = 10
WORLD_RUNS = 3  # in a world of Webscope's size, which takes longer and meets nothing
LEVEL, POINTS = 0.0005, 0.5  # half a unit of the last printed digit
DRAWS = 2_000  # of ten runs each
ALIKE = Near(relative=0.1)
TRUE, MEAN, RANGE = "Y_gt", "mean |difference|", "largest − smallest"
SUBSETS = {ALL: slice(None), WITHOUT_MF: slice(0, -1)}  # MF is the last
OTHER_RUNS = "random ratings of other runs"
FEWER = Choice(factors=FACTORS[::3], penalties=PENALTIES[::2])
FEWER_SETTINGS = f"{len(FEWER.factors) * len(FEWER.penalties)} of {len(FACTORS) * len(PENALTIES)} settings of MF"


def sets(setting: Setting, runs: int) -> list[tuple[Parts, int]]:
    """Both sets, with the number of runs on each."""
    coat, webscope = setting.coat(), setting.webscope()
    return [(coat, runs), (webscope, runs if webscope.is_the_papers else min(runs, WORLD_RUNS))]


def usual(quick: bool) -> Choice:
    """The paper's grids; a quick look tries fewer factors and penalties."""
    return FEWER if quick else Choice()


def tried(parts: Parts, quick: bool) -> Choice:
    """The same; in a world that stands in, always fewer."""
    return usual(quick or not parts.is_the_papers)


def values(units: list[Unit], test: str, metric: str = "recall@10") -> Floats:
    """[run, recommender] on one test set."""
    place = TESTS.index(test), list(METRICS).index(metric)
    return np.array([unit["value"][place] for unit in units])


def table_1(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Sizes of both sets; the paper cuts digits off, so that numbers are met within one unit of the last."""
    records = []
    for parts, _ in sets(setting, runs):
        for part, log in (("MAR", parts.mcar), ("MNAR", parts.mnar)):
            printed = TABLE_1[parts.printed][part]
            for name, ours, paper, unit in zip(STATISTICS, statistics(log), printed, UNITS, strict=True):
                within = THOUSAND if name == "ratings" and paper % THOUSAND == 0.0 else unit
                rule = Near(absolute=within) if parts.is_the_papers else None
                records.append(judged(f"table1/{parts.name}", part, name, ours, paper=paper, rule=rule))
    return records


def statistics(log: Log) -> tuple[float, ...]:
    """The numbers of Table 1."""
    assert log.value is not None
    users, items = (len(np.unique(side)) for side in (log.user, log.item))
    rows = len(log)
    return rows, users, items, rows / users, rows / items, float(log.value.mean()), 1.0 - rows / (users * items)


def table_2(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """How far Recall@10 on each test set is from that on random ratings."""
    records = []
    for parts, count in sets(setting, runs):
        units = setting.runs(parts, count, tried(parts, quick), progress)
        records += differences(f"table2/{parts.name}", units, parts, judge=parts.is_the_papers)
        if parts.is_the_papers:
            records += claims(f"table2/{parts.name}: claims", units)
        records += settings_chosen(f"table2/{parts.name}: settings chosen", units)
    return records


def differences(
    part: str,
    units: list[Unit],
    parts: Parts | None,
    *,
    judge: bool = False,
    truth: str = KEPT,
    metric: str = "recall@10",
    names: tuple[str, ...] = RECOMMENDERS,
) -> list[Record]:
    """Table 2: the truth, and by how many percent each strategy is off it; beside the paper's where it is given."""
    true = values(units, truth, metric)
    drawn = {name: values(units, name, metric) for name in STRATEGIES}
    printed = None if parts is None else np.array([TRUTH[parts.printed], *OFF[parts.printed].values()])
    level, points = (near(half, len(units)) if judge else None for half in (LEVEL, POINTS))
    records = []
    for m, name in enumerate(names):
        numbers = [over_runs(lambda v, m=m: float(v.mean(axis=0)[m]), true)]
        numbers += [over_runs(lambda v, t, m=m: float(off(v, t)[m]), found, true) for found in drawn.values()]
        for place, (column, number) in enumerate(zip((TRUE, *drawn), numbers, strict=True)):
            paper = None if printed is None else float(printed[place, RECOMMENDERS.index(name)])
            records.append(_number(part, name, column, number, paper, points if place else level))
    if names == RECOMMENDERS:
        spread = over_runs(lambda v: float(np.ptp(v.mean(axis=0))), true)
        paper = None if printed is None else round(float(np.ptp(printed[0])), 3)
        records.append(_number(part, RANGE, TRUE, spread, paper, level))
        for place, (strategy, found) in enumerate(drawn.items(), 1):
            paper = None if printed is None else float(np.abs(printed[place]).mean())
            records.append(_number(part, MEAN, strategy, over_runs(mean_off, found, true), paper, points))
    return records


def near(half: float, runs: int) -> Near:
    """Within two standard errors of the difference to a mean of ten runs, and what rounding hides."""
    return Near(absolute=half, errors=round(2.0 * math.sqrt(1.0 + runs / PAPER_RUNS), 2))


def claims(part: str, units: list[Unit], truth: str = KEPT) -> list[Record]:
    """FULL and REG overestimate everybody; FULL is as far off as REG, SKEW less, WTD still less, WTD_H no more."""
    true = values(units, truth)
    records = []
    for strategy in ("FULL", "REG"):
        found = values(units, strategy)
        for m, name in enumerate(RECOMMENDERS):
            high, low = Repeated.mean(found[:, m]), Repeated.mean(true[:, m])
            records.append(claim(part, name, f"{strategy} overestimates", high, Above(), TRUE, low))
    mean = {strategy: over_runs(mean_off, values(units, strategy), true) for strategy in STRATEGIES}
    order: tuple[tuple[str, Rule, str, str], ...] = (
        ("FULL", ALIKE, "REG", "as far off as"),
        ("SKEW", Below(), "REG", "nearer than"),
        ("WTD", Below(), "SKEW", "nearer than"),
        ("WTD_H", Below(), "WTD", "at least as near as"),
    )
    for one, rule, other, words in order:
        records.append(claim(part, MEAN, f"{one} {words} {other}", mean[one], rule, f"{other}'s", mean[other]))
    return records


def settings_chosen(part: str, units: list[Unit]) -> list[Record]:
    """Means over runs of the settings that validation chose."""
    return [
        averaged(part, name, "mean over runs", np.array([unit["chosen"][name] for unit in units]))
        for name in units[0]["chosen"]
    ]


def tables_3_and_4(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Kendall's τ between the order on a test set and the order on random ratings."""
    records = []
    for parts, count in sets(setting, runs):
        units = setting.runs(parts, count, tried(parts, quick), progress)
        records += taus(f"table3/{parts.name}", units, parts, judge=parts.is_the_papers)
    return sorted(records, key=lambda record: ":" in record.experiment)


def taus(part: str, units: list[Unit], parts: Parts, *, judge: bool = False) -> list[Record]:
    """τ of means over runs, how often it is above 0 when ten runs are drawn, and the mean of τ of single runs."""
    records = []
    for table, models in SUBSETS.items():
        true = values(units, KEPT)[:, models]
        drawn = {strategy: values(units, strategy)[:, models] for strategy in STRATEGIES}
        for (strategy, found), paper in zip(drawn.items(), TAU[parts.printed][table], strict=True):
            ten = of_ten_runs(found, true)
            low, high = (float(np.quantile(ten, share)) for share in (0.025, 0.975))
            rule = Among(low, high, "the middle 95 % of τ from ten of our runs") if judge else None
            records.append(judged(part, table, strategy, tau(found, true), paper=paper, runs=len(true), rule=rule))
            if parts.is_the_papers:
                above = 100.0 * float((ten > 0.0).mean()) if len(true) > 1 else math.nan
                records.append(judged(f"{part}: % of ten runs with τ above 0", table, strategy, above, runs=len(true)))
        drawn |= {} if len(true) < 2 else {OTHER_RUNS: _others(true)}
        for name, found in drawn.items():
            each = np.array([agreement(*both) for both in zip(found, true, strict=True)])
            records.append(averaged(f"{part}: mean of single runs", table, name, each))
    return sorted(records, key=lambda record: record.experiment)


def of_ten_runs(found: Floats, true: Floats) -> Floats:
    """τ when ten runs are drawn again and again; nothing is known from a single run."""
    rng = np.random.default_rng(0)
    some = [rng.integers(0, len(true), PAPER_RUNS) for _ in range(DRAWS)]
    return np.array([tau(found[runs], true[runs]) for runs in some] if len(true) > 1 else [math.nan])


def _others(true: Floats) -> Floats:
    """For each run the mean truth of the others: τ with it says how well random ratings know the order themselves."""
    return np.array([np.delete(true, run, axis=0).mean(axis=0) for run in range(len(true))])


def _number(part: str, row: str, column: str, ours: Repeated, paper: float | None, rule: Rule | None) -> Record:
    if paper is None:
        return shown(part, row, column, ours)
    se: Any = None if math.isnan(ours.se) else ours.se
    return judged(part, row, column, ours.value, paper=paper, se=se, runs=ours.runs, rule=rule)
