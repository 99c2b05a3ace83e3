"""Fit every model on every fold, and say which is better over all of them.

log → folds → per fold: fit or update, lists, propensities, sums (kept) → macro and pooled → verdicts
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from unskew import models as recommenders
from unskew.alignment.sources import Names, as_log, given_inputs, read_side
from unskew.alignment.vocabulary import training_gains
from unskew.core.bounds import THREADS, shown
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.cross_validation.answering import answered
from unskew.cross_validation.fold import FoldTask
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.result import CrossValidation
from unskew.cross_validation.working import worked_off
from unskew.estimators import Estimator
from unskew.evaluation.read import Stage, rules_of
from unskew.evaluation.request import Request
from unskew.evaluation.run import reporter
from unskew.evaluation.sampled import marked
from unskew.log import Feedback, Log
from unskew.log.extremes import Extremes
from unskew.log.log import Duplicates, Invalid
from unskew.log.population import read_catalogue
from unskew.log.relevance import told_feedback
from unskew.metrics import Metric
from unskew.outcome import Outcome
from unskew.propensity import Propensity
from unskew.split import Skipped, Splits, Splitter, make_splits


def cross_validate(
    log: Any,
    models: Mapping[str, Any] | Sequence[Any],
    *,
    split: str | Splitter | Splits,
    metrics: Sequence[str | Metric] = ("recall@10",),
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | Propensity | None = None,
    outcome: str | Outcome | None = None,
    in_sample: bool = False,
    target: str | Sequence[str] | None = None,
    feedback: Feedback | str | None = None,
    relevant: str | None = None,
    items: Any = None,
    mcar: Any = None,
    user_features: Any = None,
    item_features: Any = None,
    candidates: Literal["unseen", "all"] | None = None,
    columns: Mapping[str, Any] | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    level: float = 0.95,
    interval: Literal["normal", "bootstrap"] = "normal",
    replicates: int = 1000,
    seed: int = 0,
    refused: Literal["error", "skip"] = "error",
    store: str | Path | None = None,
    workers: int | None = None,
    progress: Stage | None = None,
) -> CrossValidation:
    """Fit models fold by fold, evaluate each fold, and say which model is better over all of them.

    Args:
        log: all interactions: a ``Log``, a path, or any dataframe; with times where the split goes by time.
        models: what is fitted on every fold: canonical strings such as ``item_knn(neighbours=50)``, a list of them or
            by name, or objects with ``fit(log)`` and ``recommend(users, k, seen=…)``. They are copied, and stay as they
            are. ``Updatable`` models are updated from fold to fold where a fold only adds training rows.
        split: a canonical string such as ``sliding_window(width=1w, folds=10)`` or ``k_fold(folds=5)``, or the
            splits themselves.
        metrics, estimators, propensity, outcome, in_sample, target, feedback, relevant, items, mcar, user_features,
        item_features, candidates, columns, invalid, duplicates, level, interval, replicates, seed, refused: as in
            ``evaluate``. Propensities are counted on each fold's training rows.
        store: a folder in which finished folds are kept, and found again by their content.
        workers: how many folds are worked on at once; by default as many as there are cores, and fewer where memory
            is short. The numbers do not depend on it.
        progress: called with (stage, done, total).
    """
    asked = {name: value for name, value in locals().items() if name not in ("log", "models", "split")}
    return judge_folds(log, models, split=split, **asked).result()


@dataclass(frozen=True, eq=False)
class JudgedFolds:
    """All folds, each judged by itself: what a result over folds is made of.

    Args:
        log: the whole log.
        splits: how it was divided.
        folds: the columns of users and the sums of every fold.
        skipped: folds of which nothing was left to judge, beside those that the split left out.
    """

    request: Request
    log: Log
    splits: Splits
    folds: Folds
    skipped: tuple[Skipped, ...]

    def result(self) -> CrossValidation:
        """Both averages, with verdicts."""
        skipped = (*self.splits.skipped, *self.skipped)
        return answered(self.request, self.log, self.splits.splitter, self.folds, skipped, self.splits.notes)


def judge_folds(
    log: Any,
    models: Mapping[str, Any] | Sequence[Any],
    *,
    split: str | Splitter | Splits,
    items: Any = None,
    store: str | Path | None = None,
    workers: int | None = None,
    progress: Stage | None = None,
    **asked: Any,
) -> JudgedFolds:
    """Fit and judge every model on every fold, as ``cross_validate`` does, which takes the same arguments."""
    say = reporter(progress)
    if workers is not None:
        THREADS.of(workers, "workers")
    others = {name: asked.get(name) for name in ("mcar", "user_features", "item_features")}
    asked["columns"] = Names(asked.get("columns"), given_inputs(log=log, items=items, **others))
    request = Request.of(log, _unfitted(models), train=log, threads=1, **asked)
    say("reading the log", 0, 1)
    whole = _read(request)
    told_feedback(whole, request.relevant)  # refused here, and not by the first fold
    say("splitting", 0, 1)
    splits = _splits(whole, split)
    task = _task(request, whole, items)
    sums, skipped = worked_off(task, splits, store, workers or os.cpu_count() or 1, say)
    say("putting folds together", len(splits), len(splits))
    how = request.level, request.drawn, request.seed
    folds = Folds(sums, tuple(request.models), request.estimators, whole.users.hashes, *how)
    return JudgedFolds(request, whole, splits, folds, tuple(skipped))


def _unfitted(models: Any) -> dict[str, Any]:
    """The models by name; strings are parsed, and name themselves."""
    if isinstance(models, str) or not isinstance(models, Mapping | Sequence):
        raise InputError(
            f"models are a list of canonical strings, ['most_popular', 'item_knn(neighbours=50)'], or a mapping of "
            f"names to models, not {shown(models)}.",
            code="wrong-type",
            option="models",
        )
    named = models.items() if isinstance(models, Mapping) else ((str(model), model) for model in models)
    found: dict[str, Any] = {}
    for name, given in named:
        model = recommenders.make(given) if isinstance(given, str) else given
        if not (hasattr(model, "fit") and hasattr(model, "recommend")):
            raise InputError(
                f"model '{plain(name)}': {shown(given)} has no fit(log) and recommend(users, k, seen=…). Every fold "
                "fits its models anew: lists that were made in advance have seen the future of most folds.",
                code="not-a-model",
                model=name,
            )
        if name in found:
            raise InputError(
                f"two models are called '{plain(name)}'. Give each a name of its own.", code="repeated-name", model=name
            )
        found[name] = model
    return found


def _read(request: Request) -> Log:
    """The whole log, with the columns that estimators make strata of."""
    names = request.columns
    return marked(
        as_log(request.test, name="log", columns=names.of_test, keep=request.strata_columns(), **request.reading)
    )


def _splits(log: Log, split: str | Splitter | Splits) -> Splits:
    found = split if isinstance(split, Splits) else make_splits(log, split)
    if found.log is not log:
        raise InputError(
            "split: these splits are of another log. Give the log that was split, or the split's string.",
            code="other-log",
            option="split",
        )
    labels = [fold.label for fold in found]
    if len(set(labels)) == len(labels):
        return found
    numbered = (replace(fold, label=f"{n + 1}. {fold.label}".strip()) for n, fold in enumerate(found))
    return replace(found, folds=tuple(numbered))


def _task(request: Request, log: Log, items: Any) -> FoldTask:
    """What is asked of every fold, with everything read that all of them share."""
    names = request.columns
    side = read_side(request.mcar, request.user_features, request.item_features, names, request.reading)
    if side.mcar is not None:
        side = replace(side, mcar=replace(side.mcar, gain=training_gains(side.mcar, rules_of(request, log, log))))
    catalogue = None
    if items is not None:
        catalogue = read_catalogue(items, columns=names.of_items, invalid=request.invalid)
    return FoldTask(request, side, catalogue, Extremes.of(log.propensity))
