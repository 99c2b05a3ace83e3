"""A model in one file: arrays and a header in JSON, in NumPy's npz; no pickle, so that a file can do no harm.

Ids are kept as they are known: whole numbers, or texts as UTF-8 with their ends.
"""

from __future__ import annotations

import json
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core import memory
from unskew.core.atomic import atomic_file
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log.ids import Ids
from unskew.log.paths import check_file, shown

VERSION = 1
OBJECTS = "it holds Python objects, which could run code; write texts with numpy.asarray(ids, dtype=str)"
LONGEST_HEADER = 16_000_000  # bytes
_MOST = 1000  # arrays
BOMB = 200  # times the packed size: factors hardly shrink, and what is made to fill the memory unpacks to 1,000 times
_HARMLESS = 64_000_000  # bytes that may be unpacked from whatever
_ROOM = 3  # what is read is put in order and into double precision before it is used
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,  # encrypted, packed in an unknown way, nested too deeply
    SyntaxError,  # an array's header, which is written as Python is
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)

Arrays = Mapping[str, npt.NDArray[Any]]


def write(path: str | Path, kind: str, header: Mapping[str, Any], arrays: Arrays, ids: Mapping[str, Ids]) -> None:
    """Write a file that appears whole or not at all.

    Args:
        kind: the class whose ``save`` this is; ``read`` wants the same.
    """
    told = json.dumps({"format": format_name(kind), "version": VERSION, **header}).encode()
    packed = {"header": np.frombuffer(told, dtype=np.uint8), **arrays}
    for name, vocabulary in ids.items():
        packed |= _pack(name, vocabulary)
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **packed)  # type: ignore[arg-type]


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]], dict[str, Ids]]:
    """Header, arrays and vocabularies of a file."""
    arrays = read_arrays(path, what := f"a model that {kind}.save wrote")
    try:
        header = _header(arrays.pop("header"))
        known = header["format"] == format_name(kind)
    except _UNREADABLE as problem:
        raise InputError(f"{shown(path)}: not {what} ({plain(problem)}).", code="unknown-format") from None
    if not known:
        raise InputError(f"{shown(path)}: not {what}.", code="unknown-format")
    if header.get("version") != VERSION:
        raise InputError(
            f"{shown(path)}: version {plain(header.get('version'))} of the format; "
            f"this unskew reads version {VERSION}.",
            code="unknown-version",
        )
    try:
        ids = {name: _unpack(name, arrays) for name in ("users", "items")}
    except (*_UNREADABLE, pl.exceptions.PolarsError) as problem:
        raise InputError(f"{shown(path)}: the ids are damaged ({plain(problem)}).", code="damaged-file") from None
    if strange := [name for name, array in arrays.items() if array.dtype.kind not in "fiub"]:
        raise InputError(
            f"{shown(path)}: the model is damaged (array '{plain(strange[0])}' does not hold numbers).",
            code="damaged-file",
        )
    return header, arrays, ids


def read_arrays(path: str | Path, what: str) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a file, which is not ``what`` it should be where it cannot be read."""
    with _opened(path, what) as file:
        return {name: file[name] for name in file.files}


def format_of(path: str | Path) -> str | None:
    """What wrote a file ("unskew factors"): the word of its header, None where it has no header."""
    with _opened(path, "a model") as file:
        return str(_header(file["header"])["format"]) if "header" in file.files else None


def _header(packed: npt.NDArray[Any]) -> dict[str, Any]:
    if packed.nbytes > LONGEST_HEADER:
        raise ValueError(f"the header is longer than {memory.amount(LONGEST_HEADER)}")
    header = json.loads(packed.tobytes())
    if not isinstance(header, dict):
        raise ValueError("the header is damaged")
    return header


@contextmanager
def _opened(path: str | Path, what: str) -> Iterator[Any]:
    """An .npz file; what keeps it from being read becomes one sentence."""
    file = check_file(path, "Give an .npz file.")
    try:
        if not zipfile.is_zipfile(file):
            raise ValueError("no .npz file: it is damaged, cut off, or something else")
        size = _size(file)
        memory.require(_ROOM * size, f"{shown(path)}: reading a model of {memory.amount(size)}", "Give a smaller one.")
        with np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except InputError:
        raise
    except _UNREADABLE as problem:
        why = OBJECTS if "allow_pickle" in str(problem) else plain(problem, 200)
        raise InputError(f"{shown(path)}: not {what} ({why}).", code="unknown-format") from None


def _size(file: Path) -> int:
    """Bytes of all arrays; each must be as large as it says, since memory is taken by what it says."""
    with zipfile.ZipFile(file) as packed:
        members = packed.infolist()
        if len({member.filename for member in members}) < len(members) or len(members) > _MOST:
            raise ValueError("an array is there twice, or there are too many")
        for member in members:
            with packed.open(member) as content:
                shape, dtype = _shape(content)
                if dtype.hasobject:
                    raise ValueError(OBJECTS)
                if member.file_size > max(_HARMLESS, BOMB * member.compress_size):
                    raise ValueError(f"array '{member.filename}' unpacks to more than {BOMB} times its size")
                if min(shape, default=0) < 0 or content.tell() + prod(shape) * dtype.itemsize != member.file_size:
                    raise ValueError(f"array '{member.filename}' is not as large as it says")
        return sum(member.file_size for member in members)


def _shape(content: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """What an array says of itself."""
    version = np.lib.format.read_magic(content)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, _, dtype = read(content)
    except MemoryError:  # brackets in brackets in brackets
        raise ValueError("the header of an array is damaged") from None
    return shape, dtype


def format_name(kind: str) -> str:
    """What the header of a file that this class wrote says."""
    return f"unskew {kind.lower()}"


def _pack(name: str, ids: Ids) -> dict[str, npt.NDArray[Any]]:
    if ids.values.dtype.is_integer():
        return {f"{name}_numbers": ids.values.cast(pl.Int64).to_numpy()}
    texts = ids.values.cast(pl.String)
    data = np.frombuffer("".join(texts.to_list()).encode(), dtype=np.uint8)
    return {f"{name}_texts": data, f"{name}_ends": np.cumsum(texts.str.len_bytes().to_numpy()).astype(np.int64)}


def _unpack(name: str, arrays: dict[str, npt.NDArray[Any]]) -> Ids:
    if f"{name}_numbers" in arrays:
        numbers = arrays.pop(f"{name}_numbers")
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
            raise ValueError("they are neither whole numbers nor texts")
        values = pl.Series("id", numbers)
    else:
        data, ends = arrays.pop(f"{name}_texts").tobytes(), arrays.pop(f"{name}_ends")
        starts = np.concatenate([[0], ends[:-1]])
        texts = [data[a:b].decode() for a, b in zip(starts, ends, strict=True)]
        values = pl.Series("id", texts, dtype=pl.String)
    if values.is_duplicated().any():
        raise ValueError("one is there twice")
    return Ids(values)
