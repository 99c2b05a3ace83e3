"""Any document as one self-contained page, and as a small piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from unskew import __version__
from unskew.core.errors import UnskewError
from unskew.report import document as doc
from unskew.report.choices import classes_of, number_of, row_classes, rules
from unskew.report.svg import converter, draw
from unskew.report.table_width import width_of

if TYPE_CHECKING:
    from jinja2 import Environment

# Whatever slipped into a page, the browser would run no script and load nothing; the icon is an empty one.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
NOTEBOOK_ROWS = 30
NOTEBOOK_WIDTH = 140  # of a terminal with as many columns


def page(document: doc.Document, written: Mapping[str, Any] | None = None) -> str:
    """The whole document as one HTML page that loads nothing from anywhere.

    Args:
        written: date, command and versions, for the foot of the page (``unskew.core.provenance``).
    """
    converter()
    sections = list(_sections(document.body))
    choices = [choice for choice in document.choices if len(choice.values) > 1]
    context = {
        "css": _markup(_text("page.css")),
        "stacked": _markup(_text("stacked.css")),
        "widths": sorted({width_of(table) for table in _tables((*document.summary, *document.body))} - {0}),
        "rules": _markup(rules(choices)),
        "choices": choices,
        "policy": POLICY,
        "version": __version__,
        "document": document,
        "sections": sections,
        "written": written,
    }
    return _environment().get_template("page.html.j2").render(context)


def notebook(document: doc.Document) -> str:
    """What a terminal shows, as a piece of HTML without scripts."""
    shown = doc.shown_in(doc.Medium.BRIEF, (*document.summary, *document.body))
    return _environment().get_template("notebook.html.j2").render(title=document.title, shown=shown, most=NOTEBOOK_ROWS)


def _text(name: str) -> str:
    return files("unskew.report").joinpath(name).read_text(encoding="utf-8")


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
    filters: dict[str, Callable[..., Any]] = {
        "kind": lambda block: type(block).__name__,
        "on_page": _on_page,
        "svg": lambda chart: _markup(draw(chart)),
        "inline_svg": _inline_svg,
        "brief": _brief,
        "fits": width_of,
        "choices": classes_of,
        "row_choices": row_classes,
        "number": number_of,
    }
    found.filters |= filters
    return found


def _markup(text: str) -> Any:
    """Text that is already markup: our own style sheet and our own charts, nothing else."""
    from markupsafe import Markup

    return Markup(text)


def _inline_svg(chart: doc.Chart) -> Any:
    """A chart in a notebook; nothing where the extra that draws is not installed: tables say the same."""
    try:
        return _markup(draw(chart).replace("<svg ", '<svg style="overflow:visible" ', 1))
    except UnskewError:
        return ""


def _on_page(blocks: Sequence[doc.Block]) -> list[doc.Block]:
    return doc.shown_in(doc.Medium.PAGE, blocks)


def _sections(blocks: Sequence[doc.Block]) -> Iterator[doc.Section]:
    """The sections of a page, for its menu."""
    for block in _on_page(blocks):
        if isinstance(block, doc.Section):
            yield block
        elif isinstance(block, doc.SideBySide):
            yield from _sections(block.sections)


def _tables(blocks: Sequence[doc.Block]) -> Iterator[doc.Table]:
    """All tables of a page."""
    for block in _on_page(blocks):
        if isinstance(block, doc.Table):
            yield block
        elif isinstance(block, doc.Tables):
            yield from block.tables
        elif isinstance(block, doc.Section | doc.Folded):
            yield from _tables(block.blocks)
        elif isinstance(block, doc.SideBySide):
            yield from _tables(block.sections)


def _brief(block: doc.Table | doc.Tables) -> list[doc.Table]:
    """The tables of a notebook: those that belong together are one, with columns that say of what each row is."""
    if isinstance(block, doc.Table):
        return [_narrow(block)]
    if not block.facets:
        return [_narrow(table) for table in block.tables]
    told = [place for place in range(len(block.facets)) if any(table.facet[place] for table in block.tables)]
    names = tuple(doc.Column(block.facets[place], "name") for place in told)
    rows = tuple((*(table.facet[place] for place in told), *row) for table in block.tables for row in table.rows)
    return [_narrow(doc.Table(block.title, "", names + block.tables[0].columns, rows))]


def _narrow(table: doc.Table) -> doc.Table:
    """A table with the columns of a terminal."""
    there = [place for place, column in enumerate(table.columns) if NOTEBOOK_WIDTH in column.terminal]
    rows = tuple(tuple(row[place] for place in there) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in there), rows=rows)
