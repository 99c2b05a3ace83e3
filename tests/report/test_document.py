"""Any document in any medium: plain data in, and what a medium cannot show is left out."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from unskew.report import document as doc
from unskew.report import document_of, html, page, terminal
from unskew.result import MetricTraits, Result

from .reading import Reader

EVIL = "<script>alert(1)</script>"
DOTS = {
    "mark": "point",
    "data": {"name": "rows"},
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
    "width": 100,
    "height": 50,
}
TABLE = doc.Table(
    "prices",
    "in euros",
    (
        doc.Column("kind", "name", once=True),
        doc.Column("price", strong=True),
        doc.Column("why", "aside", terminal=doc.NEVER),
        doc.Column("seen", "tag", page=False, terminal=doc.WIDE),
    ),
    (
        ("tea", "1", "leaves", doc.Cell("yes", "better")),
        ("tea", "2", "more leaves", doc.Cell("no", "worse", "coffee", "Coffee says yes.", note=1)),
        (EVIL, "3", "beans", doc.Cell("yes", "better", doubt=True)),
    ),
    footnotes=("tea is rare",),
)
EVERY: tuple[doc.Block, ...] = (
    doc.Sentences(tuple(doc.Sentence.plain(f"line {n}", "note") for n in range(5)), "Lines", 3, "more", "elsewhere"),
    TABLE,
    doc.Tables(
        (replace(TABLE, facet=("shop a",)), replace(TABLE, facet=("shop b",))), "Shops", ("shop",), 1, ".shops()"
    ),
    doc.Sparks("Shape", (doc.Spark("cups", "per day", ("1", "9"), (1, 4, 2)),)),
    doc.Steps("Next", (("Boil water.", "kettle --on --degrees 100"), ("Wait.", None))),
    doc.Section(
        "cards",
        "Cards",
        (
            doc.Cards(
                (
                    doc.Chart("Dots", "a note", "dots in words", DOTS, {"rows": [{"x": 1}]}),
                    doc.Bars("Cups", (("1", "5", "100.0"),)),
                    doc.Entry("Tree", children=(doc.Entry("leaf", "green"),)),
                ),
                (doc.Legend("Colours", (doc.Swatch("plain", "#000000"),)),),
            ),
            doc.Folded("Hidden", "a little", (doc.Paragraph("inside", "basis"),)),
        ),
        "What cards are.",
        "Menu name",
    ),
    doc.SideBySide((doc.Section("left", "Left", (doc.Facts((("cups", "7"),)),)),)),
    doc.Section("glossary", "Glossary", (doc.Glossary((("tea", "A drink."),)),)),
)
DRINKS = doc.Document(
    doc.Sentence((doc.Span("Tea", "name"), doc.Span(" is served. "), doc.Span("Beware: hot.", "flag"))),
    (
        doc.Paragraph("It is four o'clock.", "opening"),
        doc.Callout("Doubts", ("Is it?",), "doubt"),
        doc.Callout("Warnings", ("Do not spill.",), "warning"),
    ),
    EVERY,
    subtitle="green",
)


def printed(shown: doc.Document, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(terminal.panel(shown))
    return file.getvalue()


def test_a_page_shows_every_kind_of_block() -> None:
    """Sections, menus, charts, trees, tables with repeated names and footnotes; and names stay text."""
    text = html.page(DRINKS)
    assert EVIL not in text and "Content-Security-Policy" in text
    for piece in (
        "line 4",
        "2 more",
        "Menu name",
        "dots in words",
        "leaf",
        "inside",
        "Do not spill.",
        "A drink.",
        "more leaves",
    ):
        assert piece in text
    assert '<a href="#left">Left</a>' in text and 'class="again"' in text and "tea is rare" in text
    rows = Reader(text).rows("sheet")
    assert [(row["kind"], row["price"]) for row in rows[:3]] == [("tea", "1"), ("tea", "2"), (EVIL, "3")]
    assert all("seen" not in row for row in rows)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_shows_what_it_can(width: int) -> None:
    """No charts and no glossary; columns by the width; warnings last; names once."""
    text = printed(DRINKS, width)
    assert max(map(len, text.splitlines())) <= width
    assert "… and 2 more: elsewhere" in text and "▂█▄" in text
    assert text.index("Do not spill.") > text.index("Next")
    assert "A drink." not in text and "dots in words" not in text and "leaves" not in text
    assert ("no (1) ≠" in text) == ("yes ?" in text) == (width >= 100)
    assert text.count("shop b") == 1


def test_a_notebook_shows_what_a_terminal_shows() -> None:
    """As HTML without a script, a style sheet or a chart."""
    text = html.notebook(DRINKS)
    assert "<script" not in text and "<svg" not in text and "<style" not in text
    for piece in ("line 2", "elsewhere", "shop b", "kettle --on", "no (1) ≠", "tea is rare"):
        assert piece in text
    assert "leaves" not in text and "A drink." not in text


def test_what_is_empty_is_not_shown() -> None:
    """Nor a section that has nothing to show in a medium."""
    empty: tuple[doc.Block, ...] = (
        doc.Sentences(()),
        doc.Paragraph("", "basis"),
        doc.Cards(()),
        replace(TABLE, rows=()),
        doc.Section("a", "A", (doc.in_brief(TABLE),)),
    )
    assert doc.shown_in(doc.Medium.PAGE, empty) == []
    assert doc.shown_in(doc.Medium.BRIEF, empty) == [TABLE]
    assert doc.shown_in(doc.Medium.PAGE, (doc.on_page(TABLE), doc.in_brief(DRINKS.summary[0]))) == [TABLE]


def test_documents_are_plain_data(many: Result, segmented: Result) -> None:
    """The same result gives the same document, and all of it can be written down."""
    for result in (many, segmented):
        assert document_of(result) == document_of(result)
        json.dumps(asdict(document_of(result)), default=str)


def test_no_canonical_string_is_read_again(two: Result) -> None:
    """What the page must know of a metric that only its author knows stands in the result."""

    def own(text: str) -> str:
        return text.replace("recall@10", "secret(x=1)@3")

    estimates = tuple(replace(e, metric=own(e.metric)) for e in two.estimates)
    verdicts = tuple(replace(v, metric=own(v.metric)) for v in two.verdicts_)
    traits = {"secret(x=1)@3": MetricTraits(lower_is_better=True)}
    shown = page(replace(two, estimates=estimates, verdicts_=verdicts, traits=traits))
    assert "secret(x=1)@3" in shown and shown != page(replace(two, estimates=estimates, verdicts_=verdicts))
