"""What a page, a terminal and a notebook show, as plain data: a title, what is read first, and blocks in order.

A builder makes the document of a result, an audit, a comparison or a check; a renderer shows any document and knows
nothing of recommenders. A medium leaves out what it cannot show: a terminal has no charts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

EVER = 1_000_000
ALWAYS, NEVER, WIDE = range(EVER), range(0), range(100, EVER)  # widths of terminals


class Medium(Enum):
    """Who shows a block: the page, which has room for everything, or terminal and notebook."""

    PAGE = "page"
    BRIEF = "brief"


class Span(NamedTuple):
    """A piece of a sentence; ``kind`` is ``name``, ``flag`` (something to beware of) or empty."""

    text: str
    kind: str = ""


class Sentence(NamedTuple):
    """A sentence in pieces, so that every medium can set names and flags in its own way.

    ``tone`` is a verdict, a level (``warning``, ``note``, ``good``), or what a line is about (``doubt``, ``input`` …).
    """

    spans: tuple[Span, ...]
    tone: str = ""

    def __str__(self) -> str:
        return "".join(span.text for span in self.spans)

    @classmethod
    def plain(cls, text: str, tone: str = "") -> Sentence:
        """A sentence without names."""
        return cls((Span(text),), tone)

    @classmethod
    def about(cls, name: str, text: str, tone: str) -> Sentence:
        """A sentence that begins with a name."""
        return cls((Span(name, "name"), Span(text)), tone)


class Sentences(NamedTuple):
    """A list of sentences; those beyond ``shown`` are folded away or counted (``more``, and ``where`` they are)."""

    items: tuple[Sentence, ...]
    title: str = ""
    shown: int = EVER
    more: str = "more"
    where: str = ""


class Paragraph(NamedTuple):
    """A text of its own: ``opening``, ``basis``, ``agreement`` or ``disagreement``."""

    text: str
    role: str


class Callout(NamedTuple):
    """Texts that must not be missed, of tone ``doubt`` or ``warning``; a terminal prints warnings last."""

    title: str
    texts: tuple[str, ...]
    tone: str


class Facts(NamedTuple):
    """Names with short values."""

    items: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """A text with a tone.

    Args:
        differs: what says something else, and ``flag`` in a sentence what.
        doubt: whether a reason to doubt it stands elsewhere.
        note: the footnote that explains it, from 1.
    """

    text: str
    tone: str
    differs: str = ""
    flag: str = ""
    doubt: bool = False
    note: int = 0


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        label: its heading.
        kind: ``name``, ``number``, ``tag`` (a word with a tone), ``text`` or ``aside`` (whole sentences).
        strong: whether its numbers are what the table is about.
        once: whether a text that repeats is written once on a terminal, its lines spread over the rows; on a page the
            repetitions are pale.
        page: whether pages show it.
        terminal: the widths of terminals that show it.
        pick: whether its texts are values that a reader of a page may choose among (``Choice``).
    """

    label: str
    kind: str = "number"
    strong: bool = False
    once: bool = False
    page: bool = True
    terminal: range = ALWAYS
    pick: bool = False


def columns(names: Sequence[str], figures: Sequence[str]) -> tuple[Column, ...]:
    """Columns of words, then columns of numbers."""
    return tuple(Column(label, "name") for label in names) + tuple(Column(label) for label in figures)


@dataclass(frozen=True)
class Table:
    """Rows of texts; ``facet`` says of what they are where several tables belong together.

    ``about`` names the values of a page's choices that it shows (``Choice``).
    """

    name: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    kind: str = "sheet"
    facet: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()

    def on_page(self) -> list[list[tuple[Column, str | Cell, str]]]:
        """The rows of a page: cells with their columns, and what a cell is: the row's ``name``, the same name
        ``again`` as in the row above, or empty.
        """
        first, *rest = [place for place, column in enumerate(self.columns) if column.page]
        rows = []
        above: str | Cell | None = None
        for row in self.rows:
            repeats = self.columns[first].once and row[first] == above
            above = row[first]
            named = (self.columns[first], row[first], "again" if repeats else "name")
            rows.append([named, *((self.columns[other], row[other], "") for other in rest)])
        return rows


class Tables(NamedTuple):
    """Tables that belong together: one on a wide terminal if they have ``facets``; ``where`` has what is cut off."""

    tables: tuple[Table, ...]
    title: str = ""
    facets: tuple[str, ...] = ()
    shown: int = EVER
    where: str = ""


class Chart(NamedTuple):
    """A chart with its name: a Vega-Lite specification over named tables, and ``label``, what it shows in words.

    ``about`` names the values of a page's choices that it shows (``Choice``).
    """

    name: str
    note: str
    label: str
    spec: Mapping[str, Any]
    data: Mapping[str, Sequence[Mapping[str, Any]]]
    brief: str = ""
    about: tuple[tuple[str, str], ...] = ()


class Bars(NamedTuple):
    """Counts by name, with widths in per cent of the widest."""

    name: str
    rows: tuple[tuple[str, str, str], ...]


class Entry(NamedTuple):
    """A name with a text, or with entries below it."""

    name: str
    value: str = ""
    children: tuple[Entry, ...] = ()


class Swatch(NamedTuple):
    """A colour, and a shape if there is one, with the name of what is drawn so."""

    name: str
    colour: str
    path: str = ""


class Legend(NamedTuple):
    """What colours and shapes mean."""

    title: str
    swatches: tuple[Swatch, ...]


class Cards(NamedTuple):
    """Charts, bars and trees beside each other under their legends; a few may ``fit`` the whole width.

    Notebooks show charts only where these are ``inline``: most results have too many of them.
    """

    cards: tuple[Chart | Bars | Entry, ...]
    legends: tuple[Legend, ...] = ()
    title: str = ""
    shown: int = EVER
    fit: bool = False
    inline: bool = False


class Spark(NamedTuple):
    """Counts between two ends as little bars, with a text."""

    name: str
    text: str
    ends: tuple[str, str] = ("", "")
    counts: tuple[int, ...] = ()


class Sparks(NamedTuple):
    """Distributions where there is no room for charts."""

    title: str
    rows: tuple[Spark, ...]


class Steps(NamedTuple):
    """What to do, with commands that can be copied."""

    title: str
    items: tuple[tuple[str, str | None], ...]


class Glossary(NamedTuple):
    """Terms and what they mean."""

    terms: tuple[tuple[str, str], ...]


class Folded(NamedTuple):
    """Blocks that open on request."""

    summary: str
    note: str
    blocks: tuple[Block, ...]
    open: bool = False


class Section(NamedTuple):
    """Blocks under a heading, with a line that says what they show."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    menu: str = ""


class SideBySide(NamedTuple):
    """Sections that stand beside each other where there is room."""

    sections: tuple[Section, ...]


class Only(NamedTuple):
    """Blocks that one medium shows."""

    medium: Medium
    blocks: tuple[Block, ...]


Block: TypeAlias = (
    Sentences | Paragraph | Callout | Facts | Table | Tables | Cards | Sparks | Steps | Glossary | Folded | Section
    | SideBySide | Only
)  # fmt: skip


class Choice(NamedTuple):
    """Values of which a reader may pick one, so that a page hides what is about the others; all at first."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A title, what is read first, and the rest.

    Args:
        title: the headline.
        summary: what is read first; a panel on a terminal.
        body: everything else, in order.
        panel: the title of that panel where it is not the headline.
        subtitle: what the headline rests on.
        choices: what a reader of the page may pick.
    """

    title: Sentence
    summary: tuple[Block, ...]
    body: tuple[Block, ...]
    panel: str = ""
    subtitle: str = ""
    choices: tuple[Choice, ...] = ()


def on_page(*blocks: Block) -> Only:
    """Blocks for pages only."""
    return Only(Medium.PAGE, blocks)


def in_brief(*blocks: Block) -> Only:
    """Blocks for terminals and notebooks only."""
    return Only(Medium.BRIEF, blocks)


def shown_in(medium: Medium, blocks: Sequence[Block]) -> list[Block]:
    """The blocks that a medium shows; what is empty is not shown, and terminals and notebooks have no sections."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Only):
            found += shown_in(medium, block.blocks) if block.medium is medium else []
        elif isinstance(block, Section):
            inside = shown_in(medium, block.blocks)
            found += inside if medium is Medium.BRIEF else [block] if inside else []
        elif getattr(block, _CONTENT[type(block)]):
            found.append(block)
    return found


_CONTENT: dict[type, str] = {
    Sentences: "items", Paragraph: "text", Callout: "texts", Facts: "items", Table: "rows", Tables: "tables",
    Cards: "cards", Sparks: "rows", Steps: "items", Glossary: "terms", Folded: "blocks", SideBySide: "sections",
}  # fmt: skip
