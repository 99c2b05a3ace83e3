"""The population and the catalogue: all users and all items that count, with or without a row in the logs.

A population that leaves out users without interactions inflates sums, so estimators with a fixed divisor average over
all of it. A catalogue made of logs lacks the items that nobody has seen: estimators that divide by the number of pairs
come out too low, and normalised ones leave a part of the total out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log.columns import check_ids, check_labels, code_ids, numbers
from unskew.log.ids import Codes, Ids
from unskew.log.log import Account, Invalid
from unskew.log.sources import table_of
from unskew.log.table import Table


@dataclass(frozen=True, eq=False)
class Population:
    """The users, n_u where known, and columns that may divide them into segments, all in the order of the ids."""

    users: Ids
    relevant: npt.NDArray[np.float64] | None = None
    columns: dict[str, pl.Series] = field(default_factory=dict)
    account: Account = field(default_factory=lambda: Account("memory", 0))


class Catalogue(NamedTuple):
    """The items, and where they come from; ``shown`` says which had a chance to be shown, where a column tells it."""

    items: Ids
    account: Account
    shown: npt.NDArray[np.bool_] | None = None


def read_population(
    source: Any, *, columns: Mapping[str, Any] | None = None, keep: Iterable[str] = (), invalid: Invalid = "error"
) -> Population:
    """The population from a file or frame ``user[, relevant]``; ``keep`` names columns to take along if present."""
    table = table_of(source, "users", ("user",), ("relevant", *keep), columns=columns, invalid=invalid)
    found = check_people(table, keep)
    table.refuse_repeats("user")
    kept = table.kept(found)
    return ordered_population(code_ids(table, "user", kept["user"]), kept, table.account())


def check_people(table: Table, keep: Iterable[str]) -> dict[str, pl.Series]:
    """The columns that are used, each checked; users may still be repeated."""
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
            code="out-of-range",
            why="It is the number of the user's relevant items, seen or not.",
        )
    for name in keep:
        if name in table:
            check_labels(table, name)
    return found | {name: table.frame[name].cast(pl.String).fill_null("(none)") for name in keep if name in table}


def ordered_population(of_users: tuple[Ids, Codes], kept: Mapping[str, pl.Series], account: Account) -> Population:
    """The population of coded users, each of them once."""
    ids, code = of_users
    order = np.argsort(code)
    relevant = kept["relevant"].gather(order).to_numpy() if "relevant" in kept else None
    labels = {name: column.gather(order) for name, column in kept.items() if name not in ("user", "relevant")}
    return Population(ids, relevant, labels, account)


def read_catalogue(source: Any, *, columns: Mapping[str, Any] | None = None, invalid: Invalid = "error") -> Catalogue:
    """The catalogue from a file or frame ``item[, propensity]``: an item with a propensity could be shown."""
    table = table_of(source, "items", ("item",), ("propensity",), columns=columns, invalid=invalid)
    table.refuse_nulls("item")
    check_ids(table, "item")
    table.refuse_repeats("item")
    found = {"item": table.frame["item"]}
    if "propensity" in table:
        found["propensity"] = table.frame["propensity"].cast(pl.Float64, strict=False).fill_nan(None) > 0.0
    kept = table.kept(found)
    ids, code = code_ids(table, "item", kept["item"])
    if "propensity" not in kept:
        return Catalogue(ids, table.account())
    return Catalogue(ids, table.account(), kept["propensity"].fill_null(False).gather(np.argsort(code)).to_numpy())
