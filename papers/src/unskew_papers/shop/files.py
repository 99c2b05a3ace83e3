"""A shop over time as files: its log, its items, what is wanted next week, and what an A/B test would show then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core import refuse_existing, together
from unskew.simulate import save
from unskew_papers.shop.rhythm import START
from unskew_papers.shop.shop import ShopOverTime

WEEK = 7
CANDIDATES = {
    "popular": "most_popular",
    "recent": "recently_popular(days=7)",
    "item_knn": "item_knn(neighbours=50)",
    "svd": "svd(dim=50)",
}
FILES = ("log.parquet", "items.parquet", "full.parquet", "truth.json")


def write_shop(
    shop: ShopOverTime,
    directory: str | Path,
    *,
    candidates: Mapping[str, str] = CANDIDATES,
    progress: Callable[[str], None] | None = None,
    force: bool = False,
) -> dict[str, Path]:
    """Write a shop; gives back the path of each file by name.

        log.parquet          user, item, time, policy, propensity, place (on the page; 0 where the user found the item)
        items.parquet        item, niche, first_day, last_day: from when to when it can be had, out of stock or not
        full.parquet         user, item: all that users of the log who come in the week behind it want then
        truth.json           what an A/B test of the candidates would show in that week: clicks, recall@k, their errors

    All files appear together when the last one is made; a run that fails before leaves the directory as it was.

    Args:
        candidates: canonical strings of models by name; they are fitted on the whole log.
        progress: is told the name of each file when it has been made.
        force: whether files of these names may be replaced.
    """
    refuse_existing([Path(directory) / name for name in FILES], force)
    paths: dict[str, Path] = {}
    with together():
        paths["log"] = save(directory, "log", shop.log.to_frame(), progress)
        paths["items"] = save(directory, "items", _items(shop), progress)
        paths["full"] = save(directory, "full", shop.full_log(shop.days, WEEK).to_frame(), progress)
        paths["truth"] = save(directory, "truth", _truths(shop, candidates), progress)
    return paths


def _items(shop: ShopOverTime) -> pl.DataFrame:
    shelf, opening = shop.catalogue, START.date()
    return pl.DataFrame(
        {
            "item": shop.ids[1].values,
            "niche": shelf.niche,
            "first_day": [opening + timedelta(days=day) for day in shelf.born.tolist()],
            "last_day": [opening + timedelta(days=day - 1) for day in shelf.gone.tolist()],
        }
    )


def _truths(shop: ShopOverTime, candidates: Mapping[str, str]) -> list[dict[str, Any]]:
    table = shop.ab_test(candidates, shop.days, WEEK).table()
    metrics = ["clicks", *(name for name in table.columns if name.startswith("recall") and "_" not in name)]
    return [
        {"model": row["model"], "metric": metric, "value": row[metric], "error": row[f"{metric}_error"]}
        for row in table.iter_rows(named=True)
        for metric in metrics
    ]
