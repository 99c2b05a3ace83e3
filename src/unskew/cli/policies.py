"""``unskew policy-impact``: does the policy that wrote the log decide which model wins?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import folds, options
from unskew.cli.evaluate import ESTIMATORS
from unskew.cli.options import HOW, WHAT, Texts, option

LOG = "The log: user, item, policy[, value][, time][, position][, propensity]."
SPLITS = (
    '"leave_one_out(repeats=10)", "sliding_window(width=1w, folds=10)", … Repeat; by default the first and, with '
    "times, windows that fit the log."
)
REFITS = "Fits on random halves of the users, to see how much fitting varies; 0 takes fitted models as given."
ALL_USERS = "Keep all users; by default every policy keeps as many as the smallest one has."


def policy_impact(
    log: Annotated[Path, typer.Argument(help=LOG)],
    model: folds.Models = None,
    split: Annotated[Texts, option(SPLITS, WHAT)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    candidates: folds.Candidates = None,
    invalid: options.Invalid = "error",
    duplicates: folds.Duplicates = None,
    metric: folds.Metrics = None,
    estimator: Annotated[Texts, option(f"By default naive, and snips with --propensity; {ESTIMATORS}", WHAT)] = None,
    propensity: folds.Propensity = None,
    target: folds.Targets = None,
    average: folds.Average = "macro",
    min_users: Annotated[int, option("Users of every policy that a fold needs; else it is skipped.", HOW)] = 20,
    refits: Annotated[int, option(REFITS, HOW)] = 10,
    all_users: Annotated[bool, option(ALL_USERS, HOW, "--all-users")] = False,
    level: Annotated[float, option("Level of all tests together, 0.5 to 0.9999.", HOW)] = 0.95,
    seed: Annotated[int, option("Seed of the draws of users and halves.", HOW)] = 0,
    store: folds.Store = None,
    workers: folds.Workers = None,
    json: options.Json = None,
    csv: folds.Csv = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Judge the same models on the part of the log that each policy wrote, and test what differs."""
    given = dict(locals())
    given["splits"], given["equal"] = given.pop("split"), not given.pop("all_users")
    folds.judge(_run, given)


def _run() -> Callable[..., Any]:
    from unskew.protocols import policy_impact as run

    return run
