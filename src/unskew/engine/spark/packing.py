"""Aligned parts as bytes in several rows; what all parts share is not packed with each of them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from unskew.engine.packing import pack, unpack

CHUNK = 4 << 20  # bytes of a row: what Spark keeps together when it keeps rows in memory


def packed(part: object, shared: Sequence[object]) -> Iterator[bytes]:
    """An object in chunks; ``shared`` are named by their place, not packed."""
    out = io.BytesIO()
    pack(part, shared, out)
    data = out.getbuffer()
    for start in range(0, len(data), CHUNK):
        yield bytes(data[start : start + CHUNK])


def unpacked(chunks: Sequence[bytes], shared: Sequence[object]) -> Any:
    """The object again, with the shared objects that are here."""
    return unpack(io.BytesIO(b"".join(chunks)), shared)
