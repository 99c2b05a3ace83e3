"""``unskew plan``: how many answers decide between models, and the pairs to ask about as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unskew.cli import options
from unskew.cli.console import err, progress
from unskew.cli.console import out as console
from unskew.cli.evaluate import DUPLICATES
from unskew.cli.flags import with_flags
from unskew.cli.models import Sources
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
    piped,
    share_of,
    write_outputs,
    written,
)
from unskew.core.atomic import together
from unskew.core.errors import InputError
from unskew.core.outputs import refuse_same, try_writing
from unskew.core.text import plain, plain_path

DETECT = "The difference to detect: a number (0.01), a share ('5%'), or log: as large as the log suggests."
SO_FAR = "The file of the last round, with answers in a column value: plans the next round."
FIXED = "People would answer logged positives as they were logged: draw pairs outside the log only."
OUTCOMES = 'How relevant pairs probably are: "logistic_mf(dim=10)", "means(shrink=10)", "given(FILE)", …'
MODELS = 'name="item_knn(neighbours=50)": fitted on --seen, as evaluate fits it on --train. name=FILE.npz. Repeat.'
SHARE = "How the logs were split (evaluate --share), for models that are fitted with propensities."
UNIFORM = "Share of the draw that is spread evenly over all candidates, to estimate values; 0: verdicts only."


def plan(
    log: Annotated[Path, typer.Argument(help="Held-out log: user, item[, value].")],
    recs: Annotated[Texts, option("name=FILE: lists as user, item, rank[, score]. Repeat.", INPUTS)] = None,
    model: Annotated[Texts, option(MODELS, INPUTS)] = None,
    seen: Annotated[File, option("What users had before (the training log): never drawn.", INPUTS)] = None,
    users: Annotated[File, option("The population: user.", INPUTS)] = None,
    items: Annotated[File, option("Further items of the catalogue: item.", INPUTS)] = None,
    not_items: Annotated[File, option("Items that may not be shown: item.", INPUTS)] = None,
    not_users: Annotated[File, option("Users who may not be asked: user.", INPUTS)] = None,
    answers_so_far: Annotated[File, option(SO_FAR, INPUTS)] = None,
    fixed_relevance: Annotated[bool, option(FIXED, INPUTS, "--fixed-relevance")] = False,
    columns: options.Columns = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    invalid: options.Invalid = "error",
    duplicates: Annotated[Text, option(DUPLICATES, INPUTS)] = None,
    share: Annotated[Text, option(SHARE, INPUTS)] = None,
    metric: Annotated[str, option("A sum over items: recall@10, dcg@10, …", WHAT)] = "recall@10",
    detect: Annotated[str, option(DETECT, WHAT)] = "log",
    power: Annotated[float, option("Wanted probability of a right verdict.", WHAT)] = 0.8,
    level: Annotated[float, option("Level of verdicts, 0.5 to 0.9999.", WHAT)] = 0.95,
    users_are: Annotated[str, option("sampled (verdicts for users like these) or fixed.", WHAT)] = "sampled",
    each_pair: Annotated[
        bool, option("Hold the level for each pair of models alone (1.96).", WHAT, "--each-pair")
    ] = False,
    outcome: Annotated[Text, option(OUTCOMES, HOW)] = None,
    draw: Annotated[int | None, option("Draw about this many pairs to ask about; needs --out.", HOW)] = None,
    seed: Annotated[int, option("Seed of the draw.", HOW)] = 0,
    per_user: Annotated[int | None, option("At most this many pairs of a user in a round.", HOW)] = None,
    uniform: Annotated[float, option(UNIFORM, HOW)] = 0.25,
    rounds: Annotated[int, option("How often you will look at answers; declare it before the first draw.", HOW)] = 1,
    threads: Annotated[
        int | None, option("Threads, one per core by default; results do not depend on it.", HOW)
    ] = None,
    output: Annotated[File, option("The pairs to ask about: .parquet or .csv.", OUTPUT, "--out", "-o")] = None,
    json: options.Json = None,
    csv: Annotated[File, option("Write the table as CSV.", OUTPUT)] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Say how many answers decide between models, and draw the pairs to ask about."""
    sources = Sources.of(recs, model, None)
    read = (log, seen, users, items, not_items, not_users, answers_so_far, *sources.files)
    check_outputs(*read, specs=[*sources.specs.values(), outcome], json=json, csv=csv, html=html)
    _check_draw(draw, output, [path for path in read if path is not None])
    files = [("--out", output), ("--json", None if piped(json) else json), ("--csv", csv), ("--html", html)]
    refuse_same([(f"{name} {plain_path(path)}", path) for name, path in files if path is not None], [])
    if len(sources.names) < 2:
        raise InputError(
            "a plan compares models: give two or more, --recs a=FILE --recs b=FILE or --model name=SPEC.",
            code="too-few-models",
        )
    reading = {"columns": column_map(columns), "feedback": feedback, "relevant": relevant}
    reading |= {"invalid": invalid, "duplicates": duplicates}
    sources.check()

    from unskew.design.run import plan as run

    with progress(quiet) as report:
        models = sources.ready({"train": seen, "share": share_of(share), **reading}, report, "--seen")
        found = run(
            models,
            log=log,
            seen=seen,
            detect=detect,
            power=power,
            metric=metric,
            outcome=outcome,
            uniform=uniform,
            per_user=per_user,
            not_users=not_users,
            not_items=not_items,
            users=users,
            items=items,
            users_are=users_are,  # type: ignore[arg-type]  # checked there
            level=level,
            simultaneous=not each_pair,
            rounds=rounds,
            answers=answers_so_far,
            fixed_relevance=fixed_relevance,
            **reading,  # type: ignore[arg-type]  # checked there
            threads=threads,
            progress=report,
        )
        drawn = None if draw is None else found.draw(draw, seed)
    found = replace(found, notes=tuple(with_flags(note) for note in found.notes))
    with together():
        if drawn is not None and output is not None:
            drawn.write(output)
        write_outputs(found, json=json, csv=csv, html=html)
    if not (quiet or piped(json)):
        console.print(found)
        if drawn is not None:
            err.print(f"drew {drawn.new:,} pairs to ask about ({draw:,} on average over seeds)")
    written([path for _, path in files if path is not None], quiet)


def _check_draw(draw: int | None, output: Path | None, inputs: list[Path]) -> None:
    if (draw is None) != (output is None):
        raise InputError(
            "--draw says how many pairs to draw and --out where to write them: give both, or neither.",
            code="missing-argument",
        )
    if output is None or draw is None:
        return
    if draw < 1:
        raise InputError(f"--draw {draw}: a draw has at least one pair.", code="out-of-range")
    if output.suffix.lower() not in (".parquet", ".pq", ".csv"):
        raise InputError(
            f"--out {plain(output)}: the file's name should end in .parquet or .csv.", code="wrong-extension"
        )
    try_writing(output)
    refuse_same([(f"--out {plain_path(output)}", output)], inputs)
