"""The catalogue: all items that could be recommended, also those that nobody happened to see.

Logs show the items that were seen. Where some were seen by nobody, a catalogue made of logs is too small: estimators
that divide by the number of pairs come out too low, and normalised ones leave a part of the total out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from unskew.log.coded import code_ids
from unskew.log.columns import check_ids
from unskew.log.ids import Ids
from unskew.log.log import Account, Invalid
from unskew.log.sources import table_of_file, table_of_frame


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The items, and where they come from."""

    items: Ids
    account: Account


def read_catalogue(source: Any, *, columns: Mapping[str, str] | None = None, invalid: Invalid = "error") -> Catalogue:
    """The catalogue from a file or frame with a column ``item``."""
    if isinstance(source, str | PathLike):
        table = table_of_file(source, ("item",), (), columns=columns, invalid=invalid)
    else:
        table = table_of_frame(source, "items", ("item",), (), columns=columns, invalid=invalid)
    table.refuse_nulls("item")
    check_ids(table, "item")
    table.refuse(
        "item", ~table.frame["item"].is_first_distinct(), must="must name each item once", reason="repeated item"
    )
    kept = table.kept({"item": table.frame["item"]})
    ids, _ = code_ids(table, "item", kept["item"])
    return Catalogue(ids, table.account())
