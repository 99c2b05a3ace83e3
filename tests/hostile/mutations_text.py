"""Text files: dialects, encodings, compression and damage of the bytes."""

from __future__ import annotations

import codecs
from random import Random

from tests.hostile.drafts import SEPARATORS, Bytes, Draft, Expect, mutation
from tests.hostile.sheets import BOM, packed


def _inside(draft: Draft, change: Bytes) -> None:
    """Change the text, also where it is packed."""
    if draft.ending.endswith(".gz"):
        import gzip

        def edit(data: bytes) -> bytes:
            try:
                return packed(change(gzip.decompress(data)))
            except (OSError, EOFError):
                return change(data)

        draft.edits.append(edit)
    else:
        draft.edits.append(change)


@mutation("text", benign=True)
def byte_order_mark(draft: Draft, rng: Random) -> None:
    _inside(draft, lambda data: BOM + data)


@mutation("text", benign=True)
def windows_lines(draft: Draft, rng: Random) -> None:
    _inside(draft, lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


@mutation("text")
def old_mac_lines(draft: Draft, rng: Random) -> None:
    _inside(draft, lambda data: data.replace(b"\n", b"\r"))


@mutation("text", benign=True)
def no_last_line_end(draft: Draft, rng: Random) -> None:
    _inside(draft, lambda data: data.rstrip(b"\n"))


@mutation("text", benign=True)
def packed_members(draft: Draft, rng: Random) -> None:
    """A gzip file of two members, as `cat a.gz b.gz` makes it."""
    if not draft.ending.endswith(".gz"):
        draft.ending += ".gz"
        draft.edits.append(lambda data: data)
    cut = rng.random()

    def edit(data: bytes) -> bytes:
        import gzip

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
def packed_twice(draft: Draft, rng: Random) -> None:
    draft.edits.append(lambda data: packed(packed(data)))


@mutation("text")
def packed_but_not_called_so(draft: Draft, rng: Random) -> None:
    draft.edits.append(packed)


@mutation("text")
def blank_lines(draft: Draft, rng: Random) -> None:
    words = rng.choice((b"\n", b"\n\n\n", b"\r\n", b" \n", b",,\n", b"\t\t\n"))
    cut = rng.random()

    def change(data: bytes) -> bytes:
        at = data.find(b"\n", int(cut * len(data))) + 1
        return data[:at] + words + data[at:]

    _inside(draft, change)


@mutation("text")
def lines_before_the_header(draft: Draft, rng: Random) -> None:
    words = rng.choice((b"# exported 2024\n", b"sep=,\n", b"\n", b"Report\n\n", b"user\n"))
    _inside(draft, lambda data: words + data)


@mutation("text")
def lines_behind_the_end(draft: Draft, rng: Random) -> None:
    words = rng.choice((b"# 40 rows\n", b"(40 rows affected)\n", b"\x1a", b"\0\0\0\0", b"EOF\n", b'"', b'"\n'))
    _inside(draft, lambda data: data + words)


@mutation("text")
def comment_inside(draft: Draft, rng: Random) -> None:
    _inside(draft, lambda data: data.replace(b"\n", b"\n# note\n", 2))


@mutation("text")
def trailing_separators(draft: Draft, rng: Random) -> None:
    sign = SEPARATORS[draft.ending].encode()
    everywhere = rng.random() < 0.5
    _inside(draft, lambda data: data.replace(b"\n", sign + b"\n", -1 if everywhere else rng.choice((1, 3))))


@mutation("text")
def other_separator(draft: Draft, rng: Random) -> None:
    sign, other = SEPARATORS[draft.ending].encode(), rng.choice((b";", b"|", b":", b" ", b"\t", b","))
    _inside(draft, lambda data: data.replace(sign, other))


@mutation("text")
def other_encoding(draft: Draft, rng: Random) -> None:
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-7", "cp1252"))
    _inside(draft, lambda data: data.decode("utf-8", "replace").encode(encoding, "replace"))


@mutation("text")
def stray_quote(draft: Draft, rng: Random) -> None:
    place = rng.random()
    _inside(draft, lambda data: data[: int(place * len(data))] + b'"' + data[int(place * len(data)) :])


@mutation("text")
def stray_byte(draft: Draft, rng: Random) -> None:
    place, byte = rng.random(), bytes([rng.choice((0, 0x80, 0xFF, 0xC0, 0x1B, 0x0B, 0x85))])
    _inside(draft, lambda data: data[: int(place * len(data))] + byte + data[int(place * len(data)) :])


@mutation("text")
def cut_off(draft: Draft, rng: Random) -> None:
    """Cut in the middle of a line: the text itself does not say whether more was meant to follow."""
    share = rng.random()
    draft.edits.append(lambda data: data[: int(share * len(data))])


@mutation("text")
def written_twice(draft: Draft, rng: Random) -> None:
    draft.edits.append(lambda data: data + data)


@mutation("text")
def only_nuls(draft: Draft, rng: Random) -> None:
    size = rng.choice((1, 1000, 1 << 20, 8 << 20))
    draft.edits.append(lambda data: bytes(size))
    draft.expect = Expect.REFUSED


@mutation("text")
def huge_cell(draft: Draft, rng: Random) -> None:
    size = rng.choice((1 << 16, 1 << 20, 4 << 20))
    _inside(draft, lambda data: data + b'"' + b"x" * size + b'"')


@mutation("text")
def empty_file(draft: Draft, rng: Random) -> None:
    draft.edits.append(lambda data: rng.choice((b"", b"\n", b"\xff", BOM, codecs.BOM_UTF16_LE, b" ", b'""')))
    draft.expect = Expect.REFUSED


@mutation("text")
def another_kind_of_file(draft: Draft, rng: Random) -> None:
    words = rng.choice(
        (b"PAR1", b"PK\x03\x04rest", b"%PDF-1.4", b"SQLite format 3\0", b"{}", b"<html>", b"\x7fELF", b"ARROW1")
    )
    draft.edits.append(lambda data: words + data)
    draft.expect = Expect.REFUSED
