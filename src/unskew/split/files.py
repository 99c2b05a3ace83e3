"""Folds as files that any tool reads: DIR/000/train.parquet, DIR/000/test.parquet, … and DIR/manifest.json.

All files appear together, the manifest last: where it lies, the folds that it names are whole. Files of an earlier
split that the new one does not have are removed when it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from unskew.core.atomic import atomic_file, folder, together, write_json
from unskew.core.outputs import refuse_existing, refuse_same
from unskew.core.strict_json import loads
from unskew.core.text import plain_path
from unskew.kernels.arrays import Floats
from unskew.log import Log
from unskew.log.log import WEIGHT
from unskew.log.paths import read_small
from unskew.split.record import SplitSummary
from unskew.split.split import Split
from unskew.split.splits import Splits

MANIFEST = "manifest.json"
LARGEST = 100_000_000  # bytes of a manifest
_OURS = re.compile(r"[0-9]{3,}/(?:train|test)\.parquet")

Progress = Callable[[str, int, int], None]


def write_splits(
    splits: Splits, directory: str | Path, *, force: bool = False, progress: Progress | None = None
) -> SplitSummary:
    """Write both parts of every fold and a manifest; gives back what the manifest says.

    Rows are in the order of time, where there are times. Where test rows had unequal chances (leave-one-out), they have
    a column ``sampling_weight``, one over the number of their user's rows, by which evaluations see that.

    Args:
        directory: made where it is missing; a run that fails leaves it as it was.
        force: whether files of an earlier split may be replaced.
        progress: is told (stage, done, total).
    """
    directory = Path(directory)
    paths = [
        directory / f"{place:03}" / f"{part}.parquet" for place in range(len(splits)) for part in ("train", "test")
    ]
    refuse_same([(plain_path(path), path) for path in paths], [Path(splits.log.account.source)])
    refuse_existing([directory / MANIFEST, *paths], force)
    former, made = _former(directory), _missing([directory, *(path.parent for path in paths)])
    summary = splits.without_rows()
    written = []
    try:
        with together():
            for place, (split, fold) in enumerate(zip(splits, summary.folds, strict=True)):
                if progress is not None:
                    progress(f"writing fold {fold.label}", place, len(splits))
                inside = folder(directory / f"{place:03}")
                for part, log in zip(("train", "test"), split, strict=True):
                    _write(inside / f"{part}.parquet", log, _chance(split, log) if part == "test" else None)
                files = {part: f"{inside.name}/{part}.parquet" for part in ("train", "test")}
                written.append(replace(fold, files=files))
            summary = replace(summary, folds=tuple(written))
            write_json(directory / MANIFEST, summary.to_dict())
    except BaseException:
        _remove_folders(made)
        raise
    _remove_files(directory, former - {name for fold in written for name in fold.files.values()})
    return summary


def _chance(split: Split, test: Log) -> Floats | None:
    """The chance of each test row, where it depends on how many rows its user has."""
    return 1.0 / np.diff(split.log.indptr)[test.user] if split.sampled_by else None


def _write(path: Path, log: Log, chance: Floats | None) -> None:
    frame = log.to_frame()
    if chance is not None:
        frame = frame.with_columns(pl.Series(WEIGHT, chance))
    if log.time is not None:
        frame = frame.sort("time", maintain_order=True)
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        frame.write_parquet(file)


def _former(directory: Path) -> set[str]:
    """The files that the manifest of an earlier split names; a manifest of something else names none."""
    try:
        folds = loads(read_small(directory / MANIFEST, LARGEST, "Remove it."))["folds"]
        named = {str(name) for fold in folds for name in fold["files"].values()}
    except (ValueError, KeyError, TypeError, AttributeError):  # an InputError is a ValueError
        return set()
    return {name for name in named if _OURS.fullmatch(name)}


def _missing(folders: list[Path]) -> list[Path]:
    """Those that are not there yet, and will be made."""
    return [place for place in dict.fromkeys(folders) if not place.exists()]


def _remove_folders(made: list[Path]) -> None:
    """Remove the empty folders of a run that failed."""
    for place in reversed(made):
        with suppress(OSError):
            place.rmdir()


def _remove_files(directory: Path, names: set[str]) -> None:
    for name in names:
        with suppress(OSError):
            (directory / name).unlink()
    for parent in {(directory / name).parent for name in names}:
        with suppress(OSError):
            parent.rmdir()
