"""From sums over users to estimates with intervals, and verdicts with tipping points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unskew.engine.held import Held
from unskew.engine.items import item_ratios
from unskew.engine.memory import AnyArm, Cell, Progress, Sums, estimate, tilt
from unskew.engine.plan import Plan
from unskew.engine.tilts import Pull, has_tilt, settled
from unskew.estimators import Need, Target
from unskew.inference import tipping
from unskew.inference.intervals import Interval, normal, percentile
from unskew.inference.steps import corrected
from unskew.inference.tally import BINS, Tally
from unskew.inference.trust import trust
from unskew.inference.verdict import Outcome, decide, outcome, users_needed
from unskew.metrics import RankingMetric, Shape
from unskew.result import Estimate, Verdict, Weights

Floats = npt.NDArray[np.float64]

ALL_PAIRS = 12  # up to so many models every pair gets a tipping point, beyond only those with the leader


@dataclass(frozen=True, eq=False)
class Setting:
    """What the answer depends on besides the data.

    Args:
        models: their names.
        propensity: its canonical string.
        level: of intervals and verdicts.
        replicates: of the bootstrap; 0 for normal intervals.
        single_clicks: share of users with one seen relevant item.
        support_gap: share of held-out interactions on items that training never showed.
    """

    models: tuple[str, ...]
    propensity: str | None
    level: float
    replicates: int
    seed: int
    threads: int | None
    progress: Progress | None
    segment: str | None
    single_clicks: float
    support_gap: float | None


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of one segment, and how many bootstrap replicates had an empty divisor."""

    estimates: tuple[Estimate, ...]
    verdicts: tuple[Verdict, ...]
    weights: tuple[Weights, ...]
    sums: Sums
    lost_replicates: int


def answer(
    held: Held, plan: Plan, setting: Setting, *, keep: bool = False, redraw: Callable[[], list[Floats]] | None = None
) -> Answer:
    """Run both passes and put the rows together.

    Args:
        keep: keep the per-user columns.
        redraw: gives other replicates of every cell's estimates (refitted propensities), with the bias of the fit taken
            off. Differences, p and verdicts of what uses propensities are then those of the replicates, whose mean is
            the corrected estimate, as intervals are; values and tipping points keep their own.
    """
    sums = estimate(
        held,
        plan.arms,
        plan.cells,
        keep=keep,
        replicates=setting.replicates,
        seed=setting.seed,
        threads=setting.threads,
        progress=setting.progress,
    )
    pulls = _pulls(plan, sums)
    gammas = _tippings(held, plan, sums, pulls, setting) if pulls else {}
    redrawn = None if redraw is None else redraw()
    estimates: list[Estimate] = []
    verdicts: list[Verdict] = []
    lost = 0
    for place, cell in enumerate(plan.cells):
        weighted = Need.PROPENSITY in plan.arms[cell.arm].estimator.needs(plan.arms[cell.arm].target)
        moved = redrawn[place] if redrawn is not None and weighted else None
        drawn = _drawn(sums, cell) if moved is None else moved
        if drawn is not None:
            lost = max(lost, int(np.isnan(drawn).any(axis=1).sum()))
        estimates += _estimates(held, plan.arms[cell.arm], cell, sums, place, drawn, setting)
        verdicts += _verdicts(held, plan.arms[cell.arm], cell, sums, place, drawn, setting, gammas, moved is not None)
    weights = [_weights(arm, tally, setting) for arm, tally in zip(plan.arms, sums.tallies, strict=True)]
    for arm in plan.points:
        points, tally = item_ratios(held, arm)
        weights.append(_weights(arm, tally, setting))
        for t, values in enumerate(points):
            there = int(np.count_nonzero(np.diff(held.indptr)))
            rows = [(float(value), Interval(math.nan, math.nan, math.nan)) for value in values]
            estimates += _rows(held, arm, t, tally, there, rows, setting)
    return Answer(tuple(estimates), tuple(verdicts), tuple(weights), sums, lost)


def _drawn(sums: Sums, cell: Cell) -> Floats | None:
    """The models' estimates in every replicate."""
    return None if sums.replicates is None else cell.form.values(sums.replicates[:, cell.columns])


def _estimates(
    held: Held, arm: AnyArm, cell: Cell, sums: Sums, place: int, drawn: Floats | None, setting: Setting
) -> list[Estimate]:
    moments, tally = sums.moments[place], sums.tallies[cell.arm]
    errors = np.sqrt(np.maximum(np.diag(moments.covariance), 0.0))
    rows = []
    for j in range(len(setting.models)):
        value = float(moments.values[j])
        interval = normal(value, float(errors[j]), setting.level)
        if drawn is not None and moments.active > 1:
            interval = percentile(drawn[:, j], setting.level)
        rows.append((value, interval))
    return _rows(held, arm, cell.metric, tally, moments.active, rows, setting)


def _rows(
    held: Held,
    arm: AnyArm,
    metric: int,
    tally: Tally,
    users: int,
    found: Sequence[tuple[float, Interval]],
    setting: Setting,
) -> list[Estimate]:
    """One row per model, from its value and interval."""
    return [
        Estimate(
            model=model,
            metric=str(arm.metrics[metric]),
            estimator=str(arm.estimator),
            target=arm.target,
            propensity=setting.propensity if arm.estimator.needs(arm.target) & {Need.PROPENSITY} else None,
            segment=setting.segment,
            value=value,
            se=interval.se,
            low=interval.low,
            high=interval.high,
            ess=tally.ess if arm.estimator.weighs else math.nan,
            max_weight_share=tally.max_weight_share if arm.estimator.weighs else math.nan,
            clipped_share=tally.clipped_share,
            support_gap=setting.support_gap,
            users=users,
            interactions=len(held.value) if (arm.target.sums or arm.target is Target.PER_PAIR) else tally.pairs,
            promise=_promise(arm, metric),
        )
        for model, (value, interval) in zip(setting.models, found, strict=True)
    ]


def _promise(arm: AnyArm, metric: int) -> str:
    asked = arm.metrics[metric]
    if isinstance(asked, RankingMetric) and asked.shape is not Shape.ADDITIVE:
        return f"no promise: {asked.name} is not a sum over items"
    promise = arm.estimator.promise(arm.target)
    return f"of its square: {promise}" if asked.root else promise


def _verdicts(
    held: Held,
    arm: AnyArm,
    cell: Cell,
    sums: Sums,
    place: int,
    drawn: Floats | None,
    setting: Setting,
    gammas: dict[tuple[int, int, int], tuple[float, float | None]],
    moved: bool,
) -> list[Verdict]:
    """One row per pair of models; ``moved`` replicates lie around a corrected estimate, and so does the difference."""
    moments = sums.moments[place]
    pairs = list(combinations(range(len(setting.models)), 2))
    if not pairs:
        return []
    values = moments.values
    if moved and drawn is not None:
        values = corrected(drawn)
    differences = np.array([values[a] - values[b] for a, b in pairs])
    intervals = [
        _difference(float(d), moments.difference_error(a, b), drawn, a, b, setting.level)
        for d, (a, b) in zip(differences, pairs, strict=True)
    ]
    differ = np.array([moments.differ[a, b] for a, b in pairs])
    p, adjusted = decide(differences, np.array([i.se for i in intervals]), differ)
    doubt = _doubt(arm, sums.tallies[cell.arm], moments.active, setting)
    rows = []
    upwards = -1.0 if arm.metrics[cell.metric].lower_is_better else 1.0
    for j, (a, b) in enumerate(pairs):
        verdict = outcome(upwards * float(differences[j]), float(adjusted[j]), setting.level, moments.active)
        gamma, low = gammas.get((place, a, b), (None, None))
        needed = None
        if verdict is Outcome.UNDECIDED and differ[j]:
            needed = users_needed(float(differences[j]), intervals[j].se, moments.active, setting.level, len(pairs))
        rows.append(
            Verdict(
                metric=str(arm.metrics[cell.metric]),
                estimator=str(arm.estimator),
                target=arm.target,
                segment=setting.segment,
                a=setting.models[a],
                b=setting.models[b],
                difference=float(differences[j]),
                se=intervals[j].se,
                low=intervals[j].low,
                high=intervals[j].high,
                p=float(p[j]),
                p_adjusted=float(adjusted[j]),
                verdict=verdict,
                tipping=gamma,
                tipping_low=low,
                tipping_kind=None if gamma is None else _bent(arm, held),
                users_needed=needed,
                trust=doubt if differ[j] else _same(doubt),
            )
        )
    return rows


def _difference(value: float, se: float, drawn: Floats | None, a: int, b: int, level: float) -> Interval:
    if drawn is None or math.isnan(se):
        return normal(value, se, level)
    return percentile(drawn[:, a] - drawn[:, b], level)


def _doubt(arm: AnyArm, tally: Tally, users: int, setting: Setting) -> str:
    weighted = bool(arm.estimator.needs(arm.target) & {Need.PROPENSITY})
    inside_users = weighted and arm.inside_users
    return trust(
        tally if arm.estimator.weighs else None,
        users,
        setting.support_gap if weighted else None,
        setting.single_clicks if inside_users else None,
        "snips with one divisor for all" if arm.target is Target.PER_PAIR else "target pooled",
    )


def _same(doubt: str) -> str:
    return f"The two models score the same for every user. {doubt}".strip()


def _bent(arm: AnyArm, held: Held) -> str:
    return "ratio" if held.relative or arm.estimator.name == "naive" else "odds"


def _pulls(plan: Plan, sums: Sums) -> list[Pull]:
    """The pairs that get a tipping point: all of a few models, those with the leader of many."""
    pulls: list[Pull] = []
    start = 0
    for place, cell in enumerate(plan.cells):
        arm, moments = plan.arms[cell.arm], sums.moments[place]
        if not has_tilt(arm, cell.metric) or not np.isfinite(moments.values).all():
            continue
        best = np.argmin if arm.metrics[cell.metric].lower_is_better else np.argmax
        leader = int(best(moments.values))
        for a, b in combinations(range(moments.models), 2):
            lead = moments.values[a] - moments.values[b]
            if not moments.differ[a, b] or lead == 0.0 or (moments.models > ALL_PAIRS and leader not in (a, b)):
                continue
            pulls.append(Pull(arm, cell.metric, a, b, float(np.sign(lead)), arm.inside_users, start, place))
            start += pulls[-1].width
    return pulls


def _tippings(
    held: Held, plan: Plan, sums: Sums, pulls: Sequence[Pull], setting: Setting
) -> dict[tuple[int, int, int], tuple[float, float | None]]:
    """Γ* of each pair, and with the bootstrap the Γ* that holds at the level in replicates that have a divisor."""
    totals, drawn = tilt(
        held,
        pulls,
        replicates=setting.replicates,
        seed=setting.seed,
        threads=setting.threads,
        progress=setting.progress,
    )
    found = {}
    whole: dict[int, npt.NDArray[np.intp]] = {}  # replicates that have a divisor, by cell
    for pull in pulls:
        gamma, low = _gamma(totals, sums.totals, pull), None
        if drawn is not None and sums.replicates is not None:
            if pull.cell not in whole:
                values = plan.cells[pull.cell].form.values(sums.replicates[:, plan.cells[pull.cell].columns])
                whole[pull.cell] = np.flatnonzero(np.isfinite(values).all(axis=1))
            gammas = _gamma(drawn, sums.replicates, pull)[whole[pull.cell]]
            low = float(np.quantile(gammas, 1.0 - setting.level, method="lower"))
        found[(pull.cell, pull.a, pull.b)] = (float(gamma), low)
    return found


def _gamma(second: Floats, first: Floats, pull: Pull) -> Floats:
    """Γ* of a pair from the sums of both passes, (…, columns)."""
    sums = second[..., pull.start : pull.start + pull.width]
    if pull.grid:
        return tipping.on_grid(sums)
    return tipping.closed(sums, pull.sign, settled(pull, first))


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
