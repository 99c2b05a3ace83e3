"""Values that stand in the names of folders, as Spark and Hive write them: ``log/policy=new/day=2026-01-01/0.parquet``.

They are columns of text of all rows below the folder. Only those that somebody asks for by name are read, and the
policy of a log: a folder of days must not become the time of a log by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from unskew.log.batches import Kind, Reading
from unskew.log.column_maps import alternatives

MISSING = "__HIVE_DEFAULT_PARTITION__"  # what Hive writes where there is no value


def asked_of_folders(how: Reading) -> frozenset[str]:
    """The columns of an input that folders may name."""
    named = {each for theirs in how.columns.values() for each in alternatives(theirs)}
    return frozenset({*named, *how.keep, *(["policy"] if how.kind is Kind.LOG else [])})


def with_folders(
    file: Path, lazy: pl.LazyFrame, types: Iterable[tuple[str, pl.DataType]], asked: Collection[str]
) -> tuple[pl.Schema, pl.LazyFrame]:
    """A file with the values of its folders that are asked for; a column of the file itself is not replaced."""
    schema = pl.Schema(types)
    found = {name: value for name, value in folder_values(file).items() if name in asked and name not in schema}
    if not found:
        return schema, lazy
    values = [pl.lit(value, dtype=pl.String).alias(name) for name, value in found.items()]
    return pl.Schema({**schema, **dict.fromkeys(found, pl.String())}), lazy.with_columns(values)


def folder_values(file: Path) -> dict[str, str | None]:
    """What the folders of a file say, by name; those closer to the file count."""
    pairs = (name.partition("=") for name in file.parts[:-1])
    found = {unquote(name): unquote(value) for name, sign, value in pairs if sign and name}
    return {name: None if value == MISSING else value for name, value in found.items()}
