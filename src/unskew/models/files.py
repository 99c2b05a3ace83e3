"""A model in one file: arrays and a header in JSON, in NumPy's npz; no pickle, so that a file can do no harm.

Ids are kept as they are known: whole numbers, or texts as UTF-8 with their ends.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.atomic import atomic
from unskew.errors import InputError
from unskew.log.ids import Ids

VERSION = 1
OBJECTS = "it holds Python objects, which could run code; write texts with numpy.asarray(ids, dtype=str)"

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
    with atomic(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **packed)  # type: ignore[arg-type]


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]], dict[str, Ids]]:
    """Header, arrays and vocabularies of a file."""
    arrays = read_arrays(path, what := f"a model that {kind}.save wrote")
    try:
        header = json.loads(arrays.pop("header").tobytes())
        known = header["format"] == format_name(kind)
    except (ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{path}: not {what} ({problem}).") from None
    if not known:
        raise InputError(f"{path}: not {what}.")
    if header.get("version") != VERSION:
        raise InputError(f"{path}: version {header.get('version')} of the format; this unskew reads version {VERSION}.")
    try:
        ids = {name: _unpack(name, arrays) for name in ("users", "items")}
    except (KeyError, ValueError, IndexError, TypeError, pl.exceptions.PolarsError) as problem:
        raise InputError(f"{path}: the ids are damaged ({problem}).") from None
    return header, arrays, ids


def read_arrays(path: str | Path, what: str) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a file, which is not ``what`` it should be where it cannot be read."""
    with _opened(path, what) as file:
        return {name: file[name] for name in file.files}


def format_of(path: str | Path) -> str | None:
    """What wrote a file ("unskew factors"): the word of its header, None where it has no header."""
    with _opened(path, "a model") as file:
        return str(json.loads(file["header"].tobytes())["format"]) if "header" in file.files else None


@contextmanager
def _opened(path: str | Path, what: str) -> Iterator[Any]:
    """An .npz file; what keeps it from being read becomes one sentence."""
    try:
        if Path(path).is_file() and not zipfile.is_zipfile(path):
            raise InputError(f"{path}: not {what} (no .npz file: it is damaged, cut off, or something else).")
        with np.load(path, allow_pickle=False) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.\nCheck the path (looked from {Path.cwd()}).") from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as problem:
        why = OBJECTS if "allow_pickle" in str(problem) else str(problem)
        raise InputError(f"{path}: not {what} ({why}).") from None


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
        return Ids(pl.Series("id", arrays.pop(f"{name}_numbers")))
    data, ends = arrays.pop(f"{name}_texts").tobytes(), arrays.pop(f"{name}_ends")
    starts = np.concatenate([[0], ends[:-1]])
    return Ids(pl.Series("id", [data[a:b].decode() for a, b in zip(starts, ends, strict=True)], dtype=pl.String))
