"""``unskew cross-validate``: fit models fold by fold, and say which is better over all folds."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import options
from unskew.cli.console import err, progress
from unskew.cli.evaluate import COVARIATES, DUPLICATES, METRICS, OUTCOMES, TARGETS
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, OUTPUT, WHAT, File, Text, Texts, check_outputs, column_map, option
from unskew.cli.split import SPLITTERS
from unskew.errors import InputError
from unskew.plain import plain, plain_path

MODELS = 'What is fitted on every fold: "item_knn(neighbours=50)", or name="item_knn(neighbours=50)". Repeat.'
ESTIMATORS = 'By default naive, and exposure_path without propensities, snips with them; "gs(strata=5)", ips, … Repeat.'
PROPENSITIES = 'Counted on each fold\'s training rows: "popularity(gamma=1)"; known for a column of the log, …'
STORE = "Where finished folds are kept and found again; by default in the user's cache."
EXAMPLES = (
    "Weeks of a log, each judged by what was known before: `unskew cross-validate log.parquet --split "
    '"sliding_window(width=1w, folds=10)" --model most_popular --model "item_knn(neighbours=50)" --html page.html`. A '
    "stopped run goes on where it was. All metrics, estimators, splitters, … and their options: `unskew parts`."
)
_NAMED = re.compile(r"([^()=]+)=(.+)", re.DOTALL)  # a name comes before any bracket

# What is not handed on to Python's cross_validate as it is.
OWN = ("model", "metric", "estimator", "columns", "no_store", "json", "csv", "parquet", "html", "quiet")


def cross_validate(
    log: Annotated[Path, typer.Argument(help="All interactions: user, item[, time][, value][, policy][, propensity].")],
    split: Annotated[str, option(f"How: {SPLITTERS}", HOW)],
    model: Annotated[Texts, option(MODELS, INPUTS)] = None,
    items: Annotated[File, option("The catalogue: item, all there are, also what nobody saw.", INPUTS)] = None,
    mcar: Annotated[File, option("A log seen at random, for naive_bayes.", INPUTS)] = None,
    user_features: Annotated[File, option(f"Covariates: user and {COVARIATES}", INPUTS)] = None,
    item_features: Annotated[File, option(f"Covariates: item and {COVARIATES}", INPUTS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    candidates: Annotated[Text, option("unseen (default) or all.", INPUTS)] = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[Text, option(DUPLICATES, INPUTS)] = None,
    metric: Annotated[Texts, option(METRICS, WHAT)] = None,
    estimator: Annotated[Texts, option(ESTIMATORS, WHAT)] = None,
    propensity: Annotated[Text, option(PROPENSITIES, WHAT)] = None,
    outcome: Annotated[Text, option(OUTCOMES, WHAT)] = None,
    in_sample: Annotated[
        bool, option("Fit the outcome model without folds of pairs (saito20).", HOW, "--in-sample")
    ] = False,
    target: Annotated[Texts, option(TARGETS, WHAT)] = None,
    refused: Annotated[str, option("Cells the log cannot support: error, or skip and list them.", WHAT)] = "error",
    level: Annotated[float, option("Of intervals and verdicts, 0.5 to 0.9999.", HOW)] = 0.95,
    interval: Annotated[str, option("normal or bootstrap.", HOW)] = "normal",
    replicates: Annotated[int, option("Bootstrap replicates, 50 to 100,000.", HOW)] = 1000,
    seed: Annotated[int, option("Of the bootstrap.", HOW)] = 0,
    workers: Annotated[
        int | None, option("Folds at once; one per core by default, fewer where memory is short.", HOW)
    ] = None,
    store: Annotated[File, option(STORE, HOW)] = None,
    no_store: Annotated[bool, option("Keep nothing but the result.", HOW, "--no-store")] = False,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table as CSV.", OUTPUT)] = None,
    parquet: Annotated[File, option("Write the table as Parquet.", OUTPUT)] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit models on every fold of a log, and say which is better over all folds."""
    asked: dict[str, Any] = {name: value for name, value in locals().items() if name not in OWN}
    outputs = {"json": json, "csv": csv, "parquet": parquet, "html": html}
    models = _models(model or [])
    parts = [*models.values(), *(estimator or []), propensity, outcome]
    check_outputs(log, items, mcar, user_features, item_features, specs=parts, **outputs)
    asked["store"] = _store(store, no_store)
    asked |= {"columns": column_map(columns), "metrics": metric or ["recall@10"], "estimators": estimator}

    from unskew.cross_validation.run import cross_validate as run

    with progress(quiet, left=True) as report:
        result = run(**asked, models=models, progress=report)
    options.show_and_write(messages_with_flags(result), quiet, **outputs)
    if not (quiet or no_store):
        err.print(f"finished folds are kept in {asked['store']}", soft_wrap=True)


def _models(given: list[str]) -> dict[str, str]:
    """``name=SPEC`` or ``SPEC``, which names itself."""
    found: dict[str, str] = {}
    for text in given:
        match = _NAMED.fullmatch(text)
        name, spec = (match[1].strip(), match[2].strip()) if match else (text.strip(), text.strip())
        if not name or not spec:
            raise InputError(f'--model {plain(text)}: write --model "item_knn(neighbours=50)", or --model name=SPEC.')
        if spec.lower().endswith(".npz") or Path(spec).is_file():
            raise InputError(
                f"--model {plain(text)}: every fold fits its models anew, and a file holds one that has seen the "
                'future of most folds.\nGive a canonical string such as "item_knn(neighbours=50)".'
            )
        if name in found:
            raise InputError(
                f"--model {plain(text)}: two models are called '{plain(name)}'. Give each a name of its own."
            )
        found[name] = spec
    if not found:
        raise InputError("there is nothing to fit: give at least one model, --model most_popular.")
    return found


def _store(folder: Path | None, keeps_nothing: bool) -> Path | None:
    if keeps_nothing:
        if folder is not None:
            raise InputError(f"--store {plain_path(folder)} and --no-store contradict each other: give one of them.")
        return None
    if folder is None:
        from unskew.log.datasets.places import cache

        return cache() / "folds"
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"--store {plain_path(folder)}: finished folds are kept in a folder, and this is a file.")
    return folder
