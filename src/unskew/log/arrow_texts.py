"""The pieces of a text column as Arrow hands them over (C stream interface), read where they lie.

polars gives texts as views of 16 bytes each and buffers with the longer texts, which are read by their addresses, not
copied; a column that comes in another form is left to polars.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

VIEWS = b"vu"  # Arrow's name for texts as views


class _Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_release_schema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))


class Piece(NamedTuple):
    """Views as two words each, the addresses of the buffers that they point into, and how long each buffer is."""

    views: npt.NDArray[np.uint64]
    buffers: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.int64]


def pieces(texts: pl.Series) -> Iterator[Piece] | None:
    """The pieces of a column of texts without nulls; nothing where they do not come as views.

    All pieces are there until the walk ends, so that no two texts stand at one address.
    """
    capsule = texts.__arrow_c_stream__()
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    if stream.contents.get_schema(stream, ctypes.byref(schema)):
        return None
    try:
        if schema.format != VIEWS:
            return None
    finally:
        _release_schema(schema.release)(ctypes.byref(schema))
    return _walk(stream, capsule)


def _walk(stream: Any, capsule: object) -> Iterator[Piece]:
    """Every array of the stream; ``capsule`` owns the stream and must outlive the walk."""
    arrays = []
    try:
        while True:
            array = _Array()
            if stream.contents.get_next(stream, ctypes.byref(array)) or not array.release:
                return
            arrays.append(array)
            yield _piece(array)
    finally:
        for array in arrays:
            array.release(ctypes.byref(array))


def _piece(array: Any) -> Piece:
    """Views, then the buffers that they point into, then how long each buffer is."""
    count = array.n_buffers - 3
    buffers = np.array([array.buffers[2 + number] or 0 for number in range(count)], dtype=np.uint64)
    sizes = np.empty(0, dtype=np.int64)
    if count:
        sizes = np.frombuffer((ctypes.c_int64 * count).from_address(array.buffers[2 + count]), dtype=np.int64).copy()
    size = 16 * (array.offset + array.length)
    if not size:
        return Piece(np.empty((0, 2), dtype=np.uint64), buffers, sizes)
    whole = np.frombuffer((ctypes.c_char * size).from_address(array.buffers[1]), dtype=np.uint64)
    views = whole.reshape(-1, 2)[array.offset :]
    views.flags.writeable = False
    return Piece(views, buffers, sizes)
