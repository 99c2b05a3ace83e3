"""``unskew compare-protocols``: the same models and log, judged in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import progress
from unskew.cli.evaluate import DUPLICATES, ESTIMATORS, METRICS, TARGETS
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, OUTPUT, WHAT, File, Text, Texts, check_outputs, column_map, option
from unskew.errors import InputError
from unskew.plain import plain

LOG = "The log: user, item[, value][, time][, policy][, propensity]."
MODELS = '"item_knn(neighbours=50)", or name="item_knn(neighbours=50)": fitted anew in every fold. Repeat.'
PROTOCOLS = (
    '"leave_one_out(repeats=10)", "holdout(share=0.2)", "sliding_window(width=1w, folds=10)", "k_fold(folds=5)". '
    "Repeat; by default the first two and, with times, windows that fit the log."
)
AVERAGES = "How folds are put together: macro (their mean) or pooled (all rows)."
PROPENSITY = 'known (a column of the log), "popularity(gamma=1)", …; counted on each fold\'s training rows.'
STORE = "A folder that keeps finished folds, so that the next run finds them."
WORKERS = "Folds at once; one per core by default. Numbers do not depend on it."


def compare_protocols(
    log: Annotated[Path, typer.Argument(help=LOG)],
    model: Annotated[Texts, option(MODELS, INPUTS)] = None,
    protocol: Annotated[Texts, option(PROTOCOLS, WHAT)] = None,
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
    level: Annotated[float, option("Of intervals and verdicts, 0.5 to 0.9999.", HOW)] = 0.95,
    store: Annotated[File, option(STORE, HOW)] = None,
    workers: Annotated[int | None, option(WORKERS, HOW)] = None,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table as CSV.", OUTPUT)] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Judge the same models by several protocols, and say what differs: values, ratios to the best, rankings.

    `unskew compare-protocols clicks.parquet --model most_popular --model "item_knn(neighbours=50)" --html page.html`
    """
    outputs = {"json": json, "csv": csv, "html": html}
    check_outputs(log, specs=[*(model or []), propensity, *(estimator or [])], **outputs)
    models = named_models(model)

    from unskew.protocols import compare_protocols as run

    with progress(quiet) as report:
        found = run(
            log,
            models,
            protocol,
            average=average,  # type: ignore[arg-type]  # checked there
            metrics=metric or ["recall@10"],
            estimators=estimator or ["naive"],
            propensity=propensity,
            target=target,
            columns=column_map(columns),
            feedback=feedback,
            relevant=relevant,
            invalid=invalid,
            duplicates=duplicates,
            level=level,
            store=store,
            workers=workers,
            progress=report,
        )
    options.show_and_write(messages_with_flags(found), quiet, **outputs)


def named_models(given: Sequence[str] | None) -> dict[str, str]:
    """``item_knn(neighbours=50)`` by its own name, ``knn=item_knn(neighbours=50)`` by the name before the sign."""
    if not given:
        raise InputError('no model is given: repeat --model, as in --model most_popular --model "item_knn".')
    found: dict[str, str] = {}
    for text in given:
        head, sign, rest = text.partition("=")
        name, spec = (head, rest) if sign and "(" not in head else (text, text)
        if not name or not spec:
            raise InputError(f"--model {plain(text)}: write --model name=value, or the model alone.")
        if name in found:
            raise InputError(f"--model {plain(text)}: two models are called '{plain(name)}'. Give each its own name.")
        found[name] = spec
    return found
