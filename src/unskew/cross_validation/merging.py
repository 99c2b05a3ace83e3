"""Folds put together: from what was kept of each to what an evaluation judges.

The cells of all folds become cells of one table, pooled or averaged over folds (``averaging.py``), with everything that
verdicts must survive (MATHS §13):

    columns of users                  added up, or as scores
    weights that carry a value        added up, times what a fold counts for
    few clicks, single clicks         by users, or averaged over folds
    few users in a fold               what leaving a user out does to an average of ratios
    places that were never shown      by users judged, or averaged over folds
    where two lists differ            added up, times what a fold counts for
    chance of training counts         with what folds have in common (``count_errors.py``)
    cells that must consent           put together in the same way

Tipping points need the rows themselves, and are not computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from typing import Any

import numpy as np

from unskew import estimators, metrics
from unskew.cross_validation.averaging import Average, FoldColumns, MacroColumns
from unskew.cross_validation.count_errors import spread_over_folds
from unskew.cross_validation.fold import key_of
from unskew.cross_validation.fold_sums import FoldSums, Key
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.places import ListPlaces
from unskew.engine.plan import Cell, EvaluationPlan, Kept, make_plan
from unskew.engine.sums import Extent, Sums
from unskew.engine.support import DifferingWorth
from unskew.estimators import Estimator, Target
from unskew.estimators.traits import SUMMARY
from unskew.inference.bootstrap import replicate_sums
from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm
from unskew.inference.tally import Carried, Tally
from unskew.judging.count_error import CountError
from unskew.judging.measure import Measured, Setting, companion_plan
from unskew.kernels.arrays import Floats, Hashes, Ints64
from unskew.metrics import Metric

BLOCK = 4096  # users whose cross products are centred together


@dataclass(frozen=True)
class FoldUsers:
    """All that is left of an engine when folds are put together: how many users there are."""

    users: int
    relative: bool


@dataclass(frozen=True, eq=False)
class OverFolds(Measured):
    """A table over folds.

    Args:
        differences: the sums of ``DifferingWorth`` of every pair of models, by cell; NaN where P is not known at all.
        known_places: the cells for which P of all listed places is known in every fold.
    """

    differences: Mapping[Key, Floats] = field(default_factory=dict)
    known_places: frozenset[Key] = frozenset()

    def knows_items(self, run: EstimatorRun) -> bool:
        """Whether P of all listed places is known in every fold."""
        return all(Key(str(m), str(run.estimator), str(run.target)) in self.known_places for m in run.metrics)

    def differing(self, place: int, a: int, b: int) -> DifferingWorth | None:
        """Where the lists of two models differ, over all folds."""
        sums = self.differences[key_of(self.plan, self.plan.cells[place])]
        n = list(combinations(range(len(self.setting.models)), 2)).index((min(a, b), max(a, b)))
        if not np.isfinite(sums[n]).all():
            return None
        found = sums[n] if a < b else sums[n][::-1]
        return DifferingWorth(found, self.engine.users)


@dataclass(frozen=True, eq=False)
class Folds:
    """Some folds of one log.

    Args:
        sums: what was kept of each, in their order.
        models: their names.
        asked: the estimators that were asked for.
        hashes: of all users of the log, for the bootstrap.
        level, replicates, seed: of intervals.
    """

    sums: Sequence[FoldSums]
    models: tuple[str, ...]
    asked: tuple[Estimator, ...]
    hashes: Hashes
    level: float
    replicates: int = 0
    seed: int = 0

    @cached_property
    def plan(self) -> EvaluationPlan:
        """The cells that all folds have, and where their columns would stand."""
        known = {str(estimator): estimator for estimator in self.asked}
        common = [{(e, t, m) for e, t, ms in fold.kept for m in ms} for fold in self.sums]
        everywhere = set.intersection(*common)
        kept: list[Kept] = []
        for estimator, target, asked in self.sums[0].kept:
            good = tuple(metrics.make(m) for m in asked if (estimator, target, m) in everywhere)
            if good:
                kept.append((known.get(estimator) or estimators.make(estimator), Target(target), good))
        return make_plan(kept, SUMMARY, len(self.models), max(fold.depth for fold in self.sums), probe=True)

    @cached_property
    def users(self) -> Ints64:
        """The users of all folds, by their codes in the whole log."""
        return np.unique(np.concatenate([fold.user for fold in self.sums]))

    @cached_property
    def places(self) -> list[Ints64]:
        """Of every fold, where its users stand among all of them."""
        return [np.searchsorted(self.users, fold.user) for fold in self.sums]

    def cell(self, key: Key, form: RatioForm) -> FoldColumns:
        """One cell in every fold."""
        columns = [fold.columns_of(key) for fold in self.sums]
        return FoldColumns(form, self.places, columns, len(self.users))

    def measured(self, way: Average) -> OverFolds:
        """The table over all folds; the average of one fold is that fold."""
        way = Average.POOLED if len(self.sums) == 1 else way
        plan, models = self.plan, len(self.models)
        extra = companion_plan(plan, models)
        beside = EvaluationPlan(extra.runs, tuple(replace(cell, run=cell.run - len(plan.runs)) for cell in extra.cells))
        companion = None
        if beside.runs:
            companion = self._table(beside, way, None, shown=False)
            companion = replace(companion, companion=companion)
        return self._table(plan, way, companion, shown=True)

    def _table(self, plan: EvaluationPlan, way: Average, companion: Measured | None, *, shown: bool) -> OverFolds:
        made = [_MergedCell.of(self, plan, cell, way, shown=shown) for cell in plan.cells]
        if way is Average.MACRO:
            width = len(self.models) + 1
            cells = [
                replace(cell, columns=np.arange(n * width, (n + 1) * width), form=RatioForm(len(self.models)))
                for n, cell in enumerate(plan.cells)
            ]
            plan = replace(plan, cells=tuple(cells))
        columns = max(int(cell.columns.max()) for cell in plan.cells) + 1
        drawn = np.zeros((self.replicates, columns)) if self.replicates else None
        totals = np.zeros(columns)
        for cell, one in zip(plan.cells, made, strict=True):
            totals[cell.columns] = one.totals
            if drawn is not None and one.replicates is not None:
                drawn[:, cell.columns] = one.replicates
        first = {cell.run: one.scales for cell, one in reversed(list(zip(plan.cells, made, strict=True)))}
        sums = Sums(
            moments=tuple(one.moments for one in made),
            tallies=tuple(self._tally(run, first[n]) for n, run in enumerate(plan.runs)),
            carried=tuple(self._carried(run, first[n]) for n, run in enumerate(plan.runs)),
            totals=totals,
            replicates=drawn,
            extent=reduce(Extent.merge, (_extent(fold.extent) for fold in self.sums)),
            places=reduce(ListPlaces.merge, (ListPlaces(fold.judged, fold.filled) for fold in self.sums)),
        )
        engine: Any = FoldUsers(len(self.users), all(fold.told["relative"] for fold in self.sums))
        return OverFolds(
            engine=engine,
            plan=plan,
            setting=self._setting(way),
            sums=sums,
            few_clicks=self._few_clicks(plan, way),
            unsupported=self._unsupported(plan, way),
            counts={n: one.counts for n, one in enumerate(made) if one.counts is not None},
            companion=companion,
            tips=False,
            leans={n: one.lean for n, one in enumerate(made) if one.lean is not None},
            differences={key_of(plan, cell): one.differences for cell, one in zip(plan.cells, made, strict=True)},
            known_places=frozenset.intersection(*(frozenset(fold.known_places) for fold in self.sums)),
        )

    def weights(self, way: Average, sizes: Floats) -> Floats:
        """How much each fold counts in an average: by its size, or all alike; folds without any do not."""
        if way is Average.MACRO:
            sizes = (sizes > 0.0).astype(np.float64)
        return np.asarray(sizes / max(float(sizes.sum()), 1e-300))

    def _setting(self, way: Average) -> Setting:
        folds = self.sums
        judged = self.weights(way, np.array([fold.judged for fold in folds], dtype=np.float64))
        clicking = np.array([fold.clicking for fold in folds], dtype=np.float64)
        single = np.array([fold.single for fold in folds]) / np.maximum(clicking, 1.0)
        rows = self.weights(way, np.array([fold.test_rows for fold in folds], dtype=np.float64))
        gaps = np.array([fold.support_gap for fold in folds])
        told = [fold.told for fold in folds]
        return Setting(
            models=self.models,
            propensity=told[0]["propensity"],
            tested=all(said["tested"] for said in told),
            wrong_column=next((said["wrong_column"] for said in told if said["wrong_column"]), ""),
            assumption=next((said["assumption"] for said in told if said["assumption"]), ""),
            split=next((said["split"] for said in told if said["split"]), ""),
            places=any(said["places"] for said in told),
            level=self.level,
            replicates=self.replicates,
            seed=self.seed,
            segment=None,
            single_clicks=float(self.weights(way, clicking) @ single),
            support_gap=None if np.isnan(gaps).any() else float(rows @ gaps),
            shortage=float(judged @ np.array([said["shortage"] for said in told])),
        )

    def _tally(self, run: EstimatorRun, scales: Floats) -> Tally:
        """The weights of a run, each times what its fold counts for."""
        name, parts = [str(run.estimator), str(run.target)], []
        for fold, scale in zip(self.sums, scales.tolist(), strict=True):
            place = fold.runs.index(name)
            total, squares, largest, pairs, raised, idle = fold.tally[place].tolist()
            sums = scale * total, scale**2 * squares, scale * largest
            parts.append(Tally(*sums, int(pairs), int(raised), int(idle), fold.bins[place]))
        return reduce(Tally.merge, parts)

    def _carried(self, run: EstimatorRun, scales: Floats) -> Carried:
        """The pairs that carry a run's values, each times what its fold counts for."""
        keys = [Key(str(metric), str(run.estimator), str(run.target)) for metric in run.metrics]
        parts = []
        for fold, scale in zip(self.sums, scales.tolist(), strict=True):
            sums = np.array([fold.carried[fold.place(key)] for key in keys])
            parts.append(Carried(sums * np.array([scale, scale**2, scale, 1.0])))
        return reduce(Carried.merge, parts)

    def _few_clicks(self, plan: EvaluationPlan, way: Average) -> dict[int, FewClicks]:
        """What few clicks do to every run that takes ratios inside users."""
        found = {}
        for n, run in enumerate(plan.runs):
            keys = [Key(str(metric), str(run.estimator), str(run.target)) for metric in run.metrics]
            places = [[fold.place(key) for key in keys] for fold in self.sums]
            if any(fold.clicks[own[0], 0] < 0 for fold, own in zip(self.sums, places, strict=True)):
                continue
            pairs = list(zip(self.sums, places, strict=True))
            looked, every = (np.array([fold.clicks[own[0], c] for fold, own in pairs]) for c in (0, 1))
            weights = self.weights(way, every.astype(np.float64))
            both = list(zip(weights, pairs, strict=True))
            mean = sum(w * fold.click_bias[own] for w, (fold, own) in both)
            error = sum(w**2 * fold.click_error[own] for w, (fold, own) in both)
            heavy = sum(w * fold.heavy_bias[own] for w, (fold, own) in both)
            heavy_error = sum(w**2 * fold.heavy_error[own] for w, (fold, own) in both)
            users = max(int(looked.sum()), 1)
            found[n] = FewClicks.of_means((mean, error), (heavy, heavy_error), users, max(int(every.sum()), 1))
        return found

    def _unsupported(self, plan: EvaluationPlan, way: Average) -> dict[Metric, Floats]:
        weights = self.weights(way, np.array([fold.judged for fold in self.sums], dtype=np.float64))
        found: dict[Metric, Floats] = {}
        for metric in dict.fromkeys(m for run in plan.runs for m in run.metrics):
            if str(metric) in self.sums[0].worths:
                shares = np.array([fold.unsupported[fold.worths.index(str(metric))] for fold in self.sums])
                if shares.any():
                    found[metric] = weights @ shares
        return found


@dataclass(frozen=True, eq=False)
class _MergedCell:
    """One cell over all folds; ``scales`` says how much a unit of each fold's columns counts."""

    moments: Moments
    scales: Floats
    totals: Floats
    differences: Floats
    replicates: Floats | None
    counts: CountError | None
    lean: Floats | None

    @classmethod
    def of(cls, folds: Folds, plan: EvaluationPlan, cell: Cell, way: Average, *, shown: bool) -> _MergedCell:
        key, estimator = key_of(plan, cell), plan.runs[cell.run].estimator
        columns = folds.cell(key, cell.form)
        form, scales, around, errors = cell.form, np.ones(len(folds.sums)), None, None
        if way is Average.MACRO:
            macro = MacroColumns.of(columns)
            x, form, scales, errors = macro.columns, RatioForm(cell.form.models), macro.scales, macro
            around = macro.errors.T @ macro.errors
        else:
            x = columns.pooled()
        moments = replace(_moments(x, form), around=around)
        counts = _count_error(folds, key, estimator, columns, scales, errors) if shown else None
        if counts is not None:
            moments = replace(moments, more=counts.spread)
            if errors is not None and around is not None:
                moments = replace(moments, around=around + counts.around)
        places = [fold.place(key) for fold in folds.sums]
        times = [np.array([s, s**2, s, s**3]) for s in scales.tolist()]
        differences = sum(t * fold.differing[p] for t, fold, p in zip(times, folds.sums, places, strict=True))
        drawn = _replicates(folds, columns, way) if folds.replicates else None
        plain = None if counts is None else CountError(counts.spread, counts.shifts)
        lean = -2.0 * columns.bias() if way is Average.MACRO else None
        return cls(moments, scales, x.sum(axis=0), np.asarray(differences), drawn, plain, lean)


def _moments(x: Floats, form: RatioForm) -> Moments:
    columns = np.arange(x.shape[1])
    blocks = (Moments.of(x[low : low + BLOCK], columns, form) for low in range(0, max(len(x), 1), BLOCK))
    return reduce(Moments.merge, blocks)


def _replicates(folds: Folds, cell: FoldColumns, way: Average) -> Floats:
    """Bootstrap column sums; of averages over folds, in which every ratio is taken anew, the values and a 1."""
    hashes, how = folds.hashes[folds.users], (folds.seed, folds.replicates)
    if way is Average.POOLED:
        return replicate_sums(cell.pooled(), hashes, *how)
    drawn = [
        cell.form.values(replicate_sums(np.ascontiguousarray(x), hashes[user], *how))
        for user, x in zip(cell.user, cell.x, strict=True)
    ]
    known = [values for values, there in zip(drawn, cell.there, strict=True) if there]
    return np.column_stack([np.mean(known, axis=0), np.ones(folds.replicates)])


@dataclass(frozen=True, eq=False)
class _FoldCountError(CountError):
    """What the chance of counts does to columns, and to the errors of averages over folds."""

    around: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def _count_error(
    folds: Folds, key: Key, estimator: Estimator, cell: FoldColumns, scales: Floats, macro: MacroColumns | None
) -> _FoldCountError | None:
    """What the chance of training counts does to a cell whose weights come from them."""
    error = estimator.counted_error
    if error is None:
        return None
    items, seen, totals, heavier = [], [], [], []
    for fold in folds.sums:
        if key.metric not in fold.counted:
            return None
        propensity = estimator.item_propensity(fold.seen)
        assert propensity is not None
        items.append(fold.item)
        seen.append(fold.seen)
        totals.append(fold.brought[fold.counted.index(key.metric)] / propensity)
        heavier.append(totals[-1] @ error(fold.seen)[1])

    def variance(counts: Floats) -> Floats:
        return error(counts)[0]

    form = cell.form
    plain = [each.sum(axis=1) for each in totals]
    spread = spread_over_folds(items, seen, [s * t for s, t in zip(scales, totals, strict=True)], variance)
    if macro is None:
        shifts = np.nan_to_num(form.values(np.sum(heavier, axis=0))) - np.nan_to_num(form.values(np.sum(plain, axis=0)))
        return _FoldCountError(spread, shifts)
    there = np.flatnonzero(cell.there).tolist()
    moved = [np.nan_to_num(form.values(heavier[f])) - np.nan_to_num(form.values(plain[f])) for f in there]
    linear = [form.gradients(cell.sums[f]) @ totals[f] / len(there) for f in there]
    around = spread_over_folds([items[f] for f in there], [seen[f] for f in there], linear, variance)
    return _FoldCountError(spread, np.mean(moved, axis=0), around)


def _extent(numbers: Floats) -> Extent:
    rows, users, *reach = numbers.tolist()
    return Extent(int(rows), int(users), *reach)
