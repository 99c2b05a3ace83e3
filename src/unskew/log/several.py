"""Several files as one input: a folder, a pattern such as ``2024-*.csv.gz``, a list of paths, or ``a.csv,b.csv``."""

from __future__ import annotations

import os
from glob import glob
from os import PathLike
from pathlib import Path

from unskew.core.errors import InputError
from unskew.log import json_lines, packed
from unskew.log.duckdb_tables import file_of
from unskew.log.paths import Paths, as_path, shown

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "", ".dat": "", ".data": "", ".inter": ""}
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
LISTED = (".csv", ".tsv", *PARQUET, ".jsonl", ".ndjson")  # what of a folder is a table; others may be notes
_PATTERN = "*?["


def ending_of(file: Path) -> str:
    """What the name says about the format; text may be packed (.csv.gz)."""
    name = file.name.lower()
    bare = next((name.removesuffix(end) for end in packed.ENDINGS if name.endswith(end)), name)
    ending = bare[bare.rfind(".") :] if "." in bare else ""
    return ending if bare == name or ending in SEPARATORS or ending in json_lines.ENDINGS else file.suffix.lower()


def files_of(path: Paths) -> list[Path]:
    """The files of a path: itself, those of a folder (also in folders below), or those that a pattern names."""
    if isinstance(path, list | tuple):
        return [file for each in path for file in files_of(each)]
    given = as_path(path)
    if os.path.isdir(given):
        return _of_folder(given)
    text = str(path)
    if os.path.lexists(file_of(given)):  # a table of a database may have any name
        return [given]
    if "," in text and all(os.path.lexists(each) for each in text.split(",")):
        return [file for each in text.split(",") for file in files_of(each)]
    if not any(sign in text for sign in _PATTERN):
        return [given]
    found = sorted(file for name in glob(str(given), recursive=True) if (file := Path(name)).is_file())
    if not found:
        raise InputError(
            f"{shown(given)}: no file has such a name.\nCheck the pattern (looked from {shown(Path.cwd())}).",
            code="missing-file",
        )
    return found


def is_several(path: str | PathLike[str]) -> bool:
    """Whether a path names more than one file."""
    return os.path.isdir(path) or (not os.path.exists(file_of(path)) and any(sign in str(path) for sign in _PATTERN))


def _of_folder(folder: Path) -> list[Path]:
    below = (file for file in folder.rglob("*") if not _hidden(file.relative_to(folder)))
    found = sorted(file for file in below if file.is_file() and ending_of(file) in LISTED)
    if not found:
        raise InputError(
            f"{shown(folder)}: the folder holds no .parquet, .csv, .tsv or .jsonl file.\n"
            "Give a folder with such files.",
            code="empty-folder",
        )
    if len(kinds := sorted({ending_of(file) for file in found})) > 1:
        raise InputError(
            f"{shown(folder)}: the folder holds files of several kinds ({', '.join(kinds)}), and rows might count "
            f"twice.\nSay which are meant: '{shown(folder)}/*{kinds[0]}'.",
            code="mixed-formats",
        )
    return found


def _hidden(path: Path) -> bool:
    """Files that tools write beside the data: .part.crc, _SUCCESS, _temporary/…"""
    return any(name.startswith((".", "_")) for name in path.parts)
