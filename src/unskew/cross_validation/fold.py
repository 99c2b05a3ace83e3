"""One fold: lists for the users that it judges, and every sum that verdicts over folds will need.

The walk is that of an evaluation (``evaluation/run.py``) up to its sums; nothing is judged here. What an evaluation
looks up once it knows which pairs of models are decided (where their lists differ) is summed for all pairs, since the
lists are gone when folds are put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from unskew.alignment.account import clicks_per_user
from unskew.alignment.align import Aligned
from unskew.alignment.input_facts import InputFacts
from unskew.alignment.inputs import FittedModels, Inputs, Share
from unskew.core.errors import RefusedError
from unskew.core.memory import require
from unskew.cross_validation.fold_logs import FoldLogs
from unskew.cross_validation.fold_sums import FoldSums, Key
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import Cell, EvaluationPlan
from unskew.engine.sums import Extent, Sums
from unskew.estimators import Target
from unskew.evaluation.conclude import account, setting_of
from unskew.evaluation.facts import Facts
from unskew.evaluation.planning import targets_for
from unskew.evaluation.read import ask_models, rules_of
from unskew.evaluation.request import Request
from unskew.evaluation.run import Settled, settle
from unskew.evaluation.warnings import warnings
from unskew.judging.answer import Answer
from unskew.judging.cell_comparisons import CellComparisons
from unskew.judging.measure import (
    Measured,
    clicks_limit,
    companion_plan,
    listed_worth,
    owes_to_clicks,
    weighs_seen_pairs,
)
from unskew.kernels.arrays import Floats, Ints64
from unskew.log.extremes import Extremes
from unskew.log.population import Catalogue
from unskew.metrics import RankingMetric
from unskew.propensity import FitInputs
from unskew.split import ChosenBy, Split

OF_USERS = (Target.PER_USER, Target.POOLED)  # targets to which users without held-out rows do not matter


@dataclass(frozen=True, eq=False)
class FoldTask:
    """What is asked of every fold.

    Args:
        request: as of an evaluation; its logs and models are those of the fold.
        side: what propensities and outcome models may be fitted on beside the logs.
        catalogue: all items there are, where they were named.
        column: the extremes of the whole log's column ``propensity``, so that all folds take it alike.
    """

    request: Request
    side: FitInputs
    catalogue: Catalogue | None = None
    column: Extremes | None = None

    def measure(self, split: Split, logs: FoldLogs, fitted: Mapping[str, Any]) -> FoldSums:
        """The sums of one fold; ``fitted`` are the models as it may know them."""
        by_users = split.chosen_by is ChosenBy.USERS
        share: Share = "users" if by_users else None
        request = replace(self.request, test=logs.test, train=logs.train, models=fitted, share=share)
        inputs = self._inputs(request, logs, fitted)
        settled = settle(request, inputs, _silent, self.column)
        _refuse_points(settled.plan)
        engine = MemoryEngine(settled.aligned.held, request.threads)
        setting = setting_of(settled.request, settled.aligned, engine, inputs.rules)
        plan = settled.plan
        beside = companion_plan(plan, len(fitted))
        both = EvaluationPlan((*plan.runs, *beside.runs), (*plan.cells, *beside.cells))
        remedy = "Ask for fewer metrics, estimators or models at once."
        require(16 * engine.users * both.width, f"one fold of {engine.users:,} users", remedy)
        sums = engine.first_pass(both, keep=True)
        weights = engine.weight_sums().expected if weighs_seen_pairs(both, setting) else None
        measured = Measured(engine, both, setting, sums, {}, {}, {}, weights=weights)
        facts = _facts(request, settled, replace(InputFacts.of(inputs), propensities=self.column), sums)
        return _sums_of(measured, plan, facts, settled.aligned, split, logs)

    def _inputs(self, request: Request, logs: FoldLogs, fitted: Mapping[str, Any]) -> Inputs:
        """What an evaluation reads; only the users of the test log have lists where nobody else matters."""
        rules = replace(rules_of(request, logs.test, logs.train), in_folds=True)
        targets = {target for each in targets_for(request, rules).values() for target in each}
        users = logs.judged if rules.by_users or targets <= set(OF_USERS) else logs.train.users
        seen = logs.seen_by(users) if rules.unseen else None
        lists, predictions = ask_models(request, fitted.items(), users, seen, _silent)
        names, asked = tuple(fitted), FittedModels.of(fitted, seen)
        return Inputs(
            logs.test,
            logs.train,
            None,
            self.catalogue,
            users,
            names,
            lists,
            predictions,
            self.side,
            rules,
            fitted=asked,
        )


def _silent(stage: str, done: int, total: int) -> None:
    """Progress is told by folds."""


def _refuse_points(plan: EvaluationPlan) -> None:
    """Estimates whose error is not told by columns of users."""
    if plan.points:
        raise RefusedError(
            f"'{plan.points[0].estimator}' takes ratios per item, which no user has: its error over folds that share "
            "users is not known.\nUse it in evaluate, on one fold, or ask for other estimators: estimators=['naive', "
            "'exposure_path'].",
            code="not-supported",
            estimator=plan.points[0].estimator,
        )


def _facts(asked: Request, settled: Settled, facts: InputFacts, sums: Sums) -> Facts:
    answer = Answer((), (), (), (), sums, 0)
    request, propensity, aligned, plan, refusals, outcome, _ = settled
    return Facts(asked, request, facts, propensity, aligned, plan, refusals, outcome, (answer,), in_fold=True)


def _sums_of(
    measured: Measured, plan: EvaluationPlan, facts: Facts, aligned: Aligned, split: Split, logs: FoldLogs
) -> FoldSums:
    both, sums, setting, engine = measured.plan, measured.sums, measured.setting, measured.engine
    held, users = aligned.held, aligned.users
    x = np.concatenate(sums.x)
    there = np.flatnonzero((x != 0.0).any(axis=1))
    codes = logs.judged_codes if users is logs.judged else np.arange(len(users))
    clicks = [_clicks(measured, both.runs[cell.run], cell) for cell in both.cells]
    metrics, worth = listed_worth(engine, both)
    models = len(setting.models)
    unsupported = np.zeros((len(metrics), models)) if worth is None else worth.unsupported
    counts = clicks_per_user(held.click_counts)
    return FoldSums(
        label=split.label,
        window="" if split.window is None else split.window.text,
        judged=int(np.count_nonzero(np.diff(held.indptr))),
        train_rows=split.train_count,
        test_rows=split.test_count,
        left_out=dict(split.left_out),
        kept=[[str(estimator), str(target), [str(m) for m in asked]] for estimator, target, asked in plan.asked],
        depth=max(run.depth for run in both.runs),
        cells=[list(key_of(both, cell)) for cell in both.cells],
        columns=[cell.columns.tolist() for cell in both.cells],
        user=codes[there],
        x=x[there],
        runs=[[str(run.estimator), str(run.target)] for run in both.runs],
        tally=np.array([(t.total, t.squares, t.largest, t.pairs, t.raised, t.idle) for t in sums.tallies]),
        bins=np.array([t.bins for t in sums.tallies]),
        carried=np.array([sums.carried[cell.run].sums[cell.metric] for cell in both.cells]),
        clicks=np.array([(found.users, found.eligible) for found in clicks], dtype=np.int64),
        click_bias=np.array([found.mean[0] for found in clicks]),
        click_error=np.array([found.covariance[0] for found in clicks]),
        heavy_bias=np.array([found.heavy[0] for found in clicks]),
        heavy_error=np.array([found.heavy_covariance[0] for found in clicks]),
        worths=[str(metric) for metric in metrics],
        unsupported=unsupported,
        differing=np.array([_differing(measured, place) for place in range(len(both.cells))]),
        listed=[CellComparisons(measured, n, 0.5, None, False).by_items for n in range(len(both.cells))],
        **_items(measured, plan, logs, facts),
        extent=_extent(sums.extent),
        filled=sums.places.filled,
        single=counts["1"],
        clicking=sum(counts.values()),
        support_gap=np.nan if setting.support_gap is None else setting.support_gap,
        told=_told(measured, facts),
    )


def key_of(plan: EvaluationPlan, cell: Cell) -> Key:
    """The canonical strings of a cell."""
    run = plan.runs[cell.run]
    return Key(str(run.metrics[cell.metric]), str(run.estimator), str(run.target))


def _extent(extent: Extent) -> Floats:
    return np.array([getattr(extent, name) for name in Extent.__dataclass_fields__], dtype=np.float64)


def _clicks(measured: Measured, run: EstimatorRun, cell: Cell) -> FewClicks:
    """What a cell owes to few clicks; of minus one user where it owes nothing."""
    models = len(measured.setting.models)
    if not (models > 1 and owes_to_clicks(run)):
        mean, squares = np.zeros((1, models)), np.zeros((1, models, models))
        return FewClicks(mean, squares, mean, squares, -1, -1)
    return measured.engine.few_clicks(replace(run, metrics=(run.metrics[cell.metric],)), clicks_limit(measured.engine))


def _differing(measured: Measured, place: int) -> Floats:
    """Where the lists of every pair of models differ, as a cell weighs it."""
    models = len(measured.setting.models)
    compared = CellComparisons(measured, place, 0.5, None, False)
    out = np.full((models * (models - 1) // 2, 2, 4), np.nan)
    for n, (a, b) in enumerate(combinations(range(models), 2) if compared.summed else ()):
        if (found := measured.differing(place, a, b)) is not None:
            out[n] = found.sums * (measured.engine.users / max(found.users, 1))
    return out


def _items(measured: Measured, plan: EvaluationPlan, logs: FoldLogs, facts: Facts) -> dict[str, Any]:
    """What every item brings to cells whose weights come from training counts, before it is weighed."""
    runs = [run for run in plan.runs if run.estimator.counted_error is not None]
    counts = measured.setting.seen_counts
    none = {"item": np.empty(0, dtype=np.int64), "seen": np.empty(0), "counted": [], "brought": np.empty((0, 0, 0))}
    if not runs or counts is None:
        return none
    metrics = list(dict.fromkeys(m for run in runs for m in run.metrics if isinstance(m, RankingMetric)))
    depth = max(run.depth for run in plan.runs)
    sums = measured.engine.item_worths(np.stack([metric.table(depth) for metric in metrics], axis=1))
    there = np.flatnonzero(sums.weights > 0.0)
    weights = np.broadcast_to(sums.weights[there], (len(metrics), 1, len(there)))
    return {
        "item": _own_codes(facts, logs)[there],
        "seen": counts[there],
        "counted": [str(metric) for metric in metrics],
        "brought": np.concatenate([sums.costs[:, :, there], weights], axis=1),
    }


def _own_codes(facts: Facts, logs: FoldLogs) -> Ints64:
    """Of every item of the evaluation its code in the fold; −1 where it is in no log."""
    return facts.aligned.items.into(logs.test.items).astype(np.int64)


def _told(measured: Measured, facts: Facts) -> dict[str, Any]:
    setting = measured.setting
    said = account(facts)
    return {
        "propensity": setting.propensity,
        "tested": setting.tested,
        "wrong_column": setting.wrong_column,
        "assumption": setting.assumption,
        "split": setting.split,
        "places": setting.places,
        "shortage": setting.shortage,
        "relative": measured.engine.relative,
        "refused": [vars(refusal) | {"instead": list(refusal.instead)} for refusal in facts.refusals],
        "dropped": said["test"]["dropped"],
        "targets": said["settings"]["targets"],
        "feedback": said["settings"]["feedback"],
        "candidates": said["settings"]["candidates"],
        "clicks_per_user": said["clicks_per_user"],
        "warnings": list(warnings(facts)),
    }
