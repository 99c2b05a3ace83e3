"""The page of a study, in Markdown, made from the records that lie in a folder: whatever was run there last.

‹study›-‹experiment›.json, .csv      records
‹study›-‹experiment›-‹part›.svg      charts
‹study›.md                           the page
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unskew.atomic import folder as made
from unskew.atomic import together, write_text
from unskew.studies.charts import draw
from unskew.studies.record import Record, Verdict, read_json, write_csv, write_json
from unskew.studies.study import Chart, Experiment, Study
from unskew.studies.tables import Table, asked, number, summary, tables

WRITTEN = (
    "The commands print their tables; with `--out docs/reproduction` they also write records, charts and this page. A "
    "claim is undecided where the margin by which it holds or fails is within two of its standard errors over runs, "
    "both its numbers being taken from the same runs."
)
SHORT = 12  # longer tables are folded away


def paths(study: Study, experiments: Sequence[Experiment], folder: Path) -> list[Path]:
    """The files of these experiments and of the page."""
    found = [path for experiment in experiments for path in _paths(study, experiment, folder)]
    return [*dict.fromkeys(found), folder / f"{study.name}.md"]


def save(study: Study, experiment: Experiment, records: Sequence[Record], folder: Path, *, quick: bool) -> list[Path]:
    """Write what an experiment gave, all of it or nothing; gives back the paths."""
    json, csv, *pictures = written = _paths(study, experiment, made(folder))
    with together():
        write_json(json, records, {"study": study.name, "experiment": experiment.name, "quick": quick})
        write_csv(csv, records)
        for chart, picture in zip(experiment.charts, pictures, strict=True):
            draw(chart, records, picture)
    return written


def write_page(study: Study, folder: Path) -> Path:
    """The page of all experiments whose records lie in the folder."""
    path = folder / f"{study.name}.md"
    lines = [f"# {study.name}: {study.title}", "", study.story.strip(), "", WRITTEN, ""]
    for experiment in study.experiments:
        found = folder / f"{study.name}-{experiment.name}.json"
        if found.is_file():
            records, about = read_json(found)
            lines += _section(study, experiment, records, about, folder)
    write_text(path, "\n".join(lines).rstrip() + "\n")
    return path


def _section(
    study: Study, experiment: Experiment, records: Sequence[Record], about: dict[str, Any], folder: Path
) -> list[str]:
    runs = max((record.runs for record in records), default=0)
    quick = " --quick" if about.get("quick") else ""
    usual = experiment.quick_runs if quick else experiment.runs
    told = f"{quick}{'' if runs == usual else f' --runs {runs}'}"
    fewer = f" (in full: {experiment.runs})" if runs < experiment.runs else ""
    lines = [f"## {experiment.title}", "", experiment.story.strip(), ""]
    lines += ["```sh", f"unskew reproduce {study.name} {experiment.name}{told}", "```", ""]
    lines += [f"{runs} run{'s' if runs > 1 else ''}{fewer}. **{summary(records)}.**", ""]
    if bad := [record for record in records if not record.verdict.good]:
        lines += [f"- {_bad(record)}" for record in bad] + [""]
    for chart in experiment.charts:
        picture = _chart_path(study, chart, folder)
        if picture.is_file():
            lines += [f"![{chart.title}]({picture.name})", ""]
    for table in tables(records, glance=True):
        lines += _markdown(table)
    return lines


def _bad(record: Record) -> str:
    chance = ", but within two standard errors" if record.verdict is Verdict.NEARLY else ""
    return f"{record.experiment}, {record.row}, {record.column}: {number(record.ours)} is not {asked(record)}{chance}"


def _markdown(table: Table) -> list[str]:
    marks = ["---:" if table.right(n) else "---" for n in range(len(table.head))]
    lines = [_line(table.head), _line(marks), *(_line(row) for row in table.rows)]
    if len(table.rows) <= SHORT:
        return [f"**{table.title}**", "", *lines, ""]
    return [f"<details><summary>{table.title}</summary>", "", *lines, "", "</details>", ""]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _paths(study: Study, experiment: Experiment, folder: Path) -> list[Path]:
    stem = folder / f"{study.name}-{experiment.name}"
    charts = [_chart_path(study, chart, folder) for chart in experiment.charts]
    return [stem.with_suffix(".json"), stem.with_suffix(".csv"), *charts]


def _chart_path(study: Study, chart: Chart, folder: Path) -> Path:
    return folder / f"{study.name}-{re.sub('[^a-z0-9]+', '-', chart.part.lower())}.svg"
