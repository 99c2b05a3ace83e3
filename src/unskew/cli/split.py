"""``unskew split``: the folds of a log as files that work with any tool."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli import options
from unskew.cli.console import out, progress
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, OUTPUT, Text, check_outputs, column_map, option, write_outputs, written
from unskew.core.outputs import refuse_existing, refuse_same, try_filling
from unskew.core.text import plain, plain_path

if TYPE_CHECKING:
    from unskew.log import Log
    from unskew.split import SplitSummary

SPLITTERS = '"sliding_window(width=1d, folds=30)", "holdout(share=0.3)", "k_fold(folds=5)", "leave_one_out(last)", …'
DUPLICATES = "Repeated pairs: error, first, last, max, earliest; by default earliest without values, else error."


def split(
    log: Annotated[Path, typer.Argument(help=f"The log: {options.LOG}")],
    output: Annotated[Path, option("Folder to write to.", OUTPUT, "--output", "--out", "-o")],
    splitter: Annotated[
        str, option(f"How to split: {SPLITTERS}", HOW, "--split")
    ] = "sliding_window(width=1d, folds=30)",
    keep: Annotated[Text, option("Further columns to keep: colour,price.", INPUTS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[Text, option(DUPLICATES, INPUTS)] = None,
    html: options.Html = None,
    force: Annotated[bool, option("Replace the files of an earlier split.", OUTPUT, "--force")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Split a log into training and test files: windows of time, at random, by user, or one row of each user."""
    check_outputs(log, html=html)
    try_filling(output)
    manifest = output / "manifest.json"
    refuse_same([(plain_path(manifest), manifest)], [log, *([] if html is None else [html])])
    refuse_existing([manifest], force)

    from unskew.log import read_log
    from unskew.split import make, make_splits, write_splits

    way = make(splitter)
    with progress(quiet) as report:
        report(f"reading {plain_path(log)}", 0, 1)
        whole = read_log(
            log,
            columns=_columns(columns),
            feedback=feedback,
            invalid=invalid,  # type: ignore[arg-type]
            duplicates=duplicates,  # type: ignore[arg-type]
            keep=_names(keep),
        )
        report("splitting", 0, 1)
        found = write_splits(make_splits(whole, way), output, force=force, progress=report)
    found = messages_with_flags(found)
    unread = _unread(log, columns, keep)
    found = replace(found, notes=(*found.notes, *unread))
    write_outputs(found, html=html)
    if not quiet:
        out.print(found)
        _tell(found, whole, output)
    written([output, *([] if html is None else [html])], quiet)


def _columns(given: list[str] | None) -> Mapping[str, str]:
    """What is said of the log's columns."""
    from unskew.alignment.sources import Names

    return Names(column_map(given), ["log"]).of_test


def _unread(log: Path, columns: list[str] | None, keep: str | None) -> list[str]:
    """A sentence about the columns that were left out, where there are any."""
    from unskew.log.interactions import OPTIONAL, REQUIRED
    from unskew.log.match import match_columns
    from unskew.log.sources import columns_of

    said = _columns(columns)
    there = columns_of(log, said)
    used = {*match_columns(plain_path(log), there, REQUIRED, OPTIONAL, said, ()).values(), *_names(keep)}
    left_out = [plain(name) for name in there if name not in used]
    return [f"Columns that are not in the files: {', '.join(left_out)}. Keep them with --keep."] if left_out else []


def _names(keep: str | None) -> list[str]:
    return [] if keep is None else [name.strip() for name in keep.split(",")]


def _tell(found: SplitSummary, whole: Log, output: Path) -> None:
    """How a fold is used next: by models that need nothing but its training log."""
    from unskew.log import Feedback
    from unskew.report.terminal import wrapped

    first = shlex.quote(str(output / "000"))
    share = "" if found.share is None else f" --share {'users' if 'by=user' in found.splitter else f'{found.share:g}'}"
    models, own = "--model popular=most_popular --model random=random", "--recs"
    if whole.feedback is Feedback.RATINGS:
        models, own = "--model mf=mf --feedback ratings --metric mae --estimator naive", "--predictions"
    elif whole.feedback is None and whole.value is not None and whole.value.max(initial=0.0) > 1.0:
        models += " --feedback ratings --relevant '>=4'"
    elif whole.value is not None:
        models += f" --feedback {whole.feedback or 'conversions'}"
    command = f"unskew evaluate {first}/test.parquet --train {first}/train.parquet{share} {models}"
    broken = wrapped(command, out.width - 2).replace("\n", "\n  ")
    out.print(f"\nA fold is evaluated with:\n  {broken}\nModels of yours: {own} name=FILE.", soft_wrap=True)
