"""``unskew evaluate``: from a held-out log and lists to debiased estimates with a verdict."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli import options, requirements
from unskew.cli.console import progress
from unskew.cli.flags import messages_with_flags, with_flags
from unskew.cli.models import Sources, as_typed
from unskew.cli.options import (
    HOW,
    INPUTS,
    OUTPUT,
    WHAT,
    File,
    Text,
    Texts,
    check_outputs,
    column_map,
    option,
    share_of,
    size_of,
)
from unskew.core.errors import InputError

MODELS = (
    'name="item_knn(neighbours=50)": fitted on --train. name=FILE.npz: a saved model, or factors made elsewhere '
    "(arrays users, items, user_factors, item_factors[, user_offsets, item_offsets]). Repeat."
)
METRICS = "recall@10 (default), dcg@10, ndcg@10, …; of predictions mae (default), mse, rmse, accuracy. Repeat."
ESTIMATORS = (
    'naive, ips, snips, "gs(strata=5)", "clipped(snips, quantile=0.01)"; with --outcome direct, dr, sndr, '
    '"switch(tau=20)". Repeat.'
)
PROPENSITIES = (
    'known (a column of the test log), "popularity(gamma=1)" (if exposure explains all of popularity), … Repeat to '
    "compare the answers."
)
OUTCOMES = 'For direct, dr, sndr, switch: "logistic_mf(dim=10)", "means(shrink=10)", "given(FILE)", …'
TARGETS = 'per_user, pooled, per_user_sum, "per_user_sum(normalised=pooled)" (or =per_user), per_pair. Repeat.'
DUPLICATES = "Repeated pairs: error, first, last, max, earliest; by default earliest without values, else error."
COVARIATES = "numbers, for logistic or an sklearn outcome."
SHARES = "How the logs were split: the test log is a random share of all rows (0.3), or has users of its own (users)."
ANSWERS = (
    "Pairs that were drawn, shown and answered: user, item, value (empty: no answer), propensity (of being drawn). For "
    "the estimator anchored, which then makes the headline."
)
ROUNDS = "With --answers: the number of rounds that was declared for them; by default what their file says."
USERS_ARE = "With --answers: sampled (verdicts for users like these) or fixed (for these alone)."
FIXED = "With --answers: people would answer logged positives as they were logged, so these count as they are."
SAMPLES = 'Evaluate fairer samples of the rows by naive alone: wtd_h, skew, "weighted(item_power=1)", … Not debiased.'

ENGINES = "memory, stream (Parquet that does not fit into memory) or spark; by default memory or stream, as needed."

# What is not handed on to Python's evaluate as it is.
OWN = (
    "recs",
    "predictions",
    "model",
    "metric",
    "estimator",
    "propensity",
    "json",
    "csv",
    "parquet",
    "html",
    "quiet",
    "require",
    "dry_run",
    "master",
)


def evaluate(
    test: Annotated[Path, typer.Argument(help=f"Held-out log: {options.LOG}")],
    recs: Annotated[Texts, option("name=FILE: lists as user, item, rank[, score]. Repeat.", INPUTS)] = None,
    predictions: Annotated[
        Texts, option("name=FILE: predicted values as user, item, prediction[, rank]. Repeat.", INPUTS)
    ] = None,
    model: Annotated[Texts, option(MODELS, INPUTS)] = None,
    train: Annotated[
        File, option("Training log: its items are not recommended again; popularity is counted on it.", INPUTS)
    ] = None,
    users: Annotated[File, option("The population: user[, relevant], the number of relevant items.", INPUTS)] = None,
    items: Annotated[File, option("The catalogue: item, every one that could be recommended.", INPUTS)] = None,
    share: Annotated[Text, option(SHARES, INPUTS)] = None,
    mcar: Annotated[File, option("A log of pairs drawn at random, for naive_bayes and --sample wtd.", INPUTS)] = None,
    answers: Annotated[File, option(ANSWERS, INPUTS)] = None,
    rounds: Annotated[int | None, option(ROUNDS, INPUTS)] = None,
    users_are: Annotated[str, option(USERS_ARE, INPUTS)] = "sampled",
    fixed_relevance: Annotated[bool, option(FIXED, INPUTS, "--fixed-relevance")] = False,
    user_features: Annotated[File, option(f"Covariates: user and {COVARIATES}", INPUTS)] = None,
    item_features: Annotated[File, option(f"Covariates: item and {COVARIATES}", INPUTS)] = None,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    drop_seen: Annotated[bool, option("Remove training items from lists.", INPUTS, "--drop-seen")] = False,
    candidates: Annotated[
        Text, option("What may be recommended: unseen (default with --train) or all.", INPUTS)
    ] = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[Text, option(DUPLICATES, INPUTS)] = None,
    metric: Annotated[Texts, option(METRICS, WHAT)] = None,
    estimator: Annotated[Texts, option(ESTIMATORS, WHAT)] = None,
    propensity: Annotated[Texts, option(PROPENSITIES, WHAT)] = None,
    outcome: Annotated[Text, option(OUTCOMES, WHAT)] = None,
    in_sample: Annotated[
        bool, option("Fit the outcome model without cross-fitting (as saito20).", HOW, "--in-sample")
    ] = False,
    target: Annotated[Texts, option(TARGETS, WHAT)] = None,
    by: Annotated[Text, option('Repeat the table per segment: a column, or "popularity(strata=3)".', WHAT)] = None,
    refused: Annotated[str, option("What the log cannot support: error, or skip and list it.", WHAT)] = "error",
    level: Annotated[float, option("Level of intervals and verdicts, 0.5 to 0.9999.", HOW)] = 0.95,
    interval: Annotated[str, option("Kind of interval: normal or bootstrap.", HOW)] = "normal",
    replicates: Annotated[int, option("Bootstrap replicates, 50 to 100,000.", HOW)] = 1000,
    refit: Annotated[bool, option("Fit propensities anew in every replicate.", HOW, "--refit")] = False,
    sample: Annotated[Text, option(SAMPLES, HOW)] = None,
    sample_size: Annotated[Text, option("A share of the rows (0.5, the default), or how many (1000).", HOW)] = None,
    repeats: Annotated[int | None, option("How many samples are drawn and averaged; 10 by default.", HOW)] = None,
    seed: Annotated[int, option("Seed of the bootstrap, or of the samples.", HOW)] = 0,
    threads: Annotated[
        int | None, option("Threads, one per core by default; results do not depend on it.", HOW)
    ] = None,
    engine: Annotated[Text, option(ENGINES, HOW)] = None,
    memory: Annotated[Text, option("Limit of --engine stream (2GiB); by default half of what is free.", HOW)] = None,
    master: Annotated[Text, option("With --engine spark: local[2], spark://HOST:7077, yarn, …", HOW)] = None,
    dry_run: Annotated[
        bool, option("Say which engine, memory and time to expect, and stop.", HOW, "--dry-run")
    ] = False,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table as CSV.", OUTPUT)] = None,
    parquet: Annotated[File, option("Write the table as Parquet.", OUTPUT)] = None,
    html: options.Html = None,
    require: options.Require = None,
    quiet: options.Quiet = False,
) -> None:
    """Estimate what each model would score if everything had been seen, and say which is better."""
    asked = {name: value for name, value in locals().items() if name not in OWN}
    outputs = {"json": json, "csv": csv, "parquet": parquet, "html": html}
    sources = Sources.of(recs, model, predictions)
    asked |= {name: _address(asked[name]) for name in ("test", "train", "users")}
    read = (test, train, users, items, mcar, answers, user_features, item_features, *sources.files)
    check_outputs(*read, specs=[*sources.specs.values(), *(propensity or []), *(estimator or []), outcome], **outputs)
    sources.check()
    asked |= {"columns": column_map(columns), "share": share_of(share), "estimators": estimator}
    asked["sample_size"] = size_of("--sample-size", sample_size)
    asked["metrics"] = metric or ["mae" if sources.only_predictions else "recall@10"]
    requirements.check(require or [], sources.names, asked["metrics"])

    from unskew.evaluation import compare_propensities
    from unskew.evaluation import evaluate as run_one

    run: Any = run_one
    if engine == "spark":
        run = _on_spark(asked, sources, propensity or [], master, dry_run)
    elif master is not None:
        raise InputError("--master says where Spark runs: it goes with --engine spark.", code="conflicting-arguments")
    if propensity is not None and len(propensity) > 1:
        run, asked["propensities"] = compare_propensities, propensity
    elif propensity:
        asked["propensity"] = propensity[0]
    if dry_run and require:
        raise InputError(
            "--dry-run evaluates nothing, so that --require cannot be answered: leave one of them out.",
            code="conflicting-arguments",
        )
    if dry_run:
        typer.echo(_expected(asked, sources))
        return
    with requirements.refusals_undecided(require or []), progress(quiet) as report:
        models = {**sources.lists, **sources.predictions} if engine == "spark" else sources.ready(asked, report)
        result = as_typed(run(**asked, models=models, progress=report), asked, sources)
    raise typer.Exit(requirements.show_and_write(messages_with_flags(result), require or [], quiet, **outputs))


def _on_spark(asked: dict[str, Any], sources: Sources, propensities: list[str], master: str | None, dry: bool) -> Any:
    """Evaluates by Spark; what only one machine's memory can do is refused."""
    refused = {
        "--model fits models in memory: give their lists as files, --recs name=FILE": sources.specs,
        "several --propensity are compared in memory: give one": len(propensities) > 1,
        "--memory is kept by --engine stream: leave it out, and divide the users into more parts": asked.pop("memory"),
        "--dry-run knows what one machine takes, not a cluster: leave it out": dry,
    }
    for why, there in refused.items():
        if there:
            raise InputError(f"--engine spark: {why}.", code="not-supported")
    del asked["engine"]

    from unskew.cli.spark import evaluate_files

    return partial(evaluate_files, master=master)


def _address(path: Path | None) -> Path | str | None:
    """An address such as s3://…, of which a path has lost a stroke."""
    text = "" if path is None else str(path)
    found = re.match(r"([a-z][a-z0-9+]+):/+", text)
    if found is None or path is None or path.exists():
        return path
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{text[found.end() :]}"


def _expected(asked: dict[str, Any], sources: Sources) -> str:
    """What the evaluation would take, in the words of the command line."""
    from unskew.evaluation.expected import dry_run
    from unskew.evaluation.request import Request

    options = {name: value for name, value in asked.items() if name != "propensities"}
    return with_flags(dry_run(Request.of(**options, models=sources.unread)))
