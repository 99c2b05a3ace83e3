"""Reads back what was shown: a page's tags, attributes and tables, a terminal's text, and which sentences were said."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from typing import Any

from rich.console import Console

from unskew.core.notice import codes
from unskew.report.document import Sentence
from unskew.report.view import View
from unskew.report.words import headline_sentences, title
from unskew.result import Result

Cells = dict[str, str]


class Reader(HTMLParser):
    """Tags and attributes of a page, and each table's rows as dicts; a name that spans rows stands in all of them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.tables: list[tuple[str, str, list[Cells]]] = []
        self._rows: list[list[tuple[str, int]]] = []
        self._text: list[str] | None = None
        self._span = 1
        self._kind = self._caption = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.tags.append((tag, known))
        if tag == "table":
            self._kind, self._rows = known.get("class", ""), []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td", "caption"):
            self._text, self._span = [], int(known.get("rowspan", 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "caption") and self._text is not None:
            text = " ".join("".join(self._text).split())
            if tag == "caption":
                self._caption = text
            else:
                self._rows[-1].append((text, self._span))
            self._text = None
        elif tag == "table":
            self.tables.append((self._kind, self._caption, self._dicts()))

    def rows(self, kind: str) -> list[Cells]:
        """All rows of the tables of a kind; the caption stands under ``caption``."""
        found = [(caption, row) for name, caption, rows in self.tables if name == kind for row in rows]
        return [{"caption": caption} | row for caption, row in found]

    def _dicts(self) -> list[Cells]:
        names = [text for text, _ in self._rows[0]]
        spanning: tuple[str, int] = ("", 0)
        rows = []
        for cells in self._rows[1:]:
            if spanning[1] > 0:
                cells = [(spanning[0], 1), *cells]
            else:
                spanning = cells[0]
            spanning = (spanning[0], spanning[1] - 1)
            rows.append(dict(zip(names, [text for text, _ in cells], strict=False)))
        return rows


def matches(text: str, value: float | None) -> bool:
    """Whether a written number is this value, rounded to the digits that are written; a dash is no number."""
    if value is None or value != value:
        return text == "–"
    plain = text.replace("−", "-").replace("+", "").replace(",", "")
    places = len(plain.partition(".")[2])
    return abs(float(plain) - value) <= 0.5 * 10.0**-places + 1e-12


def check_loads_nothing(text: str) -> None:
    """No address, import, script, frame or font: the page works from a file, a mail, an archive."""
    assert not set(re.findall(r"https?://[^\s\"'<>)]*", text)) - {"http://www.w3.org/2000/svg"}
    assert "@import" not in text and "url(" not in text and "\x1b" not in text
    tags = Reader(text).tags
    assert not {tag for tag, _ in tags} & {"script", "iframe", "object", "embed", "img", "base", "form"}
    for _, attributes in tags:
        assert not any(name.startswith("on") for name in attributes) and "src" not in attributes
        assert attributes.get("href", "#").startswith("#") or attributes["href"] == "data:,"


def printed(shown: Any, width: int = 100, **options: Any) -> str:
    """What a terminal of this width shows."""
    file = io.StringIO()
    Console(file=file, width=width, **options).print(shown)
    return file.getvalue()


def flat(text: str) -> str:
    """The text without line breaks and the panel's frame."""
    return re.sub(r"[\s│]+", " ", text)


def names(said: Sentence) -> list[str]:
    """The models that a sentence names."""
    return [span.text for span in said.spans if span.kind == "name"]


def told(said: Sentence) -> tuple[str, ...]:
    """Which kind of sentence it is."""
    return codes(span.text for span in said.spans)


def first(result: Result) -> Sentence:
    """The first sentence of the headline."""
    return headline_sentences(View.of(result))[0]


def heading(result: Result) -> tuple[str, list[str]]:
    """The verdict that a title has, and the models that it names."""
    found = title(View.of(result))
    return found.tone, names(found)


def title_told(result: Result) -> tuple[str, ...]:
    """Which kind of verdict the title is, where it is a sentence of its own."""
    return told(title(View.of(result)))
