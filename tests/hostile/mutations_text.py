"""Text files: dialects, encodings, compression and damage of the bytes."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Callable
from random import Random

from tests.hostile.drafts import MUTATIONS, SEPARATORS, Bytes, Draft, Expect, Mutation, mutation
from tests.hostile.sheets import BOM, packed

Change = Callable[[bytes, Random], bytes]


def _inside(draft: Draft, change: Bytes) -> None:
    """Change the text, also where it is packed."""

    def edit(data: bytes) -> bytes:
        try:
            return packed(change(gzip.decompress(data)))
        except (OSError, EOFError):
            return change(data)

    draft.edits.append(edit if draft.ending.endswith(".gz") else change)


def _at(data: bytes, rng: Random, words: bytes) -> bytes:
    """The words somewhere."""
    place = int(rng.random() * len(data))
    return data[:place] + words + data[place:]


def _at_a_line(data: bytes, rng: Random, words: bytes) -> bytes:
    """The words between two lines."""
    place = data.find(b"\n", int(rng.random() * len(data))) + 1
    return data[:place] + words + data[place:]


def _encoded(data: bytes, rng: Random) -> bytes:
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-7", "cp1252"))
    return data.decode("utf-8", "replace").encode(encoding, "replace")


BENIGN: dict[str, Change] = {  # of the text
    "byte_order_mark": lambda data, rng: BOM + data,
    "windows_lines": lambda data, rng: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "no_last_line_end": lambda data, rng: data.rstrip(b"\n"),
}
TEXT: dict[str, Change] = {
    "old_mac_lines": lambda data, rng: data.replace(b"\n", b"\r"),
    "blank_lines": lambda data, rng: _at_a_line(
        data, rng, rng.choice((b"\n", b"\n\n\n", b"\r\n", b" \n", b",,\n", b"\t\t\n"))
    ),
    "lines_before_the_header": lambda data, rng: (
        rng.choice((b"# exported 2024\n", b"sep=,\n", b"\n", b"Report\n\n", b"user\n")) + data
    ),
    "lines_behind_the_end": lambda data, rng: (
        data + rng.choice((b"# 40 rows\n", b"(40 rows affected)\n", b"\x1a", b"\0\0\0\0", b"EOF\n", b'"', b'"\n'))
    ),
    "comment_inside": lambda data, rng: data.replace(b"\n", b"\n# note\n", 2),
    "other_encoding": _encoded,
    "stray_quote": lambda data, rng: _at(data, rng, b'"'),
    "stray_byte": lambda data, rng: _at(data, rng, bytes([rng.choice((0, 0x80, 0xFF, 0xC0, 0x1B, 0x0B, 0x85))])),
    "huge_cell": lambda data, rng: data + b'"' + b"x" * rng.choice((1 << 16, 1 << 20, 4 << 20)) + b'"',
}
FILE: dict[str, Change] = {  # of the file as it is; a cut in a line does not say whether more was meant to follow
    "packed_twice": lambda data, rng: packed(packed(data)),
    "packed_but_not_called_so": lambda data, rng: packed(data),
    "cut_off": lambda data, rng: data[: int(rng.random() * len(data))],
    "written_twice": lambda data, rng: data + data,
}
REFUSED: dict[str, Change] = {
    "only_nuls": lambda data, rng: bytes(rng.choice((1, 1000, 1 << 20, 8 << 20))),
    "empty_file": lambda data, rng: rng.choice((b"", b"\n", b"\xff", BOM, codecs.BOM_UTF16_LE, b" ", b'""')),
    "another_kind_of_file": lambda data, rng: (
        rng.choice((b"PAR1", b"PK\x03\x04rest", b"%PDF-1.4", b"SQLite format 3\0", b"{}", b"<html>", b"\x7fELF")) + data
    ),
}


def _register(name: str, change: Change, *, inside: bool, benign: bool = False, refused: bool = False) -> None:
    def act(draft: Draft, rng: Random) -> None:
        own = Random(rng.getrandbits(64))
        if inside:
            _inside(draft, lambda data: change(data, own))
        else:
            draft.edits.append(lambda data: change(data, own))
        draft.expect = Expect.REFUSED if refused else draft.expect

    MUTATIONS[name] = Mutation(name, "text", act, benign)


for table in (BENIGN, TEXT, FILE, REFUSED):
    for title, one in table.items():
        _register(title, one, inside=table in (BENIGN, TEXT), benign=table is BENIGN, refused=table is REFUSED)


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


@mutation("text")
def trailing_separators(draft: Draft, rng: Random) -> None:
    sign, times = SEPARATORS[draft.ending].encode(), rng.choice((-1, -1, 1, 3))
    _inside(draft, lambda data: data.replace(b"\n", sign + b"\n", times))


@mutation("text")
def other_separator(draft: Draft, rng: Random) -> None:
    sign, other = SEPARATORS[draft.ending].encode(), rng.choice((b";", b"|", b":", b" ", b"\t", b","))
    _inside(draft, lambda data: data.replace(sign, other))
