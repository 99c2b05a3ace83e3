"""Counts per item of a file that exceeds memory: row groups stream through, only the counts stay.

``popularity`` needs nothing of a training log but the positives of each item. A file of any length can be counted
here and given to ``Popularity.from_counts``. Unlike ``read_log`` this does not look for repeated pairs of user and
item, which would need all pairs at once: each row counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import numpy as np
import polars as pl

from unskew.errors import InputError
from unskew.log import Ids
from unskew.log.sources import match_columns, open_file, reading
from unskew.propensity.base import Floats


def count_items(
    path: str | PathLike[str], *, columns: Mapping[str, str] | None = None, above: float | None = None
) -> tuple[Ids, Floats]:
    """The items of a file (.parquet, .csv, .tsv) and the rows of each.

    Args:
        columns: our column names (``item``, ``value``) → theirs.
        above: count only rows whose value is above this (0 for conversions); by default all rows.
    """
    source, (lazy, _) = str(path), open_file(path)
    with reading(source):
        required = ("item",) if above is None else ("item", "value")
        names = match_columns(source, lazy.collect_schema().names(), required, (), columns, ())
        rows = lazy.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
        if above is not None:
            rows = rows.filter(pl.col("value").cast(pl.Float64) > above)
        found = rows.group_by("item").len().collect(engine="streaming")
    if found["item"].null_count():
        missing = int(found.filter(pl.col("item").is_null())["len"][0])
        raise InputError(
            f"{source}: column '{names['item']}' must not be empty; {missing:,} rows have no item.\n"
            "Mend the column, or leave such rows out."
        )
    if not len(found):
        raise InputError(f"{source}: there is nothing to count.\nGive a file with at least one row (that counts).")
    items = Ids.of(found["item"])
    counts = np.zeros(len(items))
    counts[items.encode(found["item"])] = found["len"].to_numpy()
    return items, counts
