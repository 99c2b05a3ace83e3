"""The content of files that may be packed (gzip, zstd), a block at a time, or as a whole within limits.

How a file is packed is seen in its first bytes, whatever its name says. Fields that are separated by ``::``, as in
MovieLens's .dat files, come with a tab between them, since readers know separators of one character only.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unskew.core.errors import InputError, MissingExtraError
from unskew.core.memory import amount, available
from unskew.log.paths import shown

BLOCK = 1 << 20  # bytes that are looked at together
BOMB = 200  # times the packed size: tables unpack to at most 50 times theirs, decompression bombs to 1,000
_HARMLESS = 64_000_000  # bytes that any file may unpack to
_ROOM = 4  # what is read takes up to this many times the memory of its text
_MARKS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
ENDINGS = (".gz", ".zst", ".zstd")


def packing_of(file: Path) -> str:
    """How a file is packed; empty where it is not."""
    with file.open("rb") as content:
        start = content.read(4)
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")


def blocks(file: Path, packing: str = "", *, double: bool = False) -> Iterator[memoryview]:
    """The content, a block at a time; each is valid until the next one is asked for.

    Args:
        double: ``::`` between fields becomes a tab.
    """
    found = _blocks(file, packing)
    return _single(file, found) if double else found


def collect(file: Path, pieces: Iterator[memoryview], whole: bytearray) -> Iterator[memoryview]:
    """The same blocks, put together in ``whole``; what unpacks to more than there is room for is refused."""
    packed, room = file.stat().st_size, available() // _ROOM
    for block in pieces:
        whole += block
        refuse_bomb(file, len(whole), packed)
        if len(whole) > room:
            raise InputError(
                f"{shown(file)}: the file unpacks to more than {amount(room)}, too much for the memory "
                f"that is available ({amount(available())}).\nConvert it to Parquet, or keep only the columns "
                "that are needed.",
                code="not-enough-memory",
            )
        yield block


def refuse_bomb(file: Path, unpacked: int, packed: int | None = None) -> None:
    """Refuse what unpacks to far more than a table does; ``packed`` is the size of the file."""
    if unpacked > max(_HARMLESS, BOMB * (file.stat().st_size if packed is None else packed)):
        raise InputError(
            f"{shown(file)}: the file unpacks to more than {BOMB} times its size, as no table does.\n"
            "If it is one nevertheless, write it with less compression.",
            code="too-large",
        )


def _blocks(file: Path, packing: str) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(BLOCK))
    try:
        with _open(file, packing) as content:
            while size := content.readinto(buffer):
                yield buffer[:size]
    except (EOFError, zlib.error, gzip.BadGzipFile, _Damaged) as problem:
        raise InputError(
            f"{shown(file)}: the file cannot be unpacked ({problem}).\nIt is damaged or cut off: fetch it again.",
            code="damaged-file",
        ) from None


class _Damaged(Exception):
    """A packed file that cannot be read to its end."""


def _open(file: Path, packing: str) -> Any:
    if packing == "gzip":
        return gzip.open(file, "rb")
    if packing != "zstd":
        return file.open("rb", buffering=0)
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(f"{shown(file)}: a file packed with zstd", "files") from None
    return _Zstd(pa.CompressedInputStream(pa.OSFile(str(file)), "zstd"))


class _Zstd(io.RawIOBase):
    """A stream of pyarrow that says of damage what gzip's says."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 at the end."""
        try:
            found = self._stream.read(len(buffer))
        except OSError as problem:
            raise _Damaged(str(problem)) from None
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Give the file back."""
        self._stream.close()


def _single(file: Path, pieces: Iterator[memoryview]) -> Iterator[memoryview]:
    """The same with a tab for every ``::``; a colon at the end of a block may be the first of two."""
    rest = b""
    for block in pieces:
        text = rest + bytes(block)
        if b"\t" in text:
            raise InputError(
                f"{shown(file)}: fields are separated by '::', and some hold tabs.\nSave the table as CSV.",
                code="ambiguous-separator",
            )
        odd = len(text) - len(text.rstrip(b":"))
        rest = b":" if odd % 2 else b""
        yield memoryview((text[: len(text) - len(rest)]).replace(b"::", b"\t"))
    if rest:
        yield memoryview(rest)
