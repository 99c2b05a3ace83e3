"""Aligned parts as bytes, few of them: what all parts share is named by its place, and numbers take the room they need.

Ranks fit into a byte and codes rarely need eight, and gains are mostly all alike; what is written, sent and read again
costs time by the byte. What comes back is what went in, to the bit.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

MANY = 256  # numbers of an array that are worth a look
WIDTHS = (np.int8, np.int16, np.int32)


def pack(part: object, shared: Sequence[object], file: IO[bytes]) -> None:
    """Write an object; ``shared`` are named by their place, not written."""
    pickler = _Pickler(file, protocol=5)
    pickler.names = {id(each): place for place, each in enumerate(shared)}
    pickler.dump(part)


def unpack(file: IO[bytes], shared: Sequence[object]) -> Any:
    """The object again, with the shared objects that are here."""
    unpickler = _Unpickler(file)
    unpickler.shared = shared
    return unpickler.load()


class _Pickler(pickle.Pickler):
    names: dict[int, int]

    def persistent_id(self, obj: Any) -> int | None:
        return self.names.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        """Arrays whose numbers are all alike, or need fewer bytes, are written so."""
        if type(obj) is not np.ndarray or obj.ndim != 1 or obj.size < MANY or obj.dtype.kind not in "if":
            return NotImplemented
        low, high = obj.min(), obj.max()
        if low == high and low != 0:  # zeros may differ in their sign
            return np.full, (obj.size, low, obj.dtype)
        fewest = next((width for width in WIDTHS if _holds(width, low, high)), obj.dtype)
        if obj.dtype.kind == "f" or np.dtype(fewest).itemsize >= obj.itemsize:
            return NotImplemented
        return _widened, (obj.astype(fewest), obj.dtype)


class _Unpickler(pickle.Unpickler):
    shared: Sequence[object]

    def persistent_load(self, pid: Any) -> object:
        return self.shared[pid]


def _holds(width: type[Any], low: Any, high: Any) -> bool:
    return bool(np.iinfo(width).min <= low and high <= np.iinfo(width).max)


def _widened(numbers: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    return numbers.astype(dtype)
