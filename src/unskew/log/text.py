"""Text files of rows, .csv, .tsv and others: what they begin with, their header, and whether every line has all fields.

Only some columns are used, and reading just these does not show that a line has a field too many (a title that holds an
unquoted comma): all fields after it are then read from the wrong column. So all bytes are checked once, before the
columns are read. A line with a field too few is refused as well: it is cut off, or a line break stands inside a field.

A file without a header has the columns 1, 2, 3, …: whoever names columns by their places says that there is none.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.core.errors import InputError
from unskew.core.memory import amount
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.kernels import fields
from unskew.log.names import looks_like_a_header
from unskew.log.packed import BLOCK, blocks, collect, packing_of
from unskew.log.paths import shown

DOUBLE = "::"
_ANY = ("\t", DOUBLE, ";", "|", ",", " ")  # separators in the order in which a first line is looked at for them
_UNUSUAL = (";", "\t", "|", ",")  # the same, where the name of the file says that there is another one
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_FOREIGN = {  # first bytes of other formats
    b"PAR1": "a Parquet file.\nGive it a name that ends in .parquet.",
    b"PK\x03\x04": "a spreadsheet or a zip archive.\nSave the sheet as CSV, or unpack the archive.",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet.\nSave the sheet as CSV.",
    b"BZh": "packed (bzip2).\nUnpack it, or pack it with gzip.",
    b"\xfd7zX": "packed (xz).\nUnpack it, or pack it with gzip.",
    b"x\x01": "packed (zlib).\nUnpack it, or pack it with gzip.",
    b"x\x9c": "packed (zlib).\nUnpack it, or pack it with gzip.",
    b"x\xda": "packed (zlib).\nUnpack it, or pack it with gzip.",
    b"ARROW1": "an Arrow file.\nSave it as Parquet or CSV.",
    b"SQLite format 3": "a database.\nSave the table as CSV.",
    b"%PDF-": "a PDF document.\nSave the table as CSV.",
    b"\x7fELF": "a program.\nGive a table.",
    b"<": "a page (HTML or XML).\nSave the table as CSV.",
    b"{": "JSON.\nGive it a name that ends in .jsonl if every line is a row, or save the table as CSV.",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # marks of UTF-16 and UTF-32
_UTF8 = "Save it as UTF-8: in a spreadsheet 'CSV UTF-8', elsewhere iconv -t UTF-8."


class TextFile(NamedTuple):
    """A text file whose header has been read.

    Args:
        separator: what stands between fields where they are read; ``double`` where the file has ``::`` instead.
        names: the columns as the header has them, in order; a name may be there twice.
        packing: how the content is compressed, whatever the name says; empty where it is not.
        skipped: empty lines before the header.
        header: whether there is one; without it columns are called 1, 2, 3, …
    """

    file: Path
    separator: str
    names: tuple[str, ...]
    packing: str
    skipped: int
    header: bool = True
    double: bool = False

    @classmethod
    def open(cls, file: Path, separator: str = "", *, header: bool = True) -> TextFile:
        """Read the header; what is no such text is refused.

        Args:
            separator: the usual one of such files, if there is one; where the first line lacks it, it is looked for.
            header: whether the first line has the names of the columns.
        """
        packing = packing_of(file)
        head = bytes(next(blocks(file, packing), b""))
        foreign = _FOREIGN | dict.fromkeys(_PACKED, "packed twice.\nUnpack it once.") if packing else _FOREIGN
        for mark, what in foreign.items():
            if head.startswith(mark):
                raise InputError(
                    f"{shown(file)}: the name says text, but the content is {what}", code="wrong-extension"
                )
        if head.startswith(_WIDE) or b"\0" in head:
            wide = head.startswith(_WIDE) or head[:1000].count(0) in range(len(head[:1000]) // 4, 800)
            what = "it is in UTF-16 or UTF-32" if wide else "it holds bytes of zero, which text does not"
            raise InputError(f"{shown(file)}: the file cannot be read as text: {what}.\n{_UTF8}", code="wrong-encoding")
        lines = head.splitlines(keepends=True)
        skipped = next((place for place, line in enumerate(lines) if line.strip(b"\r\n")), len(lines))
        line = _header(file, b"".join(lines[skipped:]), whole=len(head) < BLOCK)
        if not separator or separator not in line:
            others = _UNUSUAL if separator else _ANY
            separator = next((sign for sign in others if sign in line), separator or ",")
        double = separator == DOUBLE
        line, separator = (line.replace(DOUBLE, "\t"), "\t") if double else (line, separator)
        try:
            names = next(csv.reader([line], delimiter=separator), [])
        except csv.Error as problem:
            raise InputError(
                f"{shown(file)}: the header cannot be read ({problem}).\nFix the first line.", code="bad-header"
            ) from None
        if not names:
            raise InputError(
                f"{shown(file)}: the file is empty.\nGive a file with a header and at least one row.", code="empty-file"
            )
        if not header:
            _refuse_header(file, names)
            names = [str(place) for place in range(1, len(names) + 1)]
        return cls(file, separator, tuple(names), packing, skipped, header, double)

    @property
    def packed(self) -> bool:
        """Whether the content is another one than that of the file."""
        return bool(self.packing) or self.double

    def check(self) -> tuple[int, bytes | None]:
        """How many rows there are, and the unpacked content if it was packed; a wrong line is an error."""
        state = np.zeros(fields.STATE, dtype=np.int64)
        content, whole = blocks(self.file, self.packing, double=self.double), bytearray()
        for block in collect(self.file, content, whole) if self.packed else content:
            self._scan(block, state)
        if state[fields.QUOTED]:
            raise self._wrong(state, "begins a field with a double quote that is never closed", "open-quote")
        if state[fields.LENGTH]:
            self._scan(b"\n", state)
        return int(state[fields.RECORDS]) - self.skipped - self.header, bytes(whole) if self.packed else None

    def stray_quote(self) -> Notice | None:
        """What is wrong with the quotes, if something is: a sentence for a file that could not be read."""
        state = np.zeros(fields.STATE, dtype=np.int64)
        for block in blocks(self.file, self.packing, double=self.double):
            self._scan(block, state)
        if not state[fields.STRAY]:
            return None
        return Notice(
            f"Line {state[fields.STRAY]:,} holds a double quote inside a field that does not begin with one: write "
            '"5"" disk" for 5" disk.',
            code="stray-quote",
            line=int(state[fields.STRAY]),
        )

    def _scan(self, block: bytes | memoryview, state: npt.NDArray[np.int64]) -> None:
        data = np.frombuffer(block, dtype=np.uint8)
        words = data[: len(data) // 8 * 8].view(np.uint64)
        found = fields.scan(data, words, ord(self.separator), len(self.names), state)
        if found == fields.COUNT:
            has, header = int(state[fields.SEPARATORS]) + 1, len(self.names)
            raise self._wrong(
                state,
                f"has {has:,} field{'s'[: has != 1]}, but the header has {header:,}",
                "field-count",
                f"A field that holds {self.separator!r} must stand in double quotes."
                if has > header
                else "A field that holds a line break must stand in double quotes, and empty fields need their "
                f"{self.separator!r} too.",
            )
        if found == fields.AFTER_QUOTE:
            raise self._wrong(
                state,
                "goes on behind the double quote that ends a field",
                "closed-quote",
                'Inside quotes write "" for a double quote.',
            )

    def _wrong(self, state: npt.NDArray[np.int64], what: str, code: str, hint: str = "") -> InputError:
        line = int(state[fields.FIRST_LINE]) + 1
        return InputError(
            f"{shown(self.file)}: line {line:,} {what}.\nFix the line. {hint}".rstrip(), code=code, line=line
        )


def _header(file: Path, head: bytes, *, whole: bool) -> str:
    """The first line, which may have line breaks in quotes."""
    end = head.find(b"\n")
    while end >= 0 and head[:end].count(b'"') % 2:
        end = head.find(b"\n", end + 1)
    if end < 0 and not whole:
        raise InputError(
            f"{shown(file)}: the header does not end within the first {amount(BLOCK)}.\n"
            "Give a file whose first line names the columns.",
            code="bad-header",
        )
    line = (head if end < 0 else head[:end]).removesuffix(b"\r")
    if b"\r" in line and b'"' not in line:
        raise InputError(
            f"{shown(file)}: the lines end with a carriage return only, as on very old computers.\n"
            "Save it with usual line ends (tr '\\r' '\\n').",
            code="bad-line-ends",
        )
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{shown(file)}: the header is not in UTF-8 ({problem.__class__.__name__}).\n{_UTF8}", code="wrong-encoding"
        ) from None


def _refuse_header(file: Path, names: list[str]) -> None:
    """Columns by their places belong to files without a header: a first line that is one would become a row."""
    counted = len(names) > 1 and names == [str(place) for place in range(len(names))]  # pandas names columns like this
    if looks_like_a_header(names) or counted:
        there = ", ".join(plain(name) for name in names[:20])
        raise InputError(
            f"{shown(file)}: columns are named by their places, as in a file without a header, but the first line "
            f"looks like a header: {there}.\nName them as it does, or remove the line. Where only one of several files "
            "has no header, say it of that one: columns={'test:user': '1', 'test:item': '2'}.",
            code="unexpected-header",
        )
