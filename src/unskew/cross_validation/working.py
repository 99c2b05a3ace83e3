"""Folds worked off side by side, each once: what is finished is kept, and found again by its content.

Every worker takes the next fold that nobody has taken, so that it meets folds in their order and can update its models
from one to the next. Results are put in the order of the folds; how many workers there are changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from unskew.alignment.account import NothingLeftError
from unskew.cross_validation.fitting import Fitter
from unskew.cross_validation.fold import FoldTask
from unskew.cross_validation.fold_logs import codes_of, fold_logs
from unskew.cross_validation.fold_sums import FoldSums
from unskew.errors import InputError, RefusedError, UnskewError
from unskew.evaluation.read import Stage
from unskew.plain import plain
from unskew.split import Skipped, Split, Splits
from unskew.threads import Threads

Found = FoldSums | Skipped


def worked_off(
    task: FoldTask, splits: Splits, store: str | Path | None, workers: int, say: Stage
) -> tuple[Sequence[FoldSums], list[Skipped]]:
    """The sums of all folds in their order, and folds of which nothing was left to judge."""
    folds = list(splits)
    names = [plain(name) for name in task.request.models]
    workers = max(1, min(workers, len(folds)))
    turn, done = iter(range(len(folds))), 0
    lock = threading.Lock()
    found: dict[int, Found] = {}
    say(f"fold {folds[0].label}", 0, len(folds))

    def work() -> None:
        nonlocal done
        fitter = Fitter(task.request.models, task.request.relevant)
        while True:
            with lock:
                place = next(turn, None)
            if place is None:
                return
            found[place] = _one(task, fitter, folds[place])
            with lock:
                done += 1
                say(f"folds of {len(names)} models, {folds[place].label}", done, len(folds))

    with Threads(workers, alone=workers > 1) as pool:
        for worker in [pool.submit(work) for _ in range(workers)]:
            worker.result()
    kept = [each for _, each in sorted(found.items()) if isinstance(each, FoldSums)]
    lost = [each for _, each in sorted(found.items()) if isinstance(each, Skipped)]
    if not kept:
        raise InputError(f"{splits.log.account.source}: no fold has anything to judge: {lost[0].reason}.")
    return kept, lost


def _one(task: FoldTask, fitter: Fitter, split: Split) -> Found:
    """One fold."""
    train, test = split.train, split.test
    codes = codes_of(train, test)
    logs = fold_logs(train, test, codes)
    try:
        return task.measure(split, logs, fitter.fitted(split, logs)).located(*codes)
    except NothingLeftError:
        return Skipped(split.label, "no relevant interaction is left to judge", 0, split.test_count)
    except UnskewError as error:
        kind = RefusedError if isinstance(error, RefusedError) else InputError
        raise kind(f"fold {split.label}: {error}") from error
