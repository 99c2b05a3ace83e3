"""Text files: dialects, encodings, compression and damage of the bytes."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable
from random import Random

from tests.hostile.drafts import SEPARATORS, Bytes, Draft, Expect, mutation
from tests.hostile.sheets import BOM, packed

Made = Callable[[Draft, Random], Bytes]  # a change of the bytes, drawn for one draft


def _inside(change: Bytes) -> Bytes:
    """Change the text, also where it is packed."""

    def edit(data: bytes) -> bytes:
        try:
            return packed(change(gzip.decompress(data)))
        except (OSError, EOFError):
            return change(data)

    return edit


def _inserted(draft: Draft, rng: Random, words: tuple[bytes, ...], *, line: bool = False) -> Bytes:
    """One of the words somewhere in the text, or as a line of its own."""
    word, share = rng.choice(words), rng.random()

    def change(data: bytes) -> bytes:
        at = int(share * len(data))
        at = data.find(b"\n", at) + 1 if line else at
        return data[:at] + word + data[at:]

    return change


def _separators_behind(draft: Draft, rng: Random) -> Bytes:
    sign, many = SEPARATORS[draft.ending].encode(), rng.choice((-1, -1, 1, 3))
    return lambda data: data.replace(b"\n", sign + b"\n", many)


def _other_separator(draft: Draft, rng: Random) -> Bytes:
    sign, other = SEPARATORS[draft.ending].encode(), rng.choice((b";", b"|", b":", b" ", b"\t", b","))
    return lambda data: data.replace(sign, other)


def _other_encoding(draft: Draft, rng: Random) -> Bytes:
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-7", "cp1252"))
    return lambda data: data.decode("utf-8", "replace").encode(encoding, "replace")


def _before(draft: Draft, rng: Random, words: tuple[bytes, ...]) -> Bytes:
    word = rng.choice(words)
    return lambda data: word + data


def _behind(draft: Draft, rng: Random, words: tuple[bytes, ...]) -> Bytes:
    word = rng.choice(words)
    return lambda data: data + word


def _cut(draft: Draft, rng: Random) -> Bytes:
    """In the middle of a line: the text itself does not say whether more was meant to follow."""
    share = rng.random()
    return lambda data: data[: int(share * len(data))]


def _instead(draft: Draft, rng: Random, words: tuple[bytes, ...]) -> Bytes:
    word = rng.choice(words)
    return lambda data: word


FRONT = (b"# exported 2024\n", b"sep=,\n", b"\n", b"Report\n\n", b"user\n")
END = (b"# 40 rows\n", b"(40 rows affected)\n", b"\x1a", b"\0\0\0\0", b"EOF\n", b'"', b'"\n')
BLANK = (b"\n", b"\n\n\n", b"\r\n", b" \n", b",,\n", b"\t\t\n")
STRAY = tuple(bytes([byte]) for byte in (0, 0x80, 0xFF, 0xC0, 0x1B, 0x0B, 0x85))
EMPTY = (b"", b"\n", b"\xff", BOM, codecs.BOM_UTF16_LE, b" ", b'""')
KINDS = (b"PAR1", b"PK\x03\x04rest", b"%PDF-1.4", b"SQLite format 3\0", b"{}", b"<html>", b"\x7fELF", b"ARROW1")
LINES = b"\r\n"

BENIGN: dict[str, Made] = {  # of the text inside
    "byte_order_mark": lambda draft, rng: lambda data: BOM + data,
    "windows_lines": lambda draft, rng: lambda data: data.replace(LINES, b"\n").replace(b"\n", LINES),
    "no_last_line_end": lambda draft, rng: lambda data: data.rstrip(b"\n"),
}
INSIDE: dict[str, Made] = {
    "old_mac_lines": lambda draft, rng: lambda data: data.replace(b"\n", b"\r"),
    "blank_lines": lambda draft, rng: _inserted(draft, rng, BLANK, line=True),
    "lines_before_the_header": lambda draft, rng: _before(draft, rng, FRONT),
    "lines_behind_the_end": lambda draft, rng: _behind(draft, rng, END),
    "comment_inside": lambda draft, rng: lambda data: data.replace(b"\n", b"\n# note\n", 2),
    "trailing_separators": _separators_behind,
    "other_separator": _other_separator,
    "other_encoding": _other_encoding,
    "stray_quote": lambda draft, rng: _inserted(draft, rng, (b'"',)),
    "stray_byte": lambda draft, rng: _inserted(draft, rng, STRAY),
    "huge_cell": lambda draft, rng: _behind(draft, rng, tuple(b'"' + b"x" * (1 << n) + b'"' for n in (16, 20, 22))),
}
OUTSIDE: dict[str, Made] = {
    "packed_twice": lambda draft, rng: lambda data: packed(packed(data)),
    "packed_but_not_called_so": lambda draft, rng: packed,
    "cut_off": _cut,
    "written_twice": lambda draft, rng: lambda data: data + data,
}
REFUSED: dict[str, Made] = {
    "only_nuls": lambda draft, rng: _instead(draft, rng, tuple(bytes(size) for size in (1, 1000, 1 << 20, 8 << 20))),
    "empty_file": lambda draft, rng: _instead(draft, rng, EMPTY),
    "another_kind_of_file": lambda draft, rng: _before(draft, rng, KINDS),
}


def _register(name: str, made: Made) -> None:
    def act(draft: Draft, rng: Random) -> None:
        change = made(draft, rng)
        inside = draft.ending.endswith(".gz") and name in {**BENIGN, **INSIDE}
        draft.edits.append(_inside(change) if inside else change)
        if name in REFUSED:
            draft.expect = Expect.REFUSED

    mutation("text", benign=name in BENIGN, name=name)(act)


for _name, _made in {**BENIGN, **INSIDE, **OUTSIDE, **REFUSED}.items():
    _register(_name, _made)


@mutation("text", benign=True)
def packed_members(draft: Draft, rng: Random) -> None:
    """A gzip file of two members, as `cat a.gz b.gz` makes it."""
    if not draft.ending.endswith(".gz"):
        draft.ending += ".gz"
    cut = rng.random()

    def edit(data: bytes) -> bytes:
        try:
            text = gzip.decompress(data)
        except (OSError, EOFError):
            return data
        at = text.find(b"\n", int(cut * len(text))) + 1
        return packed(text[:at]) + packed(text[at:])

    draft.edits.append(edit)


@mutation("text")
def garbage_behind_the_archive(draft: Draft, rng: Random) -> None:
    if draft.ending.endswith(".gz"):
        draft.edits.append(lambda data: data + b"garbage\n1,2,0.5\n")
