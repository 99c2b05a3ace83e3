"""What default calls say of real logs whose columns are known: Open Bandit (logged) and Coat (fitted by its authors).

Lists are the same for all users, so their value on the part that was shown at random needs no weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

import unskew as us

from .column_worlds import judge
from .verdict_worlds import Case, K


def tell() -> Iterator[str]:
    """A line for every call."""
    bandit, coat = us.load("open-bandit"), us.load("coat")
    learning, even = frame_of(bandit.mnar), frame_of(bandit.mcar)
    yield from _told("Open Bandit, Thompson sampling", learning, even, 1.0)
    yield from _told("Open Bandit, random policy", even, learning, 1.0)
    yield from _told("Coat, shipped propensities", frame_of(coat.mnar), frame_of(coat.mcar), 4.0)


def _told(name: str, log: pl.DataFrame, other: pl.DataFrame, least: float) -> Iterator[str]:
    """Of pairs of lists, what is said from a log, and how often their items are relevant in the other one."""
    items = log.group_by("item").len().sort("len", "item", descending=True)["item"].to_list()
    lists = {"often": items[:K], "middle": items[K : 2 * K], "seldom": items[-K:]}
    for a, b in (("often", "seldom"), ("often", "middle"), ("middle", "seldom")):
        rates = [_rate(other.filter(pl.col("item").is_in(lists[each]))["value"], least) for each in (a, b)]
        models = {each: _same(log["user"].unique().sort(), lists[each]) for each in (a, b)}
        for zeros in (True, False):
            said = judge(_case(log, models, least, zeros))
            assumed = f", if {said.assumption}" if said.assumption else ""
            yield f"{name}, {'with' if zeros else 'without'} zeros: {a} against {b}: {said.word}{assumed}"
            yield f"    relevant in the other log: {rates[0]:.3g} and {rates[1]:.3g}. {said.trust}"


def _rate(values: pl.Series, least: float) -> float:
    return float(np.mean(values.to_numpy() >= least))


def _case(log: pl.DataFrame, models: dict[str, pl.DataFrame], least: float, zeros: bool) -> Case:
    if not zeros:
        return Case(log.filter(pl.col("value") >= least).drop("value"), models, "")
    stars = {"feedback": "ratings", "relevant": f">={least:g}"}
    return Case(log, models, "", stars if least > 1.0 else {"feedback": "conversions"})


def frame_of(log: us.Log | None) -> pl.DataFrame:
    """A log as a user would hold it."""
    assert log is not None
    columns = {"user": log.users.values.gather(log.user), "item": log.items.values.gather(log.item), "value": log.value}
    return pl.DataFrame(columns | ({} if log.propensity is None else {"propensity": log.propensity}))


def _same(users: pl.Series, items: list[int]) -> pl.DataFrame:
    """One list for all."""
    ranked = pl.DataFrame({"item": items, "rank": np.arange(1, len(items) + 1)})
    return pl.DataFrame({"user": users}).join(ranked, how="cross")
