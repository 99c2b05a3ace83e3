"""From sums over users to estimates with intervals, and verdicts with what they rest on and where they would tip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from unskew.core.notice import Notice, codes, made_of
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import EvaluationPlan, ScenarioCells
from unskew.engine.sums import Sums
from unskew.estimators import Target
from unskew.inference.intervals import Interval, percentile
from unskew.inference.tally import BINS, Carried, Tally
from unskew.inference.trust import doubt, doubts, no_value, withheld
from unskew.inference.verdict import Judgement, Outcome, outcome, users_needed
from unskew.judging.cell_comparisons import CellComparisons
from unskew.judging.claims import additive, promise, rests_on, standing, sure, with_places, with_split
from unskew.judging.list_notes import list_note
from unskew.judging.measure import Floats, Key, Measured, Setting, uses_propensity, weighted
from unskew.judging.over_draws import draw_errors
from unskew.judging.possible import Possible
from unskew.judging.scenarios import (
    agreed,
    assuming,
    holds_everywhere,
    narrowed,
    scenario_estimates,
    scenario_table,
    scenario_verdict,
)
from unskew.judging.tipping_points import TippingPoint, tipping_points
from unskew.judging.value_intervals import ENOUGH_HITS, covering, refused_value, value_doubt, value_interval
from unskew.metrics import RankingMetric
from unskew.result import Estimate, ScenarioTable, Verdict, Weights


class Answer(NamedTuple):
    """The rows of one segment, and how many bootstrap replicates had an empty divisor."""

    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    weights: tuple[Weights, ...]
    scenarios: tuple[ScenarioTable, ...]
    sums: Sums
    lost_replicates: int


NO_INTERVAL = Interval(math.nan, math.nan, math.nan)


class Value(NamedTuple):
    """The value of a model with its interval, or why there is none; ``beyond`` says why no such value can be."""

    value: float
    interval: Interval
    refused: str = ""
    beyond: str = ""


def answer(measured: Measured, errors: Mapping[Key, float]) -> Answer:
    """Put the rows of one table together; ``errors`` is the error probability of each comparison, by cell."""
    plan, setting, sums = measured.plan, measured.setting, measured.sums
    lost = 0
    compared: list[CellComparisons] = []
    values: list[list[Value]] = []
    for place, cell in enumerate(plan.cells):
        run = plan.runs[cell.run]
        moved = measured.redrawn[place] if measured.redrawn is not None and uses_propensity(run) else None
        drawn = moved  # the models' estimates in every replicate
        if moved is None and sums.replicates is not None and not cell.form.scores:  # which know of no model's error
            drawn = cell.form.values(sums.replicates[:, cell.columns])
        if drawn is not None:
            lost = max(lost, int(np.isnan(drawn).any(axis=1).sum()))
        values.append(_values(measured, place, drawn))
        key = (str(run.metrics[cell.metric]), str(run.estimator), str(run.target))
        tail = errors.get(key, 1.0 - setting.level_of(run))
        compared.append(CellComparisons(measured, place, tail, drawn, moved is not None))
    pairs = list(combinations(range(len(setting.models)), 2))
    judged = [(r, {pair: r.judge(*pair) for pair in pairs}) for r in compared]
    _withhold_impossible(judged, values)
    _withhold_contradicted([each for each in judged if each[0].place not in plan.in_scenarios])
    gammas = tipping_points(measured, _decided(measured, judged)) if measured.tips else {}
    verdicts = [
        [_verdict(measured, r, pair, judgement, gammas.get((r.place, *pair))) for pair, judgement in found.items()]
        for r, found in judged
    ]
    points, weights = _points(measured)
    rows = [_estimates(measured, place, found) for place, found in enumerate(values)]
    estimates, said, tables = _in_order(measured, rows, verdicts, judged)
    weights = [_weights(run, tally, setting) for run, tally in _outside_scenarios(plan, sums)] + weights
    return Answer((*estimates, *points), tuple(said), tuple(weights), tuple(tables), sums, lost)


def estimates_of(measured: Measured) -> list[Estimate]:
    """The estimates of one table, with nothing judged."""
    plan = measured.plan
    rows = [_estimates(measured, place, _values(measured, place, None)) for place in range(len(plan.cells))]
    found: list[Estimate] = []
    for place, own in enumerate(rows):
        if place not in plan.in_scenarios:
            found += own
    for every in plan.scenarios:
        cells = narrowed(every, measured.setting.left)
        found += scenario_estimates(_with_assumed(measured, cells), [rows[place] for place in cells.cells])
    return found


def _decided(measured: Measured, judged: Judged) -> set[tuple[int, int, int]]:
    """The pairs that get a tipping point, by cell: those that are decided, in scenarios all over."""
    plan = measured.plan
    found = {
        (r.place, *pair)
        for r, judgements in judged
        for pair, judgement in judgements.items()
        if judgement.decided and r.place not in plan.in_scenarios
    }
    for every in plan.scenarios:
        cells = narrowed(every, measured.setting.left)
        there = [judged[place][1] for place in cells.cells]
        everywhere = [pair for pair in there[0] if holds_everywhere(there, pair)]
        found |= {(place, *pair) for place in cells.cells for pair in everywhere}
    return found


def _in_order(
    measured: Measured, rows: list[list[Estimate]], verdicts: list[list[Verdict]], judged: Judged
) -> tuple[list[Estimate], list[Verdict], list[ScenarioTable]]:
    """The rows of all cells in their order; those of scenarios make one row together, where their first one stands."""
    plan, setting = measured.plan, measured.setting
    estimates: list[Estimate] = []
    said: list[Verdict] = []
    tables = []
    first = {cells.cells[0]: cells for cells in plan.scenarios}
    for place in range(len(plan.cells)):
        if place not in plan.in_scenarios:
            estimates += rows[place]
            said += verdicts[place]
        elif place in first:
            every = first[place]
            cells = narrowed(every, setting.left)
            there = [judged[other] for other in cells.cells]
            upwards = -1.0 if cells.metric.lower_is_better else 1.0
            told = _with_assumed(measured, cells)
            estimates += scenario_estimates(told, [rows[other] for other in cells.cells])
            for n, pair in enumerate(there[0][1]):
                each = [verdicts[other][n] for other in cells.cells], [found[pair] for _, found in there]
                lists = doubt(list_note(measured, cells.metric, *pair))
                said.append(scenario_verdict(told, setting.models, pair, *each, upwards, lists))
            whole = [judged[other] for other in every.cells]
            each_of = [rows[other] for other in every.cells], [found for _, found in whole], [r for r, _ in whole]
            ends = None if cells is every else (cells.scenarios.points[0].at[0], cells.scenarios.points[-1].at[0])
            tables.append(scenario_table(every, setting.models, setting.segment, *each_of, ends))
    return estimates, agreed(said, tables), tables


def _with_assumed(measured: Measured, cells: ScenarioCells) -> ScenarioCells:
    """Scenarios with what their weights take for granted of the split, and of places on the page."""
    run = measured.plan.runs[measured.plan.cells[cells.cells[0]].run]
    return assuming(cells, with_places(with_split(cells.scenarios.assumption, measured, run), measured))


def _outside_scenarios(plan: EvaluationPlan, sums: Sums) -> list[tuple[EstimatorRun, Tally]]:
    """The runs that are no scenarios, with their weights."""
    inside = {plan.cells[place].run for place in plan.in_scenarios}
    return [each for n, each in enumerate(zip(plan.runs, sums.tallies, strict=True)) if n not in inside]


def _points(measured: Measured) -> tuple[list[Estimate], list[Weights]]:
    """Estimates without errors, of ratios that are taken per item."""
    estimates: list[Estimate] = []
    weights = []
    engine, sums = measured.engine, measured.sums
    for run in measured.plan.points:
        by_item = engine.item_sums(run)
        tally = engine.item_tally(run, by_item.weights)
        weights.append(_weights(run, tally, measured.setting))
        for t, values in enumerate(by_item.ratios(run)):
            rows = [Value(float(value), NO_INTERVAL) for value in values]
            estimates += _rows(measured, (run, t), tally, None, sums.extent.users_with_rows, rows, None)
    return estimates, weights


Judged = list[tuple[CellComparisons, dict[tuple[int, int], Judgement]]]


def _withhold_impossible(judged: Judged, values: Sequence[Sequence[Value]]) -> None:
    """Take back what rests on a value that cannot be."""
    for r, found in judged:
        for pair, judgement in found.items():
            wrong = [value.beyond for value in (values[r.place][model] for model in pair) if value.beyond]
            if wrong and not math.isnan(judgement.low):
                found[pair] = Judgement(math.nan, math.nan, False, (wrong[0],), wrong[0])


def _withhold_contradicted(judged: Judged) -> None:
    """Take back what an estimator says where one that promises more, on the same metric, names the other model."""
    said: dict[tuple[str, tuple[int, int]], list[tuple[int, bool, str]]] = {}
    for r, found in judged:
        place = standing(r.run, r.cell.metric).place
        for pair, judgement in found.items():
            if judgement.decided:
                key = str(r.run.metrics[r.cell.metric]), pair
                who = f"{r.run.estimator} ({r.run.target})"
                said.setdefault(key, []).append((place, judgement.low > 0.0, who))
    for r, found in judged:
        own = standing(r.run, r.cell.metric)
        if not own.debiased:
            continue
        for pair, judgement in found.items():
            stronger = [
                who
                for other, first, who in said.get((str(r.run.metrics[r.cell.metric]), pair), ())
                if judgement.decided and other < own.place and first != (judgement.low > 0.0)
            ]
            if stronger:
                told = f"{stronger[0]}, which promises more, says the opposite"
                reason = Notice(told, code="contradicted", by=stronger[0])
                found[pair] = Judgement(math.nan, math.nan, False, (reason,), reason)


def _values(measured: Measured, place: int, drawn: Floats | None) -> list[Value]:
    """The models' values in one cell; ``drawn`` are replicates of them."""
    setting, moments = measured.setting, measured.sums.moments[place]
    level = setting.level_of(measured.plan.runs[measured.plan.cells[place].run])
    compared = CellComparisons(measured, place, 1.0 - level, None, False)
    found = []
    for j in range(len(setting.models)):
        interval = value_interval(measured, compared, j)
        if drawn is not None and moments.active > 1:
            replicates = percentile(drawn[:, j], level)
            few = not math.isnan(interval.low) and (compared.wins(j) < ENOUGH_HITS or place in measured.counts)
            interval = covering(replicates, interval) if few else replicates
        beyond = compared.impossible(interval.low, interval.high, j)
        if refused := refused_value(compared, j, interval) or beyond:
            found.append(Value(math.nan, NO_INTERVAL, refused, beyond))
        else:
            ends = compared.possible(j).cut(interval.low, interval.high)
            found.append(Value(float(moments.values[j]), Interval(interval.se, *ends)))
    return found


def _estimates(measured: Measured, place: int, found: Sequence[Value]) -> list[Estimate]:
    """The rows of one cell."""
    cell, sums = measured.plan.cells[place], measured.sums
    compared = CellComparisons(
        measured, place, 1.0 - measured.setting.level_of(measured.plan.runs[cell.run]), None, False
    )
    bias = measured.few_clicks.get(cell.run)
    few_clicks = None if bias is None else bias.mean[cell.metric]
    counted = sums.tallies[cell.run], sums.carried[cell.run], sums.moments[place].active
    return _rows(measured, compared, *counted, found, few_clicks)


def _rows(
    measured: Measured,
    cell: CellComparisons | tuple[EstimatorRun, int],
    tally: Tally,
    carried: Carried | None,
    users: int,
    found: Sequence[Value],
    few_clicks: Floats | None,
) -> list[Estimate]:
    """One row per model, from its value and interval; a point without an error is given by its run and metric."""
    run, metric = (cell.run, cell.cell.metric) if isinstance(cell, CellComparisons) else cell
    drawing = draw_errors(measured.sums.draws, cell.cell) if isinstance(cell, CellComparisons) else None
    setting, asked, rows_seen = measured.setting, run.metrics[metric], measured.sums.extent.rows
    unsupported = measured.unsupported.get(asked)
    ranked = isinstance(asked, RankingMetric)
    wrong = setting.contradiction(run)
    doubt = made_of(f"{wrong}.", wrong) if wrong else ""
    rows = []
    for j, (model, (value, interval, refused, _)) in enumerate(zip(setting.models, found, strict=True)):
        ess = tally.ess if carried is None else carried.ess(metric, j)
        largest = tally.max_weight_share if carried is None else carried.max_weight_share(metric, j)
        trust, condition = (
            no_value(refused) or doubt or _note_on(measured, cell, j, value),
            rests_on(measured, run, metric, j),
        )
        rows.append(
            Estimate(
                model=model,
                metric=str(asked),
                estimator=str(run.estimator),
                target=run.target,
                propensity=setting.propensity if uses_propensity(run) else None,
                segment=setting.segment,
                value=value,
                se=interval.se,
                low=interval.low,
                high=interval.high,
                ess=ess if run.traits.uses_seen_pairs else math.nan,
                hits=tally.pairs if carried is None else carried.pairs(metric, j),
                max_weight_share=largest if run.traits.uses_seen_pairs else math.nan,
                clipped_share=tally.clipped_share,
                support_gap=setting.support_gap,
                unsupported=(0.0 if unsupported is None else float(unsupported[j])) if ranked else None,
                few_clicks=None if few_clicks is None else float(few_clicks[j]),
                users=users,
                interactions=rows_seen if (run.target.sums or run.target is Target.PER_PAIR) else tally.pairs,
                standing=standing(run, metric),
                promise=promise(measured, run, metric),
                trust=trust,
                assumption=condition,
                sample=setting.sample,
                draws_se=None if drawing is None else float(drawing[j]),
                codes=codes((trust, condition)),
            )
        )
    return rows


def _note_on(measured: Measured, cell: CellComparisons | tuple[EstimatorRun, int], model: int, value: float) -> str:
    """What should make a reader doubt a value that is there."""
    if isinstance(cell, CellComparisons):
        return cell.possible(model).note(value) or value_doubt(cell, model)
    run, metric = cell
    largest = max(1.0, measured.sums.extent.highest_value)
    return Possible.of(run.metrics[metric], run.target, run.depth, largest).note(value)


def _verdict(
    measured: Measured,
    compared: CellComparisons,
    pair: tuple[int, int],
    judged: Judgement,
    gamma: TippingPoint | None,
) -> Verdict:
    """The row of one pair of models."""
    setting, (a, b), run, cell = measured.setting, pair, compared.run, compared.cell
    difference = compared.difference(a, b)
    upwards = -1.0 if run.metrics[cell.metric].lower_is_better else 1.0
    cell_standing = standing(run, cell.metric)
    word = outcome(upwards * difference.value, judged.decided, sure(measured, run, cell.metric, a, b))
    needed = None
    if word is Outcome.UNDECIDED and difference.users and not run.joined:  # more answers would decide, not more users
        needed = users_needed(difference, compared.moments.active, compared.tail)
    alpha = 1.0 - setting.level
    p = compared.p(a, b)
    adjusted = min(1.0, p * alpha / compared.tail)
    kind = "odds" if uses_propensity(run) and not measured.engine.relative else "ratio"
    trust, condition = _trust(measured, compared, a, b, judged, word), rests_on(measured, run, cell.metric, a, b)
    return Verdict(
        metric=str(run.metrics[cell.metric]),
        estimator=str(run.estimator),
        target=run.target,
        segment=setting.segment,
        a=setting.models[a],
        b=setting.models[b],
        difference=difference.value,
        se=difference.error,
        low=judged.low,
        high=judged.high,
        p=p,
        p_adjusted=1.0 if adjusted < alpha and not judged.decided else adjusted,  # a check stood in the way
        verdict=word,
        assumption=condition,
        tipping=None if gamma is None else gamma.value,
        tipping_low=None if gamma is None else gamma.low,
        tipping_kind=None if gamma is None else kind,
        users_needed=needed,
        users_apart=difference.users,
        ess=compared.ess(a, b),
        few_clicks=compared.bias(a, b),
        standing=cell_standing,
        trust=trust,
        no_margin=judged.no_margin,
        codes=codes((trust, condition, judged.no_margin)),
    )


def _trust(measured: Measured, compared: CellComparisons, a: int, b: int, judged: Judgement, word: Outcome) -> str:
    setting, run, cell = measured.setting, compared.run, compared.cell
    if not compared.moments.differ[a, b]:
        if compared.same_lists(a, b):
            alike = f"As {run.metrics[cell.metric]} counts, the two models give the same lists."
            return Notice(alike, code="same-lists")
        return Notice("The two models score the same for every user.", code="same-scores")
    lists = list_note(measured, run.metrics[cell.metric], a, b)
    if not word.decided:
        return withheld(judged.reasons) or doubt(lists)
    carried, notes = measured.sums.carried[cell.run], [note for note in (lists, _note(compared, a, b)) if note]
    return doubts(
        users=compared.moments.active,
        ess=compared.ess(a, b) if run.traits.uses_seen_pairs else None,
        max_weight_share=max(carried.max_weight_share(cell.metric, j) for j in (a, b)),
        support_gap=setting.support_gap if weighted(run) else None,
        note=made_of("; ".join(notes), *notes),
    )


def _note(compared: CellComparisons, a: int, b: int) -> str:
    if compared.weak_total:
        told = "only the direction of the difference can be told, not its size: no value is shown for either"
        return Notice(told, code="direction-only")
    share = compared.unsupported(a, b)
    if share > 0.05:
        told = f"up to {share:.0%} of a list's worth lies on items that the log could never show"
        return Notice(told, code="unsupported-items", share=share)
    if not additive(compared.run, compared.cell.metric) and weighted(compared.run):
        name = compared.run.metrics[compared.cell.metric].name
        return Notice(f"{name} is not a sum over items, so weights do not make it unbiased", code="not-additive")
    return ""


def _weights(run: EstimatorRun, tally: Tally, setting: Setting) -> Weights:
    used = np.flatnonzero(tally.bins)
    low = 2.0 ** ((used - BINS // 2) / 2.0)
    return Weights(
        str(run.estimator),
        run.target,
        setting.segment,
        tuple(low.tolist()),
        tuple((low * 2.0**0.5).tolist()),
        tuple(int(n) for n in tally.bins[used]),
    )
