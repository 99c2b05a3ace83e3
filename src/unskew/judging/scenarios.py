"""One answer from all scenarios of an estimator: what holds in every one of them, and where the rest turns.

value       the average over the scenarios in which every model has a value: none of them is chosen
interval    from the lowest end to the highest: it holds if any scenario is right in which the model has a value
verdict     ahead where one model is ahead in all scenarios, depends where in some, else undecided
p           the largest
tipping     the least, over the scenarios of what is ahead in all of them
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from unskew.core.notice import Notice, codes, made_of
from unskew.engine.plan import ScenarioCells
from unskew.estimators import Need, Standing
from unskew.estimators.scenarios import Axis
from unskew.inference.intervals import Interval
from unskew.inference.trust import NO_VALUE, has_no_value, is_doubt
from unskew.inference.turning import Difference, Stretch, hull, stretches, whole
from unskew.inference.verdict import Judgement, Outcome, outcome
from unskew.judging.cell_comparisons import CellComparisons
from unskew.judging.path_range import PathRange
from unskew.result import Estimate, ScenarioDifferences, ScenarioTable, ScenarioValues, Verdict

Pair = tuple[int, int]
Numbers = tuple[float, ...]


def narrowed(cells: ScenarioCells, left: PathRange | None) -> ScenarioCells:
    """The scenarios that answers leave, of an estimator that weighs by counts; all where answers say nothing."""
    if left is None or not left.narrows or Need.COUNTS not in cells.estimator.needs(cells.target):
        return cells
    scenarios = cells.scenarios
    kept = [n for n, point in enumerate(scenarios.points) if left.keeps(point.at[0])]
    shares = f"of which answers leave {100 * left.low:.0f} to {100 * left.high:.0f} % to exposure"
    told = made_of(f"{scenarios.assumption}, {shares}", scenarios.assumption)
    points = tuple(scenarios.points[n] for n in kept)
    return replace(
        cells,
        scenarios=replace(scenarios, points=points, assumption=told),
        cells=tuple(cells.cells[n] for n in kept),
    )


def assuming(cells: ScenarioCells, assumption: str) -> ScenarioCells:
    """The same scenarios with other words for what holds in all of them."""
    return replace(cells, scenarios=replace(cells.scenarios, assumption=assumption))


def scenario_estimates(cells: ScenarioCells, rows: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """One row per model, from its rows in every scenario."""
    found = []
    common = [n for n, row in enumerate(rows) if not any(math.isnan(e.value) for e in row)]
    for several in zip(*rows, strict=True):
        known = [e for e in several if not math.isnan(e.value)] or several[:1]
        low, high = hull([Interval(e.se, e.low, e.high) for e in known])
        trust = _refused(cells, several, common) or next((e.trust for e in reversed(several) if e.trust), "")
        found.append(
            replace(
                several[0],
                estimator=str(cells.estimator),
                target=cells.target,
                value=float(np.mean([several[n].value for n in common])) if common else math.nan,
                se=max(e.se for e in known) if not any(math.isnan(e.se) for e in known) else math.nan,
                low=low,
                high=high,
                ess=min(e.ess for e in several),
                max_weight_share=max(e.max_weight_share for e in several),
                standing=cells.estimator.standing(cells.target),
                promise=cells.estimator.promise(cells.target),
                trust=trust,
                assumption=cells.scenarios.assumption,
                codes=codes((trust, cells.scenarios.assumption)),
            )
        )
    return found


def _refused(cells: ScenarioCells, several: Sequence[Estimate], common: Sequence[int]) -> str:
    """In which scenarios there is no value, and why, or which ones an average leaves out; empty where it has all."""
    gone = [n for n, e in enumerate(several) if has_no_value(e.trust)]
    if len(gone) == len(several):
        return several[0].trust
    if gone:
        first = several[gone[0]].trust
        said = first.replace(NO_VALUE, f"{NO_VALUE} for {_at(cells, gone)}", 1)
        rest = "Its range is that of the other scenarios, the average of those in which all models have a value."
        return made_of(f"{said} {rest}", first)
    lacking = [n for n in range(len(several)) if n not in common]
    told = f"its average leaves out {_at(cells, lacking)}: not all models have a value there."
    return Notice(told, code="scenarios-left-out") if lacking else ""


def _at(cells: ScenarioCells, places: Sequence[int]) -> str:
    """Some of the scenarios in words."""
    if len(cells.scenarios.axes) > 1:
        return f"{len(places)} of {len(cells.scenarios.points)} scenarios"
    (axis,) = cells.scenarios.axes
    return f"{axis.name} {', '.join(axis.shown(cells.scenarios.points[n].at[0]) for n in places)}"


def holds_everywhere(judged: Sequence[Mapping[Pair, Judgement]], pair: Pair) -> bool:
    """Whether the same model is ahead in all scenarios."""
    return whole([_difference(math.nan, found[pair]).sign for found in judged]) != 0


def scenario_verdict(
    cells: ScenarioCells,
    models: Sequence[str],
    pair: Pair,
    rows: Sequence[Verdict],
    judged: Sequence[Judgement],
    upwards: float,
    lists: str = "",
) -> Verdict:
    """The row of one pair of models, from its rows in every scenario.

    Args:
        upwards: −1 of errors.
        lists: what about their lists makes any answer doubtful.
    """
    there = [_difference(v.difference, judgement) for v, judgement in zip(rows, judged, strict=True)]
    sign = whole([each.sign for each in there])
    mean = float(np.mean([v.difference for v in rows]))
    turns, turns_at = "", None
    word = outcome(upwards * sign, sign != 0, False)
    if sign == 0 and any(each.sign for each in there):
        word = Outcome.DEPENDS
        names = (models[pair[0]], models[pair[1]]) if upwards > 0 else (models[pair[1]], models[pair[0]])
        turns, turns_at = where_it_turns(cells, there, names)
    low, high = hull([Interval(math.nan, judgement.low, judgement.high) for judgement in judged])
    reasons = sorted({v.trust: None for v in rows if v.trust}, key=is_doubt)  # why nothing is decided comes first
    trust = lists if word is Outcome.DEPENDS else next(iter(reasons), "")
    no_margin = next((v.no_margin for v in rows if v.no_margin), "")
    lows = [v.tipping if v.tipping_low is None else v.tipping_low for v in rows]
    tips = sign != 0 and all(v.tipping is not None for v in rows)
    needed = [v.users_needed for v in rows]
    known = [number for number in needed if number is not None]
    return replace(
        rows[0],
        estimator=str(cells.estimator),
        target=cells.target,
        difference=mean,
        se=max(v.se for v in rows),
        low=low,
        high=high,
        p=max(v.p for v in rows),
        p_adjusted=max(v.p_adjusted for v in rows),
        verdict=word,
        assumption=cells.scenarios.assumption,
        tipping=min((v.tipping for v in rows if v.tipping is not None), default=None) if tips else None,
        tipping_low=min((low for low in lows if low is not None), default=None) if tips else None,
        tipping_kind=rows[0].tipping_kind if tips else None,
        users_needed=max(known) if word is Outcome.UNDECIDED and len(known) == len(needed) else None,
        users_apart=min(v.users_apart for v in rows),
        ess=min(v.ess for v in rows),
        standing=cells.estimator.standing(cells.target),
        trust=trust,
        turns=turns,
        turns_at=turns_at,
        not_covered=cells.scenarios.not_covered if word is not Outcome.UNDECIDED else "",
        no_margin=no_margin,
        codes=codes((trust, turns, cells.scenarios.assumption, no_margin)),
    )


def agreed(verdicts: Sequence[Verdict], tables: Sequence[ScenarioTable]) -> list[Verdict]:
    """What holds in the scenarios of all estimators: a model that another of them puts behind somewhere only depends.

    Each holds if its own assumption does, and nothing in the log tells which of them does.
    """
    somewhere = {
        (table.metric, table.estimator, table.target, row.a, row.b): {row.sign[n] for n in table.places}
        for table in tables
        for row in table.differences
    }
    pairs: dict[tuple[str, str, str], list[Verdict]] = {}
    for v in verdicts:
        if v.standing == Standing.SCENARIOS:
            pairs.setdefault((v.metric, v.a, v.b), []).append(v)
    found = []
    for v in verdicts:
        signs = somewhere.get(_key(v), set())
        against = [
            other
            for other in pairs.get((v.metric, v.a, v.b), ())
            if Outcome(v.verdict).decided and {-sign for sign in signs} & somewhere.get(_key(other), set())
        ]
        found.append(_against(v, against[0]) if against else v)
    return found


def _key(v: Verdict) -> tuple[str, str, str, str, str]:
    return v.metric, v.estimator, v.target, v.a, v.b


def _against(verdict: Verdict, other: Verdict) -> Verdict:
    """A verdict that another estimator's scenarios contradict."""
    first, second = ((v.a, v.b) if Outcome(v.verdict).first else (v.b, v.a) for v in (verdict, other))
    said = other.turns or f"{second[0]} is ahead in all scenarios."
    told = f"{first[0]} is ahead in all scenarios of {verdict.estimator}; by {other.estimator}, {said}"
    turns = Notice(told, code="contradicted", by=other.estimator)
    low, high = hull([Interval(math.nan, v.low, v.high) for v in (verdict, other)])
    return replace(
        verdict,
        verdict=Outcome.DEPENDS,
        low=low,
        high=high,
        p_adjusted=max(verdict.p_adjusted, other.p_adjusted),
        tipping=None,
        tipping_low=None,
        tipping_kind=None,
        turns=turns,
        codes=(turns.code, *verdict.codes),
    )


def scenario_table(
    cells: ScenarioCells,
    models: Sequence[str],
    segment: str | None,
    rows: Sequence[Sequence[Estimate]],
    judged: Sequence[Mapping[Pair, Judgement]],
    comparisons: Sequence[CellComparisons],
    left: tuple[float, float] | None,
) -> ScenarioTable:
    """Everything that a chart over the scenarios shows."""
    points = cells.scenarios.points
    values = tuple(
        ScenarioValues(models[j], *_columns([(row[j].value, row[j].low, row[j].high) for row in rows]))
        for j in range(len(models))
    )
    differences = []
    for a, b in combinations(range(len(models)), 2) if judged else ():
        there = [
            _difference(cell.difference(a, b).value, found[a, b])
            for cell, found in zip(comparisons, judged, strict=True)
        ]
        columns = _columns([(each.value, each.low, each.high) for each in there])
        differences.append(ScenarioDifferences(models[a], models[b], *columns, tuple(each.sign for each in there)))
    return ScenarioTable(
        metric=str(cells.metric),
        estimator=str(cells.estimator),
        target=cells.target,
        segment=segment,
        axes=tuple(axis.name for axis in cells.scenarios.axes),
        labels=tuple(axis.label for axis in cells.scenarios.axes),
        percent=tuple(axis.percent for axis in cells.scenarios.axes),
        points=tuple(point.at for point in points),
        values=values,
        differences=tuple(differences),
        not_covered=cells.scenarios.not_covered,
        left=left,
    )


def where_it_turns(
    cells: ScenarioCells, there: Sequence[Difference], names: tuple[str, str]
) -> tuple[str, float | None]:
    """Where on the first axis that tells it, in words, and the value where the first stretch ends or begins.

    Args:
        names: the model that a positive difference speaks for, and the other one.
    """
    points = cells.scenarios.points
    for n, axis in enumerate(cells.scenarios.axes):
        at = sorted({point.at[n] for point in points})
        found = [[each for each, point in zip(there, points, strict=True) if point.at[n] == value] for value in at]
        if parts := stretches(at, found):
            ends = [end for part in parts for end in (part.low, part.high) if math.isfinite(end)]
            code = "reverses" if len({part.sign for part in parts}) > 1 else "ahead-in-part"
            return Notice(_sentence(axis, parts, names), code=code, axis=axis.name), ends[0] if ends else None
    ahead = [sum(each.sign == sign for each in there) for sign in (1, -1)]
    told = [f"{name} is ahead in {n} of {len(there)} scenarios" for name, n in zip(names, ahead, strict=True) if n]
    said = f"{' and '.join(told)}{'' if len(told) > 1 else '; in the others, this log cannot decide'}."
    return Notice(said, code="reverses" if len(told) > 1 else "ahead-in-part"), None


def _sentence(axis: Axis, parts: Sequence[Stretch], names: tuple[str, str]) -> str:
    """Who is ahead where."""
    if len(parts) == 2 and parts[0].sign != parts[1].sign and axis.shown(parts[0].high) == axis.shown(parts[1].low):
        first, second = (names[0 if part.sign > 0 else 1] for part in parts)
        least = axis.clause.format(f"less than {axis.shown(parts[0].high)}")
        return f"{first} is ahead as long as {least}; beyond that, {second} is."
    told = [f"{names[0 if part.sign > 0 else 1]} is ahead {_range(axis, part)}" for part in parts]
    return f"{'; '.join(told)}; {_rest(parts)}, this log cannot decide."


def _range(axis: Axis, part: Stretch) -> str:
    """A stretch of an axis in words."""
    if part.high <= axis.start:
        return f"if {axis.clause.format(f'at most {axis.shown(part.high)}' if axis.start else 'none')}"
    if part.low == -math.inf:
        return f"as long as {axis.clause.format(f'less than {axis.shown(part.high)}')}"
    if part.high == math.inf:
        return f"if {axis.clause.format(f'more than {axis.shown(part.low)}')}"
    return f"if {axis.clause.format(f'between {axis.shown(part.low)} and {axis.shown(part.high)}')}"


def _rest(parts: Sequence[Stretch]) -> str:
    """Where nothing is decided."""
    first, last = parts[0].low == -math.inf, parts[-1].high == math.inf
    if len(parts) == 1 and (first or last):
        return "beyond that" if first else "below that"
    return "in between" if len(parts) == 2 and first and last else "elsewhere"


def _difference(value: float, judgement: Judgement) -> Difference:
    return Difference(value, judgement.low, judgement.high, judgement.decided)


def _columns(rows: Sequence[tuple[float, float, float]]) -> tuple[Numbers, Numbers, Numbers]:
    value, low, high = zip(*rows, strict=True)
    return value, low, high
