"""Aligned parts as bytes in several rows; what all parts share is not packed with each of them."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

CHUNK = 4 << 20  # bytes of a row: what Spark keeps together when it keeps rows in memory


def packed(part: object, shared: Sequence[object]) -> Iterator[bytes]:
    """An object in chunks; ``shared`` are named by their place, not packed."""
    out = io.BytesIO()
    pickler = _Pickler(out, protocol=5)
    pickler.names = {id(each): place for place, each in enumerate(shared)}
    pickler.dump(part)
    data = out.getbuffer()
    for start in range(0, len(data), CHUNK):
        yield bytes(data[start : start + CHUNK])


def unpacked(chunks: Sequence[bytes], shared: Sequence[object]) -> Any:
    """The object again, with the shared objects that are here."""
    unpickler = _Unpickler(io.BytesIO(b"".join(chunks)))
    unpickler.shared = shared
    return unpickler.load()


class _Pickler(pickle.Pickler):
    names: dict[int, int]

    def persistent_id(self, obj: Any) -> int | None:
        return self.names.get(id(obj))


class _Unpickler(pickle.Unpickler):
    shared: Sequence[object]

    def persistent_load(self, pid: Any) -> object:
        return self.shared[pid]
