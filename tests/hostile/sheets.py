"""What a careful person reads in a file: the csv module and a few plain rules, nothing of the library.

A sheet has a header and rows of cells. ``Refused`` says that nobody should go on; ``doubt`` that refusing would be as
good as the reading (a line that is too short, blanks around a name, bytes behind the end of an archive).
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass, field
from typing import Any

import polars as pl

csv.field_size_limit(1 << 30)
_GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
OTHERS = ";\t|,"  # separators that a first line is looked at for, in this order, where it lacks the usual one


class Refused(Exception):
    """Nobody should make numbers of this."""


@dataclass
class Sheet:
    """A header, its rows, and whether refusing would be as good."""

    header: list[str]
    rows: list[list[Any]]
    doubts: list[str] = field(default_factory=list)


def of_text(data: bytes, separator: str, packed: bool) -> Sheet:
    """The sheet of a text file; ``packed`` where its name ends in .gz."""
    doubts = []
    if data.startswith(_GZIP):
        if not packed:
            doubts.append("packed, but not called .gz")
        data, more = _unpacked(data)
        doubts += more
        if data.startswith(_GZIP):
            raise Refused("packed twice")
    elif packed:
        doubts.append("called .gz, but not packed")
    if data.startswith(BOM):
        data = data[3:]
    if not data.strip(b"\0"):
        raise Refused("nothing but NULs")
    text = data.decode("utf-8", errors="surrogateescape")
    if "\0" in text or _escaped(text):
        doubts.append("bytes that are no text")
    if "\r" in text.replace("\r\n", ""):
        doubts.append("lone carriage returns")
    if text.count('"') % 2:
        doubts.append("a quotation mark is not closed")
    first = next((line for line in text.splitlines() if line), "")
    if separator not in first and (others := [sign for sign in OTHERS if sign in first]):
        doubts.append("another separator than files of this name have")
        separator = others[0]
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as problem:
        raise Refused(str(problem)) from None
    return _squared(lines, doubts)


def _squared(lines: list[list[str]], doubts: list[str]) -> Sheet:
    """Every row as long as the header."""
    if lines and not lines[0]:
        doubts.append("the first line is blank")
        while lines and not lines[0]:
            lines.pop(0)
    if not lines:
        raise Refused("no header")
    header, rows = lines[0], []
    if _escaped("".join(header)):
        raise Refused("a header that is no UTF-8")
    for line in lines[1:]:
        if not line:
            doubts.append("a blank line")
            continue
        if len(line) > len(header):
            raise Refused("a row with too many fields")
        if len(line) < len(header):
            doubts.append("a row with too few fields")
        cells: list[Any] = [cell if cell else None for cell in line]
        rows.append(cells + [None] * (len(header) - len(line)))
    return Sheet(header, rows, doubts)


def of_frame(frame: pl.DataFrame) -> Sheet:
    """The sheet of a Parquet file, from the frame that was written."""
    plain = frame.with_columns(pl.selectors.temporal().to_physical())  # no datetime of Python's goes as far
    return Sheet(list(frame.columns), [list(row) for row in plain.iter_rows()])


def _unpacked(data: bytes) -> tuple[bytes, list[str]]:
    """All members of a gzip file; bytes behind them are a doubt, a cut is a refusal."""
    out, rest = [], data
    while rest.startswith(_GZIP):
        member = zlib.decompressobj(wbits=31)
        try:
            out.append(member.decompress(rest))
        except zlib.error as problem:
            raise Refused(f"damaged gzip: {problem}") from None
        if not member.eof:
            raise Refused("gzip is cut off")
        rest = member.unused_data
    return b"".join(out), (["bytes behind the archive"] if rest.strip(b"\0") else [])


def packed(data: bytes) -> bytes:
    """A gzip member without a time in it, so that a seed always makes the same file."""
    return gzip.compress(data, mtime=0)


def _escaped(text: str) -> bool:
    return any("\udc80" <= sign <= "\udcff" for sign in text)
