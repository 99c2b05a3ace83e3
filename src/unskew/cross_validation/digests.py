"""What a finished fold is a result of: its own rows, what is asked of it, and the models, by their content.

Rows enter by the ids and numbers of the fold itself, so that a longer log finds the folds again that it did not change.
Models, estimators, propensities and outcome models enter by their canonical strings, and by the content of files that
these name. What has no such string, or was fitted before, cannot be found again, and is refused where a store is given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew import __version__, estimators, models, outcome, propensity
from unskew.core.errors import InputError
from unskew.core.outputs import files_in
from unskew.core.parts import Part, options_of
from unskew.core.text import plain
from unskew.cross_validation.fold import FoldTask
from unskew.cross_validation.fold_logs import FoldLogs
from unskew.log import Log
from unskew.log.features import Features
from unskew.log.ids import hash_texts
from unskew.split import Split

FORMAT = 6  # of what is kept of a fold, and of how it is computed
VERSION = f"{__version__} folds {FORMAT}"


def fold_key(asked: dict[str, Any], split: Split, logs: FoldLogs) -> dict[str, Any]:
    """The description of one fold, of which ``asked`` is common to all."""
    window = split.window
    return asked | {
        "label": split.label,
        "window": None if window is None else window.text,
        "left_out": dict(split.left_out),
        "train": _log(logs.train),
        "test": _log(logs.test),
    }


def asked_of(task: FoldTask) -> dict[str, Any]:
    """What is asked of every fold."""
    request, side = task.request, task.side
    strings = [_string(f"model '{name}'", model, models.make) for name, model in request.models.items()]
    strings += [_string(f"estimator '{each}'", each, estimators.make) for each in request.estimators]
    for what, part, make in (
        ("propensity", request.propensity, propensity.make),
        ("outcome", request.outcome, outcome.make),
    ):
        strings.append("" if part is None else _string(f"{what} '{part}'", part, make))
    return {
        "models": list(request.models),
        "parts": strings,
        "files": _files(strings),
        "chosen": request.chosen,
        "metrics": [str(metric) for metric in request.metrics],
        "targets": [str(target) for target in request.targets],
        "in_sample": bool(request.in_sample),
        "relevant": request.relevant,
        "candidates": request.candidates,
        "refused": request.refused,
        "mcar": None if side.mcar is None else _log(side.mcar),
        "features": [None if each is None else _features(each) for each in (side.user_features, side.item_features)],
        "catalogue": None if task.catalogue is None else _digest(task.catalogue.items.hashes),
        **({"column": list(task.column)} if task.column is not None and task.column.constant else {}),
    }


def _string(what: str, part: Any, make: Callable[[str], Any]) -> str:
    """The canonical string of a part, which is all that there is to know of it."""
    why = ""
    if not isinstance(part, Part) or not _told_by_its_string(part, make):
        why = "has no canonical string that tells all of it"
    elif _learnt(part):
        why = "was fitted before"
    if why:
        raise InputError(
            f"store=…: finished folds are found again by what they are results of, and {plain(what)} {why}.\nGive its "
            "canonical string, register it as a part, or leave the store out.",
            code="no-specification",
            part=what,
        )
    return str(part)


def _learnt(part: Part) -> bool:
    """Whether there is something in it that its string does not tell."""
    if getattr(part, "estimated", False) and getattr(part, "fitted", False):
        return True
    return any(name.endswith("_") for name in vars(part))


def _told_by_its_string(part: Part, make: Callable[[str], Any]) -> bool:
    """Whether its string makes such a part again: shares given as a mapping, or a class of one's own, are not told."""
    try:
        made = make(str(part))
    except InputError:
        return False
    alike = (getattr(made, entry.name, None) == getattr(part, entry.name) for entry, _ in options_of(part))
    return type(made) is type(part) and all(alike)


def _files(strings: Iterable[str]) -> dict[str, str]:
    """The content of every file that a string names."""
    found = {}
    for path in {path for text in strings for path in files_in(text)}:
        if path.is_file():
            with Path(path).open("rb") as file:
                found[str(path)] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _features(features: Features) -> str:
    return _digest(features.ids.hashes, features.matrix, hash_texts(pl.Series(features.names)))


def _log(log: Log) -> str:
    """All that a log says, and how it came to be."""
    place = None if log.position is None else log.position.fill_null(-1).to_numpy()
    columns = [log.value, log.time, log.propensity, log.gain, place]
    texts = [log.policy, *log.columns.values()]
    arrays: list[npt.NDArray[Any]] = [log.users.hashes, log.items.hashes, log.indptr, log.item]
    arrays += [np.empty(0) if column is None else column for column in columns]
    arrays += [np.empty(0) if column is None else hash_texts(column) for column in texts]
    told = (log.feedback, log.share, log.cut_by_time, log.drawn, log.sampled_by, log.clock, *log.columns)
    return _digest(*arrays, hash_texts(pl.Series([str(each) for each in told])))


def _digest(*arrays: npt.NDArray[Any]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
