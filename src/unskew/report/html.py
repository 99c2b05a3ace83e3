"""Any document as one self-contained page, and as a small piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from unskew.report import document as doc
from unskew.report.svg import converter, draw

if TYPE_CHECKING:
    from jinja2 import Environment

# Whatever slipped into a page, the browser would run no script and load nothing; the icon is an empty one.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
NOTEBOOK_ROWS = 30
NOTEBOOK_WIDTH = 140  # of a terminal with as many columns


def page(document: doc.Document) -> str:
    """The whole document as one HTML page that loads nothing from anywhere."""
    converter()
    context = {
        "css": _markup(files("unskew.report").joinpath("page.css").read_text(encoding="utf-8")),
        "policy": POLICY,
        "version": _our_version(),
        "document": document,
        "sections": list(_sections(document.body)),
    }
    return _environment().get_template("page.html.j2").render(context)


def notebook(document: doc.Document) -> str:
    """What a terminal shows, as a piece of HTML without scripts."""
    shown = doc.shown_in(doc.Medium.BRIEF, (*document.summary, *document.body))
    return _environment().get_template("notebook.html.j2").render(title=document.title, shown=shown)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("unskew.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    found.filters |= {"kind": _kind, "on_page": _on_page, "svg": _svg, "grids": _grids}
    return found


def _markup(text: str) -> Any:
    """Text that is already markup: our own style sheet and our own charts, nothing else."""
    from markupsafe import Markup

    return Markup(text)


def _kind(block: Any) -> str:
    return type(block).__name__


def _svg(chart: doc.Chart) -> Any:
    return _markup(draw(chart))


def _on_page(blocks: Sequence[doc.Block]) -> list[doc.Block]:
    return doc.shown_in(doc.Medium.PAGE, blocks)


def _sections(blocks: Sequence[doc.Block]) -> Iterator[doc.Section]:
    """The sections of a page, for its menu."""
    for block in _on_page(blocks):
        if isinstance(block, doc.Section):
            yield block
        elif isinstance(block, doc.SideBySide):
            yield from block.sections


@dataclass(frozen=True)
class _Grid:
    """A table as a notebook shows it."""

    name: str
    note: str
    labels: list[str]
    rows: list[list[str | doc.Cell]]
    hidden: int
    footnotes: tuple[str, ...]


def _grids(block: doc.Table | doc.Tables) -> list[_Grid]:
    """Tables that belong together are one, with columns that say of what each row is."""
    if isinstance(block, doc.Table) or not block.facets:
        return [_grid([table]) for table in (block.tables if isinstance(block, doc.Tables) else (block,)) if table.rows]
    return [_grid(list(block.tables), block.title, block.facets)]


def _grid(tables: list[doc.Table], title: str = "", facets: Sequence[str] = ()) -> _Grid:
    told = [place for place in range(len(facets)) if any(table.facet[place] for table in tables)]
    there = [place for place, column in enumerate(tables[0].columns) if NOTEBOOK_WIDTH in column.terminal]
    labels = [*(facets[place] for place in told), *(tables[0].columns[place].label for place in there)]
    rows: list[list[str | doc.Cell]] = [
        [*(table.facet[place] for place in told), *(row[place] for place in there)]
        for table in tables
        for row in table.rows
    ]
    first, hidden = tables[0], max(len(rows) - NOTEBOOK_ROWS, 0)
    name, note = (title, "") if title else (first.name, first.note)
    return _Grid(name, note, labels, rows[:NOTEBOOK_ROWS], hidden, first.footnotes)


def _our_version() -> str:
    try:
        return version("unskew")
    except PackageNotFoundError:
        return ""
