"""The page of a study, in Markdown, made from the records that lie in a folder: whatever was run there last.

‹study›-‹experiment›.json, .csv      records
‹study›-‹experiment›-‹part›.svg      charts
‹study›.md                           the page

A chart is an SVG file: lines over x with a band of two standard errors, both axes logarithmic; or boxes of runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unskew import MissingExtraError
from unskew.core import atomic_file, together, write_text
from unskew.core import folder as made
from unskew_papers.origin import made_here, where
from unskew_papers.record import Record, Verdict, read_json, write_csv, write_json
from unskew_papers.study import Chart, Experiment, Study
from unskew_papers.tables import Table, asked, number, summary, tables

COLOURS = ("#2458d3", "#0d8a72", "#a3339b", "#c2410c", "#4d7c0f", "#6d28d9")
NAIVE = "#8a6d3b"
INK, SOFT, GRID = "#1f2430", "#626a7a", "#e3e6ec"
WRITTEN = (
    "The commands print their tables; with `--out docs/reproduction` they also write records, charts and this page. A "
    "claim is undecided where the margin by which it holds or fails is within two of its standard errors over runs, "
    "both its numbers being taken from the same runs."
)
SHORT = 12  # longer tables are folded away


def draw(chart: Chart, records: Sequence[Record], path: str | Path) -> None:
    """Draw one part of an experiment."""
    try:
        import altair as alt
        import vl_convert
    except ImportError:
        raise MissingExtraError("a study's chart", "report") from None
    shown = [record for record in records if record.experiment == chart.part]
    found, rows = (_boxes if chart.boxes else _lines)(alt, chart, shown)
    styled = (
        found.properties(width=420, height=260, title=chart.title)
        .configure(background="white", padding=8)
        .configure_axis(labelColor=SOFT, titleColor=INK, gridColor=GRID, domainColor=GRID, tickColor=GRID)
        .configure_view(stroke=None)
        .configure_title(color=INK, fontSize=13, anchor="start")
    )
    spec: dict[str, Any] = styled.to_dict(validate=False) | {"datasets": {"rows": rows}}
    with atomic_file(path) as temporary:
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False)
        temporary.write_text(svg, encoding="utf-8")


def _lines(alt: Any, chart: Chart, shown: Sequence[Record]) -> tuple[Any, list[dict[str, Any]]]:
    """Lines over x with a band of two standard errors."""
    names = list(dict.fromkeys(record.column for record in shown))
    rows = [_datum(record) for record in shown]
    colours = [NAIVE if name == "naive" else COLOURS[n % len(COLOURS)] for n, name in enumerate(names)]
    legend = alt.Legend(title=None, symbolType="circle", symbolOpacity=1.0)
    axis = alt.Axis(values=sorted({row["x"] for row in rows}), format=",~r", labelOverlap=True)
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:Q", scale=alt.Scale(type="log", nice=False), title=chart.x, axis=axis),
        color=alt.Color("line:N", scale=alt.Scale(domain=names, range=colours), sort=names, legend=legend),
    )
    y = alt.Y("y:Q", scale=alt.Scale(type="log"), title=chart.y)
    low = alt.Y("low:Q", scale=alt.Scale(type="log"), title=chart.y)
    band = base.mark_area(opacity=0.18).encode(y=low, y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=alt.StrokeDash("line:N", sort=names, legend=None))
    points = base.mark_point(filled=True, size=36, opacity=1).encode(y=y)
    return band + line + points, rows


def _boxes(alt: Any, chart: Chart, shown: Sequence[Record]) -> tuple[Any, list[dict[str, Any]]]:
    """A box per row: the middle half of the runs with their median, whiskers to the outermost, and every run."""
    names = list(dict.fromkeys(record.row for record in shown))
    rows = [{"box": record.row, "y": record.ours} for record in shown]
    x = alt.X("box:N", sort=names, title=chart.x, axis=alt.Axis(labelAngle=0, labelOverlap=False))
    y = alt.Y("y:Q", scale=alt.Scale(zero=False), title=chart.y)
    base = alt.Chart(alt.NamedData("rows")).encode(x=x, y=y)
    box = base.mark_boxplot(extent="min-max", size=22, color=COLOURS[0], opacity=0.35, median={"color": INK})
    return box + base.mark_point(filled=True, size=10, opacity=0.7, color=INK), rows


def _datum(record: Record) -> dict[str, Any]:
    error = record.se if record.se is not None and math.isfinite(record.se) else 0.0
    low = max(record.ours - 2.0 * error, record.ours / 10.0)  # a logarithmic axis has no zero
    x = float(record.row.replace(",", ""))
    return {"x": x, "y": record.ours, "low": low, "high": record.ours + 2.0 * error, "line": record.column}


def paths(study: Study, experiments: Sequence[Experiment], folder: Path) -> list[Path]:
    """The files of these experiments and of the page."""
    found = [path for experiment in experiments for path in _paths(study, experiment, folder)]
    return [*dict.fromkeys(found), folder / f"{study.name}.md"]


def save(study: Study, experiment: Experiment, records: Sequence[Record], folder: Path, *, quick: bool) -> list[Path]:
    """Write what an experiment gave, all of it or nothing; gives back the paths."""
    json, csv, *pictures = written = _paths(study, experiment, made(folder))
    with together():
        about = {"study": study.name, "experiment": experiment.name, "quick": quick, **made_here()}
        write_json(json, records, about)
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
    lines += [f"{runs} run{'s' if runs > 1 else ''}{fewer}{where(about)}. **{summary(records)}.**", ""]
    if bad := [record for record in records if not record.verdict.good]:
        lines += [f"- {_bad(record)}" for record in bad] + [""]
    for chart in experiment.charts:
        picture = _chart_path(study, chart, folder)
        if picture.is_file():
            lines += [f"![{chart.title}]({picture.name})", ""]
    for table in tables(records, glance=True):
        lines += _markdown(table, experiment.folded)
    return lines


def _bad(record: Record) -> str:
    chance = ", but within two standard errors" if record.verdict is Verdict.NEARLY else ""
    return f"{record.experiment}, {record.row}, {record.column}: {number(record.ours)} is not {asked(record)}{chance}"


def _markdown(table: Table, folded: bool) -> list[str]:
    marks = ["---:" if table.right(n) else "---" for n in range(len(table.head))]
    lines = [_line(table.head), _line(marks), *(_line(row) for row in table.rows)]
    if len(table.rows) <= SHORT or not folded:
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
