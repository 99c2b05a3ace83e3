"""Folds worked off side by side, each once: what is finished is kept, and found again by its content.

Every worker takes the next fold that nobody has taken, so that it meets folds in their order and can update its models
from one to the next. Results are put in the order of the folds; how many workers there are changes nothing. Threads
will do: fits, lists and sums run without the interpreter lock.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unskew.alignment.account import NothingLeftError
from unskew.core.errors import InputError, RefusedError, UnskewError
from unskew.core.memory import available, require
from unskew.core.notice import Notice
from unskew.core.store import Store
from unskew.core.threads import Threads
from unskew.cross_validation.digests import VERSION, asked_of, fold_key
from unskew.cross_validation.fitting import Fitter
from unskew.cross_validation.fold import FoldTask
from unskew.cross_validation.fold_logs import codes_of, fold_logs
from unskew.cross_validation.fold_sums import FoldSums
from unskew.evaluation.read import Stage
from unskew.models import Model
from unskew.split import Skipped, Split, Splits

Found = FoldSums | Skipped
PER_ROW = 120  # bytes: both parts of a fold, and what is sorted and coded of them


class Folder:
    """Works off single folds.

    Args:
        store: where finished folds are kept, if anywhere.
    """

    def __init__(self, task: FoldTask, store: str | Path | None) -> None:
        self._task = task
        self._store = None if store is None else Store(store, VERSION)
        self._asked = None if store is None else asked_of(task)

    def worker(self) -> Fitter:
        """Models of one's own, for somebody who works off folds in their order."""
        return Fitter(self._task.request.models, self._task.request.relevant)

    def fold(self, split: Split, fitter: Fitter) -> Found:
        """One fold, found again or computed."""
        train, test = split.train, split.test
        codes = codes_of(train, test)
        logs = fold_logs(train, test, codes)

        def make() -> dict[str, Any]:
            try:
                return self._task.measure(split, logs, fitter.fitted(split, logs)).record()
            except NothingLeftError:
                return {"skipped": "no relevant interaction is left to judge"}
            except UnskewError as error:
                kind = RefusedError if isinstance(error, RefusedError) else InputError
                raise kind(f"fold {split.label}: {error}", code=error.code, **error.fields) from error

        if self._store is None or self._asked is None:
            record = make()
        else:
            record = self._store.once(fold_key(self._asked, split, logs), make)
        if "skipped" in record:
            return Skipped(split.label, Notice(record["skipped"], code="nothing-to-judge"), 0, split.test_count)
        return FoldSums.of_record(record).located(*codes)


def worked_off(
    task: FoldTask, splits: Splits, store: str | Path | None, workers: int, say: Stage
) -> tuple[Sequence[FoldSums], list[Skipped]]:
    """The sums of all folds in their order, and folds of which nothing was left to judge."""
    count = _side_by_side(task, splits, workers)
    if count == 1:  # all cores for the one fold
        task = replace(task, request=replace(task.request, threads=None))
    folds, folder = list(splits), Folder(task, store)
    found: dict[int, Found] = {}
    turn, lock, over = iter(range(len(folds))), threading.Lock(), threading.Event()
    say("folds", 0, len(folds))

    def work() -> None:
        fitter = folder.worker()
        while not over.is_set():
            with lock:
                place = next(turn, None)
            if place is None:
                return
            try:
                fold = folder.fold(folds[place], fitter)
            except BaseException:
                over.set()
                raise
            with lock:
                found[place] = fold
                say(f"folds, {folds[place].label}", len(found), len(folds))

    with Threads(count, alone=count > 1) as pool:
        for worker in [pool.submit(work) for _ in range(count)]:
            worker.result()
    kept = [each for _, each in sorted(found.items()) if isinstance(each, FoldSums)]
    lost = [each for _, each in sorted(found.items()) if isinstance(each, Skipped)]
    if not kept:
        raise InputError(
            f"{splits.log.account.source}: no fold has anything to judge: {lost[0].reason}.", code="nothing-to-judge"
        )
    return kept, lost


def _side_by_side(task: FoldTask, splits: Splits, workers: int) -> int:
    """How many folds fit into memory at once, at most as many as are asked for."""
    models = task.request.models.values()
    fits = [model.footprint(splits.log) for model in models if isinstance(model, Model)]
    # models that are updated stay, the others come one after the other
    size = sum(fits) + PER_ROW * len(splits.log)
    require(size, "one fold", "Use models with fewer neighbours or factors, or a shorter log.")
    return max(1, min(workers, len(splits), available() // size))
