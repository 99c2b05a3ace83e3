"""The population: all users that count, also those who were silent, and how many relevant items each has where known.

A population that leaves out silent users inflates sums, so estimators with a fixed divisor average over all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log.coded import code_ids
from unskew.log.columns import check_ids, check_labels, numbers
from unskew.log.ids import Ids
from unskew.log.log import Account, Invalid
from unskew.log.sources import table_of_file, table_of_frame


@dataclass(frozen=True, eq=False)
class Population:
    """The users, n_u where known, and columns that may divide them into segments, all in the order of the ids."""

    users: Ids
    relevant: npt.NDArray[np.float64] | None = None
    columns: dict[str, pl.Series] = field(default_factory=dict)
    account: Account = field(default_factory=lambda: Account("memory", 0))


def read_population(
    source: Any, *, columns: Mapping[str, str] | None = None, keep: Iterable[str] = (), invalid: Invalid = "error"
) -> Population:
    """The population from a file or frame ``user[, relevant]``; ``keep`` names columns to take along if present."""
    taken = (("user",), ("relevant", *keep))
    if isinstance(source, str | PathLike):
        table = table_of_file(source, *taken, columns=columns, invalid=invalid)
    else:
        table = table_of_frame(source, "users", *taken, columns=columns, invalid=invalid)
    table.refuse_nulls(*(name for name in ("user", "relevant") if name in table))
    check_ids(table, "user")
    found = {"user": table.frame["user"]}
    if "relevant" in table:
        found["relevant"] = numbers(table, "relevant")
        table.refuse(
            "relevant",
            (found["relevant"] < 0).fill_null(False),
            must="must be at least 0",
            reason="relevant below 0",
            why="It is the number of the user's relevant items, seen or not.",
        )
    for name in keep:
        if name in table:
            check_labels(table, name)
    found |= {name: table.frame[name].cast(pl.String).fill_null("(none)") for name in keep if name in table}
    table.refuse(
        "user", ~table.frame["user"].is_first_distinct(), must="must name each user once", reason="repeated user"
    )
    kept = table.kept(found)
    ids, code = code_ids(table, "user", kept["user"])
    order = np.argsort(code)
    relevant = kept["relevant"].gather(order).to_numpy() if "relevant" in kept else None
    labels = {name: kept[name].gather(order) for name in keep if name in kept}
    return Population(ids, relevant, labels, table.account())
