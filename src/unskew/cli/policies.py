"""``unskew policy-impact``: does the policy that wrote the log decide which model wins?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import progress
from unskew.cli.evaluate import DUPLICATES, ESTIMATORS, METRICS, TARGETS
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, OUTPUT, WHAT, File, Text, Texts, check_outputs, column_map, option
from unskew.cli.protocols import AVERAGES, MODELS, PROPENSITY, STORE, WORKERS, named_models

LOG = "The log: user, item, policy[, value][, time][, propensity]."
SPLITS = (
    '"leave_one_out(repeats=10)", "sliding_window(width=1w, folds=10)", … Repeat; by default the first and, with '
    "times, windows that fit the log."
)
REFITS = "Fits on halves of the users, two by two; 0 takes fitted models as given."
ALL_USERS = "Keep all users; by default every policy has as many as the smallest."


def policy_impact(
    log: Annotated[Path, typer.Argument(help=LOG)],
    model: Annotated[Texts, option(MODELS, INPUTS)] = None,
    split: Annotated[Texts, option(SPLITS, WHAT)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[Text, option(DUPLICATES, INPUTS)] = None,
    metric: Annotated[Texts, option(METRICS, WHAT)] = None,
    estimator: Annotated[Texts, option(ESTIMATORS, WHAT)] = None,
    propensity: Annotated[Text, option(PROPENSITY, WHAT)] = None,
    target: Annotated[Texts, option(TARGETS, WHAT)] = None,
    average: Annotated[str, option(AVERAGES, HOW)] = "macro",
    min_users: Annotated[int, option("To judge of every policy, or the fold is skipped.", HOW)] = 20,
    refits: Annotated[int, option(REFITS, HOW)] = 10,
    all_users: Annotated[bool, option(ALL_USERS, HOW, "--all-users")] = False,
    level: Annotated[float, option("Of all tests together, 0.5 to 0.9999.", HOW)] = 0.95,
    seed: Annotated[int, option("Draws users and halves.", HOW)] = 0,
    store: Annotated[File, option(STORE, HOW)] = None,
    workers: Annotated[int | None, option(WORKERS, HOW)] = None,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table as CSV.", OUTPUT)] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Judge the same models on the part of the log that each policy wrote, and test what differs.

    `unskew policy-impact clicks.parquet --model most_popular --model "item_knn(neighbours=50)" --html page.html`
    """
    outputs = {"json": json, "csv": csv, "html": html}
    check_outputs(log, specs=[*(model or []), propensity, *(estimator or [])], **outputs)
    models = named_models(model)

    from unskew.protocols import policy_impact as run

    with progress(quiet) as report:
        found = run(
            log,
            models,
            split,
            average=average,  # type: ignore[arg-type]  # checked there
            metrics=metric or ["recall@10"],
            estimators=estimator,
            propensity=propensity,
            target=target,
            columns=column_map(columns),
            feedback=feedback,
            relevant=relevant,
            invalid=invalid,
            duplicates=duplicates,
            equal=not all_users,
            min_users=min_users,
            refits=refits,
            level=level,
            seed=seed,
            store=store,
            workers=workers,
            progress=report,
        )
    options.show_and_write(messages_with_flags(found), quiet, **outputs)
