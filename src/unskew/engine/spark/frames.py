"""DataFrames of Spark as inputs: which columns they have, and how many parts of the users their rows make.

Nothing but the DataFrame interface is used, so that every session will do: classic ones, and those of Spark Connect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from unskew.core.bounds import Whole
from unskew.core.errors import InputError, MissingExtraError
from unskew.core.text import plain
from unskew.log.paths import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTS = Whole(1, 100_000, "More cost more than they save.")
PER_PART = 1_000_000  # rows of a part, of all inputs together
FEWEST = 50_000  # rows for which a further part pays
CONNECT = 16  # parts at once, where a session does not say how many tasks run side by side


class SparkRows(NamedTuple):
    """A DataFrame, and what messages call it."""

    frame: DataFrame
    source: str

    @property
    def columns(self) -> list[str]:
        """Its columns, as it calls them."""
        return list(self.frame.columns)

    @property
    def types(self) -> pl.Schema:
        """The types of its columns, as they come out of Spark."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return local_frame(to_arrow_schema(self.frame.schema).empty_table()).schema

    def used(self, names: Mapping[str, str]) -> DataFrame:
        """Its used columns, under our names."""
        from pyspark.sql import functions as sql

        quoted = {ours: theirs.replace("`", "``") for ours, theirs in names.items()}
        return self.frame.select(*(sql.col(f"`{theirs}`").alias(ours) for ours, theirs in quoted.items()))


def read_parquet(session: SparkSession, path: Any) -> SparkRows:
    """A file or folder that all workers can read."""
    name = str(path)
    if not name.endswith((".parquet", ".pq")) and "." in name.rsplit("/", 1)[-1]:
        raise InputError(
            f"{shown(name)}: Spark reads Parquet files and folders here.\nWrite it as Parquet first.",
            code="parquet-only",
        )
    try:
        return SparkRows(session.read.parquet(name), shown(name))
    except Exception as problem:
        raise InputError(
            f"{shown(name)}: Spark cannot read it: {plain(str(problem).splitlines()[0])}\nGive a Parquet file "
            "or folder that all workers can read.",
            code="unreadable-file",
        ) from problem


def is_frame(given: Any) -> bool:
    """Whether this is a DataFrame of Spark."""
    try:
        from pyspark.sql import DataFrame
    except ImportError:
        raise MissingExtraError("unskew.spark", "spark") from None
    return isinstance(given, DataFrame)


def local_frame(table: Any) -> pl.DataFrame:
    """A table of Arrow here."""
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    return found


def usual_parts(session: SparkSession, inputs: Iterable[SparkRows]) -> int:
    """How many parts of the users suit so many rows, which are counted: enough for all cores, each small."""
    rows = sum(int(each.frame.count()) for each in inputs)
    try:
        cores = int(session.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context, and says so by an error of its own
        cores = CONNECT
    return max(1, math.ceil(rows / PER_PART), min(cores, math.ceil(rows / FEWEST)))
