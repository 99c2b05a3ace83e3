"""The three experiments: simple models, models that are mostly learnt, and two that resemble how people chose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unskew.core import Progress
from unskew_papers.coat_truth.recipes import RECIPES, Recipe
from unskew_papers.coat_truth.setting import IMITATED, LEARNED, METRICS, SIMPLE, Setting
from unskew_papers.coat_truth.shares import SIMULTANEOUS, UNADJUSTED, Row, Split, percent
from unskew_papers.coat_truth.simple import IMITATOR
from unskew_papers.record import Above, Below, Record, Rule, judged
from unskew_papers.recovery.scores import OUTCOMES
from unskew_papers.repeated import Repeated

RUNS, QUICK = 10, 2
HOLDS, OWN_ERROR = "interval holds the truth", "with the truth's own error"
FLOORS: tuple[tuple[str, str, Rule, float], ...] = (
    ("default call, all ratings", "wrong", Below(), 1.0),
    ("default call, likes only", "wrong", Below(), 1.0),
    ("exposure path, all ratings", "right", Above(), 35.0),
    ("census and tilt", "right", Above(), 30.0),
    ("census and tilt", OWN_ERROR, Above(), 93.0),
)
SHORT = ("default from ratings", "default from likes", "naive", "path from likes", "path from ratings", "tilted")


def simple(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """All recipes on fourteen simple models, and some on the thirteen of them that do not learn what was looked at."""
    records = _all_recipes(setting, SIMPLE, runs, progress)
    splits = setting.calls(RECIPES, runs, models=SIMPLE)
    return records + _of_some(splits, RECIPES, f"{SIMULTANEOUS}, without {IMITATOR}", runs, imitators=False)


def learned(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """All recipes on fourteen models of which nine are learnt."""
    return _all_recipes(setting, LEARNED, runs, progress)


def imitators(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Pairs of which at least one model was fitted to what people looked at."""
    chosen = [recipe for recipe in RECIPES if recipe.name in SHORT]
    splits = setting.calls(chosen, runs, models=IMITATED, progress=progress)
    return _of_some(splits, chosen, SIMULTANEOUS, runs, imitators=True)


def _of_some(
    splits: Sequence[Split], recipes: Sequence[Recipe], part: str, runs: int, *, imitators: bool
) -> list[Record]:
    """Pairs with a model that resembles how people chose, or pairs without."""
    records = []
    for row in (Row(r, name, metric) for metric in METRICS for r in recipes if r.name in SHORT for name in r.rows):
        found = _verdicts(row, splits, SIMULTANEOUS, imitators=imitators)
        records += _shown(f"{row.metric}, {part}", row.name, found, runs)
    return records


def _all_recipes(setting: Setting, models: str, runs: int, progress: Progress | None) -> list[Record]:
    splits = setting.calls(RECIPES, runs, models=models, progress=progress)
    rows = [Row(recipe, name, metric) for metric in METRICS for recipe in RECIPES for name in recipe.rows]
    records = []
    for metric in METRICS:
        numbers: dict[tuple[str, str], Repeated] = {}
        of_metric = [row for row in rows if row.metric == metric]
        for row in of_metric:
            found = _verdicts(row, splits, SIMULTANEOUS) | _coverage(row, splits)
            records += _shown(f"{metric}, {SIMULTANEOUS}", row.name, found, runs)
            numbers |= {(row.name, what): number for what, number in found.items()}
        for row in of_metric:
            if not row.recipe.plain:  # its verdicts are the headline's: there is no other level
                found = _verdicts(row, splits, UNADJUSTED)
                records += _shown(f"{metric}, {UNADJUSTED}", row.name, found, runs)
        records += [
            _floor(metric, name, what, rule, floor, numbers[name, what], runs) for name, what, rule, floor in FLOORS
        ]
    return records


def _verdicts(row: Row, splits: Sequence[Split], level: str, *, imitators: bool | None = None) -> dict[str, Repeated]:
    found = percent(splits, lambda split: row.counts(split, level, imitators=imitators))
    return dict(zip(OUTCOMES, found, strict=True))


def _coverage(row: Row, splits: Sequence[Split]) -> dict[str, Repeated]:
    return {
        name: percent(splits, lambda split, own=own: row.covered(split, own_error=own))[0]  # type: ignore[misc]
        for name, own in ((HOLDS, False), (OWN_ERROR, True))
    }


def _shown(part: str, name: str, found: dict[str, Repeated], runs: int) -> list[Record]:
    """Numbers without a claim."""
    return [
        judged(part, name, what, number.value, se=None if math.isnan(number.se) else number.se, runs=runs)
        for what, number in found.items()
    ]


def _floor(metric: str, name: str, what: str, rule: Rule, floor: float, number: Repeated, runs: int) -> Record:
    """What was asked for beforehand."""
    told = f"{HOLDS}, {what}," if what == OWN_ERROR else what
    return judged(
        f"{metric}, what was asked for",
        name,
        f"{name}: {told} {rule.words(f'{floor:g} %')}",
        number.value,
        runs=runs,
        rule=rule,
        reference=("the floor", floor),
        paired_se=None if runs > 1 else math.nan,  # asked of these very numbers; one split is too few to judge
    )
