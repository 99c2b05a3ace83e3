"""A model in one file: arrays and a header in JSON, in NumPy's npz; no pickle, so that a file can do no harm.

Ids are kept as they are known: whole numbers, or texts as UTF-8 with their ends.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.atomic import atomic
from unskew.errors import InputError
from unskew.log.ids import Ids

VERSION = 1

Arrays = Mapping[str, npt.NDArray[Any]]


def write(path: str | Path, kind: str, header: Mapping[str, Any], arrays: Arrays, ids: Mapping[str, Ids]) -> None:
    """Write a file that appears whole or not at all.

    Args:
        kind: the class whose ``save`` this is; ``read`` wants the same.
    """
    told = json.dumps({"format": _format(kind), "version": VERSION, **header}).encode()
    packed = {"header": np.frombuffer(told, dtype=np.uint8), **arrays}
    for name, vocabulary in ids.items():
        packed |= _pack(name, vocabulary)
    with atomic(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **packed)  # type: ignore[arg-type]


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]], dict[str, Ids]]:
    """Header, arrays and vocabularies of a file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        known = header["format"] == _format(kind)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as problem:
        raise InputError(f"{path}: not a model that {kind}.save wrote ({problem}).") from None
    if not known:
        raise InputError(f"{path}: not a model that {kind}.save wrote.")
    if header.get("version") != VERSION:
        raise InputError(f"{path}: version {header.get('version')} of the format; this unskew reads version {VERSION}.")
    try:
        ids = {name: _unpack(name, arrays) for name in ("users", "items")}
    except (KeyError, ValueError, IndexError, TypeError, pl.exceptions.PolarsError) as problem:
        raise InputError(f"{path}: the ids are damaged ({problem}).") from None
    return header, arrays, ids


def _format(kind: str) -> str:
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
