"""From sums over users to estimates with intervals, and verdicts with what they rest on and where they would tip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unskew.engine.held import Held
from unskew.engine.items import item_ratios
from unskew.engine.memory import AnyArm, Cell, Sums
from unskew.estimators import Need, Standing, Target
from unskew.evaluation.measure import Floats, Key, Measured, Setting, weighted
from unskew.evaluation.rivals import Rivals
from unskew.evaluation.tippings import Tipping, tippings
from unskew.inference.contrast import Contrast, alone
from unskew.inference.intervals import Interval, percentile, student
from unskew.inference.tally import BINS, Carried, Tally
from unskew.inference.trust import doubts, withheld
from unskew.inference.verdict import MORE_HITS, Judgement, Outcome, outcome, users_needed
from unskew.metrics import RankingMetric, Shape
from unskew.result import Estimate, Verdict, Weights


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of one segment, and how many bootstrap replicates had an empty divisor."""

    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    weights: tuple[Weights, ...]
    sums: Sums
    lost_replicates: int


def answer(measured: Measured, errors: Mapping[Key, float]) -> Answer:
    """Put the rows of one table together; ``errors`` is the error probability of each comparison, by cell."""
    held, plan, setting, sums = measured.held, measured.plan, measured.setting, measured.sums
    estimates: list[Estimate] = []
    lost = 0
    rivals: list[Rivals] = []
    for place, cell in enumerate(plan.cells):
        arm = plan.arms[cell.arm]
        moved = measured.redrawn[place] if measured.redrawn is not None and weighted(arm) else None
        drawn = _drawn(sums, cell) if moved is None else moved
        if drawn is not None:
            lost = max(lost, int(np.isnan(drawn).any(axis=1).sum()))
        estimates += _estimates(measured, arm, cell, place, drawn)
        key = (str(arm.metrics[cell.metric]), str(arm.estimator), str(arm.target))
        if len(setting.models) > 1:
            rivals.append(Rivals(measured, place, errors.get(key, 1.0 - setting.level), drawn, moved is not None))
    judged = [(r, {pair: r.judge(*pair) for pair in combinations(range(len(setting.models)), 2)}) for r in rivals]
    _withhold_contradicted(judged)
    decided = {(r.place, *pair) for r, found in judged for pair, judgement in found.items() if judgement.decided}
    gammas = tippings(measured, decided)
    verdicts = [
        _verdict(measured, r, pair, judgement, gammas.get((r.place, *pair)))
        for r, found in judged
        for pair, judgement in found.items()
    ]
    weights = [_weights(arm, tally, setting) for arm, tally in zip(plan.arms, sums.tallies, strict=True)]
    for arm in plan.points:
        points, tally = item_ratios(held, arm)
        weights.append(_weights(arm, tally, setting))
        for t, values in enumerate(points):
            there = int(np.count_nonzero(np.diff(held.indptr)))
            rows = [(float(value), Interval(math.nan, math.nan, math.nan)) for value in values]
            estimates += _rows(measured, arm, t, tally, None, there, rows, None)
    return Answer(tuple(estimates), tuple(verdicts), tuple(weights), sums, lost)


Judged = list[tuple[Rivals, dict[tuple[int, int], Judgement]]]


def _withhold_contradicted(judged: Judged) -> None:
    """Take back what an estimator says where one that promises more, on the same metric, names the other model."""
    said: dict[tuple[str, tuple[int, int]], list[tuple[int, bool, str]]] = {}
    for r, found in judged:
        place = standing(r.arm, r.cell.metric).place
        for pair, judgement in found.items():
            if judgement.decided:
                key = str(r.arm.metrics[r.cell.metric]), pair
                who = f"{r.arm.estimator} ({r.arm.target})"
                said.setdefault(key, []).append((place, judgement.low > 0.0, who))
    for r, found in judged:
        own = standing(r.arm, r.cell.metric)
        if not own.debiased:
            continue
        for pair, judgement in found.items():
            stronger = [
                who
                for other, first, who in said.get((str(r.arm.metrics[r.cell.metric]), pair), ())
                if judgement.decided and other < own.place and first != (judgement.low > 0.0)
            ]
            if stronger:
                reason = f"{stronger[0]}, which promises more, says the opposite"
                found[pair] = Judgement(math.nan, math.nan, False, (reason,))


def _drawn(sums: Sums, cell: Cell) -> Floats | None:
    """The models' estimates in every replicate."""
    return None if sums.replicates is None else cell.form.values(sums.replicates[:, cell.columns])


def _estimates(measured: Measured, arm: AnyArm, cell: Cell, place: int, drawn: Floats | None) -> list[Estimate]:
    setting, moments = measured.setting, measured.sums.moments[place]
    tally, carried = measured.sums.tallies[cell.arm], measured.sums.carried[cell.arm]
    rows = []
    for j in range(len(setting.models)):
        value = float(moments.values[j])
        one = alone(moments, j)
        interval = student(value, _error(measured, place, j), one.df, setting.level)
        if drawn is not None and moments.active > 1:
            interval = percentile(drawn[:, j], setting.level)
        if _without_hits(arm, cell.metric, one, carried.pairs(cell.metric, j)):
            interval = Interval(math.nan, 0.0, _most_without_hits(measured, arm, cell, place))
        rows.append((value, interval))
    bias = measured.few_clicks.get(cell.arm)
    few = None if bias is None else bias.mean[cell.metric]
    return _rows(measured, arm, cell.metric, tally, carried, moments.active, rows, few)


def _error(measured: Measured, place: int, model: int) -> float:
    spread = measured.sums.moments[place].covariance[model, model]
    return float(np.sqrt(max(spread, 0.0))) if not math.isnan(spread) else math.nan


def _without_hits(arm: AnyArm, metric: int, one: Contrast, hits: int) -> bool:
    """Whether a value of 0 rests on no hit at all, so that its spread says nothing."""
    return isinstance(arm.metrics[metric], RankingMetric) and one.users == 0 and hits == 0 and one.value == 0.0


def _most_without_hits(measured: Measured, arm: AnyArm, cell: Cell, place: int) -> float:
    """What a value may be although nothing was hit: three hits of the largest weight (the rule of three)."""
    hit = Rivals(measured, place, 0.05, None, False).hit
    return math.nan if hit is None else MORE_HITS * hit


def _rows(
    measured: Measured,
    arm: AnyArm,
    metric: int,
    tally: Tally,
    carried: Carried | None,
    users: int,
    found: Sequence[tuple[float, Interval]],
    few_clicks: Floats | None,
) -> list[Estimate]:
    """One row per model, from its value and interval."""
    held, setting, asked = measured.held, measured.setting, arm.metrics[metric]
    unsupported = measured.unsupported.get(asked)
    ranked = isinstance(asked, RankingMetric)
    rows = []
    for j, (model, (value, interval)) in enumerate(zip(setting.models, found, strict=True)):
        ess = tally.ess if carried is None else carried.ess(metric, j)
        largest = tally.max_weight_share if carried is None else carried.max_weight_share(metric, j)
        rows.append(
            Estimate(
                model=model,
                metric=str(asked),
                estimator=str(arm.estimator),
                target=arm.target,
                propensity=setting.propensity if weighted(arm) else None,
                segment=setting.segment,
                value=value,
                se=interval.se,
                low=interval.low,
                high=interval.high,
                ess=ess if arm.estimator.weighs else math.nan,
                hits=tally.pairs if carried is None else carried.pairs(metric, j),
                max_weight_share=largest if arm.estimator.weighs else math.nan,
                clipped_share=tally.clipped_share,
                support_gap=setting.support_gap,
                unsupported=(0.0 if unsupported is None else float(unsupported[j])) if ranked else None,
                few_clicks=None if few_clicks is None else float(few_clicks[j]),
                users=users,
                interactions=len(held.value) if (arm.target.sums or arm.target is Target.PER_PAIR) else tally.pairs,
                standing=standing(arm, metric),
                promise=_promise(arm, metric),
            )
        )
    return rows


def standing(arm: AnyArm, metric: int) -> Standing:
    """What may be claimed of a cell: of metrics that are no sums over items nothing, once they are weighed."""
    found = arm.estimator.standing(arm.target)
    return Standing.BIASED if found.debiased and not _additive(arm, metric) else found


def _additive(arm: AnyArm, metric: int) -> bool:
    asked = arm.metrics[metric]
    return not isinstance(asked, RankingMetric) or asked.shape is Shape.ADDITIVE


def _promise(arm: AnyArm, metric: int) -> str:
    asked = arm.metrics[metric]
    if not _additive(arm, metric):
        return f"no promise: {asked.name} is not a sum over items"
    promise = arm.estimator.promise(arm.target)
    return f"of its square: {promise}" if asked.root else promise


def _verdict(
    measured: Measured, rivals: Rivals, pair: tuple[int, int], judged: Judgement, gamma: Tipping | None
) -> Verdict:
    """The row of one pair of models."""
    setting, (a, b), arm, cell = measured.setting, pair, rivals.arm, rivals.cell
    difference = rivals.difference(a, b)
    upwards = -1.0 if arm.metrics[cell.metric].lower_is_better else 1.0
    cell_standing = standing(arm, cell.metric)
    sure = setting.known and cell_standing in (Standing.UNBIASED, Standing.CONSISTENT, Standing.LEANS)
    word = outcome(upwards * difference.value, judged.decided, sure and weighted(arm))
    needed = None
    if word is Outcome.UNDECIDED and difference.users:
        needed = users_needed(difference, rivals.moments.active, rivals.tail)
    alpha = 1.0 - setting.level
    p = rivals.p(a, b)
    return Verdict(
        metric=str(arm.metrics[cell.metric]),
        estimator=str(arm.estimator),
        target=arm.target,
        segment=setting.segment,
        a=setting.models[a],
        b=setting.models[b],
        difference=difference.value,
        se=difference.error,
        low=judged.low,
        high=judged.high,
        p=p,
        p_adjusted=min(1.0, p * alpha / rivals.tail),
        verdict=word,
        assumption="" if sure and weighted(arm) else _assumption(measured, arm, cell_standing),
        tipping=None if gamma is None else gamma.value,
        tipping_low=None if gamma is None else gamma.low,
        tipping_kind=None if gamma is None else _tipping_kind(arm, measured.held),
        users_needed=needed,
        users_apart=difference.users,
        ess=rivals.ess(a, b),
        few_clicks=rivals.bias(a, b),
        standing=cell_standing,
        trust=_trust(measured, rivals, a, b, judged, word),
    )


def _assumption(measured: Measured, arm: AnyArm, cell_standing: Standing) -> str:
    """What a verdict rests on besides the rows, in words that go on after "if"."""
    assumed = measured.setting.assumption
    if not cell_standing.debiased:
        return "every relevant pair was equally likely to be seen"
    if cell_standing is Standing.MODEL:
        return "the outcome model is right"
    if cell_standing is Standing.BIASED:
        traded = "the bias that it takes on purpose favours neither"
        return f"{assumed}, and {traded}" if assumed and weighted(arm) else traded
    if Need.OUTCOME in arm.estimator.needs(arm.target) and assumed:
        return f"the outcome model is right, or {assumed}"
    return assumed


def _trust(measured: Measured, rivals: Rivals, a: int, b: int, judged: Judgement, word: Outcome) -> str:
    setting, arm, cell = measured.setting, rivals.arm, rivals.cell
    if not rivals.moments.differ[a, b]:
        return "The two models score the same for every user."
    if not word.decided:
        return withheld(judged.reasons)
    carried = measured.sums.carried[cell.arm]
    return doubts(
        users=rivals.moments.active,
        ess=rivals.ess(a, b) if arm.estimator.weighs else None,
        max_weight_share=max(carried.max_weight_share(cell.metric, j) for j in (a, b)),
        support_gap=setting.support_gap if weighted(arm) else None,
        note=_note(rivals, a, b),
    )


def _note(rivals: Rivals, a: int, b: int) -> str:
    share = rivals.unsupported(a, b)
    if share > 0.05:
        return f"up to {share:.0%} of a list's worth lies on items that the log could never show"
    if not _additive(rivals.arm, rivals.cell.metric) and weighted(rivals.arm):
        return (
            f"{rivals.arm.metrics[rivals.cell.metric].name} is not a sum over items, so weights do not make it unbiased"
        )
    return ""


def _tipping_kind(arm: AnyArm, held: Held) -> str:
    return "odds" if weighted(arm) and not held.relative else "ratio"


def _weights(arm: AnyArm, tally: Tally, setting: Setting) -> Weights:
    used = np.flatnonzero(tally.bins)
    low = 2.0 ** ((used - BINS // 2) / 2.0)
    return Weights(
        str(arm.estimator),
        arm.target,
        setting.segment,
        tuple(low.tolist()),
        tuple((low * 2.0**0.5).tolist()),
        tuple(int(n) for n in tally.bins[used]),
    )
