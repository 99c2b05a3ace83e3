"""``unskew evaluate``: from a held-out log and lists to debiased estimates with a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.console import err, out, progress
from unskew.cli.flags import comparison_with_flags, result_with_flags
from unskew.cli.models import Ready, is_file
from unskew.cli.options import (
    INPUTS,
    OUTPUT,
    Columns,
    Feedback,
    Html,
    Invalid,
    Json,
    Quiet,
    Relevant,
    check_outputs,
    column_map,
    named,
    write_outputs,
)
from unskew.errors import InputError
from unskew.plain import plain

WHAT, HOW = "What to estimate", "How"


def evaluate(
    test: Annotated[Path, typer.Argument(help="Held-out log: user, item[, value][, time][, policy][, propensity].")],
    recs: Annotated[
        list[str] | None,
        typer.Option("--recs", help="name=FILE: lists as user, item, rank[, score]. Repeat.", rich_help_panel=INPUTS),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            "--predictions",
            help="name=FILE: predicted values as user, item, prediction[, rank]. Repeat.",
            rich_help_panel=INPUTS,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help='name="item_knn(neighbours=50)": fitted on --train. name=FILE.npz: a saved model, or factors made '
            "elsewhere (arrays users, items, user_factors, item_factors[, user_offsets, item_offsets]). Repeat.",
            rich_help_panel=INPUTS,
        ),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Training log: what lists must not repeat, popularity.", rich_help_panel=INPUTS)
    ] = None,
    users: Annotated[
        Path | None, typer.Option(help="The population: user[, relevant], n_u where known.", rich_help_panel=INPUTS)
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="The catalogue: item, all there are, also what nobody saw.", rich_help_panel=INPUTS),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            help="The test log is a random share of the whole (0.3), or holds other users (users).",
            rich_help_panel=INPUTS,
        ),
    ] = None,
    mcar: Annotated[
        Path | None, typer.Option(help="A log seen at random, for naive_bayes.", rich_help_panel=INPUTS)
    ] = None,
    user_features: Annotated[
        Path | None,
        typer.Option(help="Covariates: user and numbers, for logistic or an sklearn outcome.", rich_help_panel=INPUTS),
    ] = None,
    item_features: Annotated[
        Path | None,
        typer.Option(help="Covariates: item and numbers, for logistic or an sklearn outcome.", rich_help_panel=INPUTS),
    ] = None,
    columns: Columns = None,
    feedback: Feedback = None,
    relevant: Relevant = None,
    drop_seen: Annotated[
        bool, typer.Option("--drop-seen", help="Remove training items from lists.", rich_help_panel=INPUTS)
    ] = False,
    candidates: Annotated[
        str | None, typer.Option(help="unseen (default with --train) or all.", rich_help_panel=INPUTS)
    ] = None,
    invalid: Invalid = "error",
    duplicates: Annotated[
        str | None,
        typer.Option(
            help="Repeated pairs: error, first, last or max; by default first without values, else error.",
            rich_help_panel=INPUTS,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="recall@10 (default), dcg@10, ndcg@10, …; of predictions mae (default), mse, rmse, accuracy. Repeat.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            help='naive, ips, snips, "gs(strata=5)", "clipped(snips, quantile=0.01)"; with --outcome direct, dr, sndr, '
            '"switch(tau=20)". Repeat.',
            rich_help_panel=WHAT,
        ),
    ] = None,
    propensity: Annotated[
        list[str] | None,
        typer.Option(
            help='known (a column of the test log), "popularity(gamma=1)" (if exposure explains all of popularity), … '
            "Repeat to compare the answers.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            help='For direct, dr, sndr, switch: "logistic_mf(dim=10)", "means(shrink=10)", "given(FILE)", …',
            rich_help_panel=WHAT,
        ),
    ] = None,
    in_sample: Annotated[
        bool,
        typer.Option(
            "--in-sample", help="Fit the outcome model without folds of pairs (saito20).", rich_help_panel=HOW
        ),
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help='per_user, pooled, per_user_sum, "per_user_sum(normalised=pooled)" (or =per_user), per_pair. Repeat.',
            rich_help_panel=WHAT,
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help='A column, or "popularity(strata=3)": repeat per segment.', rich_help_panel=WHAT)
    ] = None,
    refused: Annotated[
        str, typer.Option(help="Cells the log cannot support: error, or skip and list them.", rich_help_panel=WHAT)
    ] = "error",
    level: Annotated[float, typer.Option(help="Of intervals and verdicts, 0.5 to 0.9999.", rich_help_panel=HOW)] = 0.95,
    interval: Annotated[str, typer.Option(help="normal or bootstrap.", rich_help_panel=HOW)] = "normal",
    replicates: Annotated[int, typer.Option(help="Bootstrap replicates, 50 to 100,000.", rich_help_panel=HOW)] = 1000,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit propensities anew in every replicate.", rich_help_panel=HOW)
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.", rich_help_panel=HOW)] = 0,
    threads: Annotated[
        int | None, typer.Option(help="One per core by default; numbers do not depend on it.", rich_help_panel=HOW)
    ] = None,
    json: Json = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table as CSV.", rich_help_panel=OUTPUT)] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write the table as Parquet.", rich_help_panel=OUTPUT)] = None,
    html: Html = None,
    quiet: Quiet = False,
) -> None:
    """Estimate what each model would score if everything had been seen, and say which is better."""
    lists, specs = named("--recs", recs or []), named("--model", model or [])
    predicted = named("--predictions", predictions or [])
    given = (test, train, users, items, mcar, user_features, item_features)
    files = map(Path, [*lists.values(), *predicted.values(), *filter(is_file, specs.values())])
    named_inside = [*specs.values(), *(propensity or []), *(estimator or []), outcome]
    check_outputs(*given, *files, specs=named_inside, json=json, csv=csv, parquet=parquet, html=html)
    called = [*lists, *specs, *predicted]
    if both := [name for name in called if called.count(name) > 1]:
        raise InputError(f"two models are called '{plain(both[0])}'. Give each a name of its own.")
    if not called:
        raise InputError(
            "there is nothing to evaluate: give --recs name=FILE, --predictions name=FILE, --model name=FILE.npz, or "
            "--model name=SPEC with --train."
        )
    for name, source in [*lists.items(), *predicted.items()]:
        if is_file(source):
            raise InputError(
                f"{plain(source)}: an .npz file holds a model, not lists or predictions.\n"
                f"Give it with --model {plain(name)}={plain(source)}."
            )
    mapped, told = column_map(columns), _share(share)
    reading: dict[str, Any] = {"columns": mapped, "feedback": feedback, "invalid": invalid, "duplicates": duplicates}

    from unskew.evaluation import compare_propensities
    from unskew.evaluation import evaluate as run_one

    several = propensity is not None and len(propensity) > 1
    run: Any = compare_propensities if several else run_one
    weighed: dict[str, Any] = (
        {"propensities": propensity} if several else {"propensity": propensity[0] if propensity else None}
    )

    with progress(quiet) as report:
        candidates_by_name: dict[str, Any] = dict(lists)
        for done, (name, source) in enumerate(predicted.items()):
            if report is not None:
                report(f"reading {plain(name)}", done, len(predicted))
            candidates_by_name[name] = _predictions(source, mapped, invalid)
        if specs:
            candidates_by_name |= Ready(train, relevant, told, reading, report).models(specs)
        result = run(
            test,
            candidates_by_name,
            metrics=metric or (["mae"] if predicted and not lists and not specs else ["recall@10"]),
            estimators=estimator,
            **weighed,
            outcome=outcome,
            in_sample=in_sample,
            target=target,
            train=train,
            relevant=relevant,
            users=users,
            items=items,
            share=told,
            mcar=mcar,
            user_features=user_features,
            item_features=item_features,
            refit=refit,
            candidates=candidates,
            drop_seen=drop_seen,
            by=by,
            level=level,
            interval=interval,
            replicates=replicates,
            seed=seed,
            refused=refused,
            threads=threads,
            progress=report,
            **reading,
        )
    result = comparison_with_flags(result) if several else result_with_flags(result)
    if not quiet:
        out.print(result)
    for path in write_outputs(result, json=json, csv=csv, parquet=parquet, html=html):
        if not quiet:
            err.print(f"wrote {path}")


def _predictions(path: str, columns: dict[str, str] | None, invalid: str) -> Any:
    from unskew.alignment.sources import Names
    from unskew.log import read_predictions

    return read_predictions(path, columns=Names(columns).of_predictions, invalid=invalid)  # type: ignore[arg-type]


def _share(text: str | None) -> Any:
    if text is None or text == "users":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--share {plain(text)}: give a number between 0 and 1, or 'users'.") from None
