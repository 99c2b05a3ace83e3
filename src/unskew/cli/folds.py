"""What the commands share that fit models fold by fold: their options, how models are named, where folds are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from unskew.cli import requirements
from unskew.cli.console import progress
from unskew.cli.evaluate import DUPLICATES, METRICS, TARGETS
from unskew.cli.flags import messages_with_flags
from unskew.cli.options import HOW, INPUTS, OUTPUT, WHAT, File, Text, Texts, check_outputs, column_map, option
from unskew.core.errors import InputError
from unskew.core.text import plain, plain_path

MODELS = 'What is fitted on every fold: "item_knn(neighbours=50)", or name="item_knn(neighbours=50)". Repeat.'
PROPENSITIES = '"popularity(gamma=1)", counted on the training rows of each fold; known, a column of the log; …'
WORKERS = "Folds at once; one per core by default, fewer where memory is short. Numbers do not depend on it."

Models = Annotated[Texts, option(MODELS, INPUTS)]
Candidates = Annotated[Text, option("What may be recommended: unseen items (default) or all.", INPUTS)]
Duplicates = Annotated[Text, option(DUPLICATES, INPUTS)]
Metrics = Annotated[Texts, option(METRICS, WHAT)]
Propensity = Annotated[Text, option(PROPENSITIES, WHAT)]
Targets = Annotated[Texts, option(TARGETS, WHAT)]
Average = Annotated[str, option("How folds are put together: macro (their mean) or pooled (all rows).", HOW)]
Store = Annotated[File, option("Folder that keeps finished folds for the next run.", HOW)]
Workers = Annotated[int | None, option(WORKERS, HOW)]
Csv = Annotated[File, option("Write the table as CSV.", OUTPUT)]

OUTPUTS = ("json", "csv", "parquet", "html")
FILES = ("log", "items", "mcar", "user_features", "item_features")
_NAMED = re.compile(r"([^()=]*)=(.*)", re.DOTALL)  # a name comes before any bracket


def judge(load: Callable[[], Callable[..., Any]], given: dict[str, Any], *, left: bool = False) -> int:
    """Hand a command's options to the function of Python with the same arguments, then show and write what it gives.

    Gives back the exit code.

    Args:
        load: imports that function, which takes a while and is not needed to refuse wrong options.
        given: the options; ``model``, ``metric`` and ``estimator`` are repeated ones, with plural names in Python.
        left: whether to show how long it will still take, where steps take about equally long.
    """
    required = given.pop("require", None) or []
    quiet, outputs = given.pop("quiet"), {kind: given.pop(kind) for kind in OUTPUTS if kind in given}
    models, metric, estimator = models_of(given.pop("model")), given.pop("metric"), given.pop("estimator")
    specs = [*models.values(), *(estimator or []), given.get("propensity"), given.get("outcome")]
    check_outputs(*(given.get(name) for name in FILES), specs=specs, **outputs)
    check_store(given["store"])
    given |= {"models": models, "columns": column_map(given["columns"]), "metrics": metric or ["recall@10"]}
    requirements.check(required, models, given["metrics"])
    if estimator:
        given["estimators"] = estimator
    run = load()
    with requirements.refusals_undecided(required), progress(quiet, left=left) as report:
        found = run(**given, progress=report)
    return requirements.show_and_write(messages_with_flags(found), required, quiet, **outputs)


def models_of(given: list[str] | None) -> dict[str, str]:
    """``name=SPEC`` or ``SPEC``, which names itself."""
    found: dict[str, str] = {}
    for text in given or []:
        match = _NAMED.fullmatch(text)
        name, spec = (match[1].strip(), match[2].strip()) if match else (text.strip(), text.strip())
        if not name or not spec:
            raise InputError(
                f'--model {plain(text)}: write --model "item_knn(neighbours=50)", or --model name=SPEC.',
                code="bad-string",
            )
        if spec.lower().endswith(".npz") or Path(spec).is_file():
            raise InputError(
                f"--model {plain(text)}: every fold fits its models anew, and a file holds one that has seen the "
                'future of most folds.\nGive a canonical string such as "item_knn(neighbours=50)".',
                code="not-supported",
            )
        if name in found:
            raise InputError(
                f"--model {plain(text)}: two models are called '{plain(name)}'. Give each a name of its own.",
                code="repeated-name",
            )
        found[name] = spec
    if not found:
        raise InputError(
            "there is nothing to fit: give at least one model, --model most_popular.", code="missing-argument"
        )
    return found


def check_store(folder: Path | None) -> None:
    """Refuse a file in the place of a folder."""
    if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(
            f"--store {plain_path(folder)}: finished folds are kept in a folder, and this is a file.",
            code="not-a-folder",
        )
