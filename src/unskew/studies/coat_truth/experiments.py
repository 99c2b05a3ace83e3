"""The two experiments: fourteen models, and two more that resemble how people chose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unskew.engine.store import Progress
from unskew.studies.coat_truth.recipes import RECIPES
from unskew.studies.coat_truth.setting import METRICS, Setting
from unskew.studies.coat_truth.shares import OUTCOMES, SIMULTANEOUS, UNADJUSTED, Row, Split, percent
from unskew.studies.record import Above, Below, Record, Rule, judged
from unskew.studies.repeated import Repeated

RUNS, QUICK = 10, 2
FLOORS: tuple[tuple[str, str, Rule, float], ...] = (
    ("exposure path, likes only", "wrong", Below(), 1.0),
    ("exposure path, all ratings", "wrong", Below(), 1.0),
    ("exposure path, all ratings", "right", Above(), 35.0),
    ("census and tilt", "wrong", Below(), 1.0),
    ("census and tilt", "right", Above(), 30.0),
    ("census and tilt", "interval holds the truth", Above(), 93.0),
)
IMITATED = ("naive", "path from likes", "path from ratings", "tilted")


def fourteen(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """All recipes on the fourteen models."""
    splits = setting.calls(RECIPES, runs, progress=progress)
    rows = [Row(recipe, name, metric) for metric in METRICS for recipe in RECIPES for name in recipe.rows]
    records = []
    numbers: dict[tuple[str, str, str], Repeated | None] = {}
    for metric in METRICS:
        for level in (SIMULTANEOUS, UNADJUSTED):
            for row in (row for row in rows if row.metric == metric):
                found = _shares(row, splits, level)
                records += _shown(f"{metric}, {level}", row.name, found, runs)
                if level == SIMULTANEOUS:
                    numbers |= {(metric, row.name, what): number for what, number in found.items()}
        records += [
            _floor(metric, name, what, rule, floor, numbers[metric, name, what], runs)
            for name, what, rule, floor in FLOORS
        ]
    return records


def imitators(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Pairs of which at least one model was fitted to what people looked at."""
    chosen = [recipe for recipe in RECIPES if recipe.name in IMITATED]
    splits = setting.calls(chosen, runs, imitators=True, progress=progress)
    records = []
    for metric in METRICS:
        for recipe in chosen:
            for name in recipe.rows:
                found = _shares(Row(recipe, name, metric), splits, SIMULTANEOUS, imitators=True)
                del found["interval holds the truth"]
                records += _shown(f"{metric}, {SIMULTANEOUS}", name, found, runs)
    return records


def _shares(row: Row, splits: Sequence[Split], level: str, *, imitators: bool = False) -> dict[str, Repeated | None]:
    """The shares of a row; nothing where its recipe was not run."""
    names = [*OUTCOMES, *(["interval holds the truth"] if level == SIMULTANEOUS else [])]
    if row.recipe.name not in splits[0]:
        return dict.fromkeys(names)
    found = percent(splits, lambda split: row.counts(split, level, imitators=imitators))
    covered = percent(splits, row.covered)[:1] if level == SIMULTANEOUS else []
    return dict(zip(names, [*found, *covered], strict=True))


def _shown(part: str, name: str, found: dict[str, Repeated | None], runs: int) -> list[Record]:
    """Numbers without a claim."""
    return [
        judged(
            part, name if number is not None else f"{name} (not run)", what, _value(number), se=_se(number), runs=runs
        )
        for what, number in found.items()
    ]


def _floor(metric: str, name: str, what: str, rule: Rule, floor: float, number: Repeated | None, runs: int) -> Record:
    """What was asked for beforehand."""
    return judged(
        f"{metric}, what was asked for",
        name,
        f"{name}: {what} {rule.words(f'{floor:g} %')}",
        _value(number),
        runs=runs,
        rule=rule,
        reference=("the floor", floor),
        paired_se=None if runs > 1 else math.nan,  # asked of these very numbers; one split is too few to judge
    )


def _value(number: Repeated | None) -> float:
    return math.nan if number is None else number.value


def _se(number: Repeated | None) -> float | None:
    return None if number is None or math.isnan(number.se) else number.se
