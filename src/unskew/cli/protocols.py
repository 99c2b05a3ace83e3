"""``unskew compare-protocols``: the same models and log, judged in several ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import folds, options
from unskew.cli.evaluate import ESTIMATORS
from unskew.cli.options import HOW, WHAT, Texts, option

LOG = f"The log: {options.LOG}"
PROTOCOLS = (
    '"leave_one_out(repeats=10)", "holdout(share=0.2)", "sliding_window(width=1w, folds=10)", "k_fold(folds=5)". '
    "Repeat; by default the first two and, with times, windows that fit the log."
)


def compare_protocols(
    log: Annotated[Path, typer.Argument(help=LOG)],
    model: folds.Models = None,
    protocol: Annotated[Texts, option(PROTOCOLS, WHAT)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    candidates: folds.Candidates = None,
    invalid: options.Invalid = "error",
    duplicates: folds.Duplicates = None,
    metric: folds.Metrics = None,
    estimator: Annotated[Texts, option(f"By default naive; {ESTIMATORS}", WHAT)] = None,
    propensity: folds.Propensity = None,
    target: folds.Targets = None,
    average: folds.Average = "macro",
    level: Annotated[float, option("Level of intervals and verdicts, 0.5 to 0.9999.", HOW)] = 0.95,
    store: folds.Store = None,
    workers: folds.Workers = None,
    json: options.Json = None,
    csv: folds.Csv = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Judge the same models by several protocols, and say what differs: values, ratios to the best, rankings."""
    given = dict(locals())
    given["protocols"] = given.pop("protocol")
    folds.judge(_run, given)


def _run() -> Callable[..., Any]:
    from unskew.protocols import compare_protocols as run

    return run
