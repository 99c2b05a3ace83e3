"""What is read first of any document, as plain text: what ``print(result)`` shows, without a table or a chart."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from unskew.report import document as doc

WIDTH = 88
_MARKS = {"doubt": "? ", "warning": "! ", "disagreement": "≠ "}


def plain_text(document: doc.Document) -> str:
    """The title, what it rests on, and the blocks that come first, one line of thought each."""
    found = [str(document.title)]
    if document.subtitle:
        found.append(f"({document.subtitle})")
    for text in _lines(document):
        if text not in found:
            found.append(text)
    return "\n".join(fill(text, WIDTH, subsequent_indent="  ", break_long_words=False) for text in found)


def _lines(document: doc.Document) -> Iterator[str]:
    for block in doc.shown_in(doc.Medium.BRIEF, document.summary):
        if isinstance(block, doc.Sentences):
            yield from (_MARKS.get(said.tone, "") + str(said) for said in block.items[: block.shown])
            if (hidden := len(block.items) - block.shown) > 0:
                yield f"… and {hidden:,} {block.more}: {block.where}"
        elif isinstance(block, doc.Paragraph):
            yield _MARKS.get(block.role, "") + block.text
        elif isinstance(block, doc.Callout):
            yield from (_MARKS.get(block.tone, "") + text for text in block.texts)
        elif isinstance(block, doc.Facts):
            yield " · ".join(f"{value} {name}" for name, value in block.items)
