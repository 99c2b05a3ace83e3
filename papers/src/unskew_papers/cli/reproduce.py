"""``unskew reproduce``: the papers' experiments, ours beside theirs."""

from __future__ import annotations

import os
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

import typer

from unskew import InputError
from unskew.cli import STDOUT, File, QuietAlone, Texts, check_outputs, err, option, out, progress, written
from unskew.core import plain, plain_path, together
from unskew.core.outputs import refuse_same, try_drawing, try_filling

if TYPE_CHECKING:
    from rich.table import Table

    from unskew_papers.record import Record
    from unskew_papers.study import Study
    from unskew_papers.tables import Table as Cells

STUDIES = ("schnabel16", "saito20", "carraro20", "jeunen18", "gs23", "coat-truth", "anchored")
WIDEST = 14  # columns that a terminal has room for


def reproduce(
    study: Annotated[str, typer.Argument(help=f"The study: {', '.join(STUDIES)}.")],
    experiments: Annotated[
        Texts, typer.Argument(help="Tables and figures (table1, figure2, …); all by default.")
    ] = None,
    quick: Annotated[bool, option("Fewer runs: a look in a few minutes.", None, "--quick")] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="How many runs; the paper's number by default.")] = None,
    json: Annotated[File, option("Write all records to one JSON file.")] = None,
    output: Annotated[
        File,
        option(
            "Folder for records, charts and the page; without it they are only printed.",
            None,
            *("--output", "--out", "-o"),
        ),
    ] = None,
    store: Annotated[File, option("Where finished runs are kept; by default in the user's cache.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at once; one per core by default.")] = None,
    quiet: QuietAlone = False,
) -> None:
    """Run a paper's experiments again: ours beside theirs, with deviations and verdicts. A stopped run continues."""
    from unskew.core import Store
    from unskew.log.datasets.places import cache
    from unskew_papers.page import paths, save, write_page
    from unskew_papers.record import write_json
    from unskew_papers.tables import summary, tables

    found = _study(study)
    chosen = [found.find(name) for name in experiments] if experiments else list(found.experiments)
    if json == STDOUT:
        raise InputError("--json -: the records of a study go to a file; give its name.", code="conflicting-arguments")
    check_outputs(json=json)
    if output is not None:
        try_filling(output)
        try_drawing()
        files = [(plain_path(path), path) for path in paths(found, chosen, output)]
        refuse_same(files + ([] if json is None else [(f"--json {plain_path(json)}", json)]), [])
    folder = store or cache() / "studies" / found.name
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(
            f"--store {plain_path(folder)}: finished runs are kept in a folder, and this is a file.",
            code="not-a-folder",
        )
    setting = found.setting(
        Store(folder, found.version, tell=lambda message: err.print(message)),
        workers or os.cpu_count() or 1,
    )
    everything: list[Record] = []
    for experiment in chosen:
        with progress(quiet) as report:
            report(f"{experiment.name}: making the world", 0, 1)
            count = runs or (experiment.quick_runs if quick else experiment.runs)
            records = experiment.run(setting, count, quick, report)
        everything += records
        saved = [] if output is None else save(found, experiment, records, output, quick=quick)
        if not quiet:
            out.print(f"\n{experiment.title}", style="bold")
            out.print(f"{summary(records)}.\n")
            if quick:
                less = f"; {experiment.quick}" if experiment.quick else ""
                out.print(f"Quick: {count} of {experiment.runs} runs{less}.\n")
            for table in tables(records):
                out.print(_table(table) if len(table.head) <= WIDEST else f"{table.title}: {_in_file(table)}\n")
        written(saved, quiet)
    with together():
        pages = [] if output is None else [write_page(found, output)]
        if json is not None:
            write_json(json, everything, {"study": found.name, "quick": quick})
            pages.append(json)
    written(pages, quiet)
    if output is None and not quiet:
        asked = "".join(f" {experiment.name}" for experiment in chosen) if experiments else ""
        told = f"{' --quick' if quick else ''}{f' --runs {runs}' if runs else ''}{f' --store {store}' if store else ''}"
        err.print(
            f"finished runs are kept in {folder}; tables, charts and the page are written by: "
            f"unskew reproduce {found.name}{asked}{told} --out docs/reproduction",
            soft_wrap=True,
        )


def _in_file(cells: Cells) -> str:
    return f"{len(cells.rows)} × {len(cells.head) - 1} numbers, which a picture shows; --out FOLDER writes both."


def _study(name: str) -> Study:
    if name not in STUDIES:
        raise InputError(f"there is no study called '{plain(name)}'. Known: {', '.join(STUDIES)}.", code="unknown-name")
    module = name.replace("-", "_")
    study: Study = import_module(f"unskew_papers.{module}.study").STUDY
    return study


def _table(cells: Cells) -> Table:
    """A table for the terminal, where rules have no room: what is missed or fails is red."""
    from rich.table import Table

    shown = [n for n, name in enumerate(cells.head) if name != "rule"]
    table = Table(title=cells.title, title_justify="left")
    for n in shown:
        table.add_column(cells.head[n], justify="right" if cells.right(n) else "left")
    for row, after in zip_longest(cells.rows, cells.rows[1:]):
        bad = row[-1].startswith(("missed", "fails")) or (cells.head[-1] == "fails at" and row[-1] != "–")
        group = "rule" in cells.head and (after is None or after[0] != row[0])
        table.add_row(*(row[n] for n in shown), style="red" if bad else None, end_section=group)
    return table
