"""Calls whose answers no engine may change, and their tables as Parquet files: any number, order of rows, and ids."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.golden.calls import THEMES
from tests.golden.worlds import table
from unskew.engine.stream.sizes import Sizes
from unskew.outcome import Given, Means
from unskew.result import Result

Call = dict[str, Any]
THEMED: dict[str, Call] = {
    f"{theme}: {name}": dict(call) for theme, calls in THEMES.items() for name, call in calls.items()
}
FILES = ("test", "models", "train", "users")

_likes = THEMED["implicit: default, no propensity"] | {"users": None, "refused": "skip"}
_pages = THEMED["conversions: estimator, dr"]
_guessed = _pages | {
    "metrics": ["dcg@5", "precision@5"],
    "estimators": ["naive", "ips", "direct", "dr", "sndr", "switch(tau=3)", "clipped(dr, at=0.2)", "snips(over=list)"],
    "target": ["per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)", "per_pair"],
}
_sums = {"target": "per_user_sum"}
LIKED = ["naive", "snips", "gs(strata=3)", "clipped(snips, quantile=0.1)"]
RANKED = ["recall@5", "ndcg@5", "map(divide=min)@5", "mrr"]
OWN: dict[str, Call] = {
    "likes": THEMED["implicit: rows, by group"]
    | {"estimators": LIKED, "metrics": RANKED, "target": ["per_user", "pooled"]},
    "sums": _guessed,
    "twins": _likes | {"models": {"near": "@shop.tastes", "again": "@shop.tastes", "far": "@shop.popular"}},
    "folds of guesses": _guessed | {"outcome": "crossfit(means(shrink=1), folds=3, seed=4)", "interval": "bootstrap",
                                    "replicates": 50},
    "unasked guesses": _guessed | _sums | {"outcome": "given(@listed)"},
    "guesses for all": _guessed | {"outcome": "given(@visits.guess)", "by": "group"},
    "guesses by default": _guessed | {"outcome": "given(@gaps, default=3)", "metrics": ["dcg@3"], "invalid": "drop"},
    "fitted elsewhere": _guessed | {"outcome": "@fitted", "by": "popularity(strata=2)"},
    "guesses in memory": _guessed | _sums | {"outcome": "@held"},
    "strata": _pages | {"test": "@shelves", "train": "@shelves_train", "target": "per_user", "by": "policy",
                                  "estimators": ["naive", "stratified(strata=column(shelf), shares=train)"]},
    "bayes": THEMED["conversions: propensity, naive_bayes"] | {"target": ["per_user_sum", "pooled"]},
    "repeated": _likes | {"test": "@twice"},
    "places": _pages | {"test": "@placed", "estimators": ["naive", "snips"]},
    "places of kept rows": _likes | {"test": "@placed_twice"},
    "no places": _likes | {"test": "@misplaced", "invalid": "drop"},
    "named places": _likes | {"test": "@misplaced", "invalid": "drop", "columns": {"position": "slot"}},
    "timed": _likes | {"test": "@shop.test", "propensity": None},
    "afterwards": _likes | {"test": "@afterwards"},
    "other users": _pages | _sums | {"train": "@others", "share": "users", "users": None, "estimators": LIKED[:2],
                                     "propensity": "popularity(gamma=1, level=absolute)"},
    "wrong rows": _likes | {"test": "@wrong", "models": {"a": "@wrong_lists", "b": "@shop.popular"}, "invalid": "drop"},
    "strangers": _likes | {"models": {"ours": "@shop.tastes", "others": "@strange", "scored": "@scored"}},
}  # fmt: skip
_AS_RECORDED = (
    "implicit: default", "implicit: rows", "implicit: propensity", "implicit: interval", "conversions: outcome",
    "conversions: propensity, popularity", "conversions: propensity, logistic_mf", "conversions: propensity, of the",
    "conversions: strata", "conversions: default, column", "conversions: default, p", "conversions: default, graded",
    "ratings: errors, targets", "ratings: errors, naive_bayes", "ratings: errors, popularity", "ratings: errors, mse",
    "ratings: errors, bootstrap", "ratings: lists, values",
)  # fmt: skip
CALLS: dict[str, Call] = OWN | {name: call for name, call in THEMED.items() if name.startswith(_AS_RECORDED)}


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    place = np.random.default_rng(6).integers(1, 9, len(rows))
    return rows.with_columns(slot=pl.Series(place).set(pl.Series(place > 7), None))


def _shelved(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(shelf=pl.col("item").str.slice(3), policy=(pl.col("user") % 2).cast(pl.String))


def _repeated(rows: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([rows, rows.sample(40, seed=7)])


def _listed() -> pl.DataFrame:
    pairs = pl.concat([table(f"visits.{name}").select("user", "item") for name in ("popular", "tastes")]).unique()
    rows = table("visits.test").select("user", "item")
    return table("visits.guess").join(pl.concat([pairs, rows]).unique(), on=["user", "item"], how="semi")


def _wrong() -> pl.DataFrame:
    row = pl.int_range(pl.len())
    item, chance = pl.when(row % 97 == 5).then(None), pl.when(row % 89 == 7).then(2.0)
    return table("shop.test").with_columns(item=item.otherwise("item"), propensity=chance.otherwise("propensity"))


def _misplaced() -> pl.DataFrame:
    slot = pl.when(pl.int_range(pl.len()) % 91 == 60).then(pl.lit("top")).otherwise(pl.lit("3"))
    return _repeated(table("shop.bare")).with_columns(slot=slot)


def _gaps() -> pl.DataFrame:
    some = table("visits.guess").filter(pl.col("user") % 3 > 0)
    return some.with_columns(prediction=pl.when(pl.int_range(pl.len()) == 90).then(None).otherwise("prediction"))


MADE: dict[str, Callable[[], Any]] = {
    "fitted": lambda: Means().fit(us.Log.from_frame(table("visits.train"), feedback="conversions")),
    "held": lambda: Given(table("visits.guess")),
    "listed": _listed,
    "gaps": _gaps,
    "shelves": lambda: _shelved(table("visits.test")),
    "shelves_train": lambda: _shelved(table("visits.train")),
    "twice": lambda: _repeated(table("shop.bare")),
    "placed": lambda: _placed(table("visits.test")),
    "placed_twice": lambda: pl.concat(
        [table("shop.bare").with_columns(rank=pl.lit(1)), table("shop.bare")[:40].with_columns(rank=pl.lit(2))]
    ),
    "misplaced": _misplaced,
    "afterwards": lambda: table("shop.test").with_columns(pl.col("time") + 41 * 86_400),
    "others": lambda: table("visits.train").with_columns(pl.col("user") + 10_000),
    "wrong": _wrong,
    "wrong_lists": lambda: pl.concat([table("shop.tastes"), table("shop.tastes")[10:13]]).with_columns(
        rank=pl.when(pl.int_range(pl.len()) == 40).then(0).otherwise("rank")
    ),
    "strange": lambda: table("shop.chance").with_columns(pl.col("user") + 1_000_000 * (pl.col("user") % 3 > 0)),
    "scored": lambda: table("shop.popular").select("user", "item", score=-pl.col("rank").cast(pl.Float64)),
}


@cache
def made(name: str) -> Any:
    """What stands behind ``@name``: a table of the recorded calls, or one made of them."""
    return MADE[name]() if name in MADE else table(name)


def filled(call: Call, tables: Callable[[str, str], Any] = lambda where, name: made(name)) -> dict[str, Any]:
    """The arguments of a call with its tables, as ``tables`` gives them for an argument."""

    def value(where: str, given: Any) -> Any:
        if isinstance(given, Mapping):
            return {name: value(where, item) for name, item in given.items()}
        if isinstance(given, str) and given.startswith("@"):
            return tables(where, given[1:])
        return given

    return {name: value(name, given) for name, given in call.items() if name != "do"}


@dataclass(frozen=True)
class Layout:
    """How tables are written, and how they are read.

    Args:
        ids: what becomes of user ids: ``int``, ``text`` or ``mixed`` (text in some files, some with zeros ahead).
    """

    files: int = 1
    order: str = "shuffled"
    ids: str = "int"
    parts: int = 3
    chunk: int = 500
    piece: int = 300
    seed: int = 0

    def frame(self, table: pl.DataFrame, name: str) -> pl.DataFrame:
        """A table with these ids, in this order."""
        if self.order == "shuffled":
            table = table.sample(fraction=1.0, shuffle=True, seed=self.seed)
        if self.ids != "int" and "user" in table.columns:
            user = pl.col("user").cast(pl.String)
            if self.ids == "mixed" and name == "models":
                user = pl.when(pl.col("user") % 5 == 0).then(pl.lit("0") + user).otherwise(user)
            table = table.with_columns(user)
        return table.sort("user", maintain_order=True) if self.order == "sorted" else table

    def write(self, table: pl.DataFrame, folder: Path) -> str:
        """The files of a table, as a pattern."""
        folder.mkdir(parents=True)
        cuts = np.linspace(0, len(table), self.files + 1).astype(int)
        for n, (low, high) in enumerate(pairwise(cuts)):
            table[low:high].write_parquet(folder / f"{n}.parquet")
        return str(folder / "*.parquet")


def laid_out(call: Call, layout: Layout, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments with frames, and with files of the same rows."""

    def frame(where: str, name: str) -> Any:
        found = made(name)
        return layout.frame(found, where) if isinstance(found, pl.DataFrame) else found

    def written(where: str, name: str) -> Any:
        there = folder / where / name
        if where not in FILES:
            return frame(where, name)
        return str(there / "*.parquet") if there.exists() else layout.write(frame(where, name), there)

    text = str(call.get("outcome", ""))
    if text.startswith("given(@"):
        name = text[len("given(@") :].split(",")[0].rstrip(")")
        path = layout.write(layout.frame(made(name), "models"), folder / "outcome")
        call = {**call, "outcome": text.replace(f"@{name}", path)}
    return filled(call, frame), filled(call, written)


def ask(name: str, layout: Layout, folder: Path) -> tuple[Result, Result]:
    """The same call in memory and as a stream."""
    frames, files = laid_out(CALLS[name], layout, folder)
    expected = us.evaluate(**frames)
    with sized(layout):
        return expected, us.evaluate(**files, engine="stream")


@contextmanager
def sized(layout: Layout) -> Iterator[None]:
    """Streams of so many parts, whatever the memory."""

    def of(rows: Any, limit: int, **_: Any) -> Sizes:
        return Sizes(limit, layout.parts, layout.chunk, layout.piece, 0, 0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sizes, "of", of)
        yield


def assert_same(found: Any, expected: Any, where: str = "") -> None:
    """Results, or plain values: all that is said, numbers to 1e-9; sources apart, and when it was written."""
    if isinstance(expected, Result):
        found, expected = _unnamed(found.to_dict(), _sources(found)), _unnamed(expected.to_dict(), _sources(expected))
    if isinstance(expected, float):
        judged = (".verdicts" in where or ".differences" in where) and not where.endswith("difference")  # by a search
        close = math.isclose(found, expected, rel_tol=1e-7 if judged else 1e-9, abs_tol=1e-11)
        assert close or (math.isnan(found) and math.isnan(expected)), (where, found, expected)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected.keys() - {"source", "written"}:
            assert_same(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), (where, found, expected)
        for n, (one, two) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, two, f"{where}[{n}]")
    else:
        assert found == expected, (where, found, expected)


def _sources(result: Result) -> list[str]:
    return [result.inputs[log]["source"] for log in ("test", "train") if result.inputs[log]]


def _unnamed(value: Any, sources: list[str]) -> Any:
    """What is said without the names of logs."""
    if isinstance(value, dict):
        return {key: _unnamed(item, sources) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_unnamed(item, sources) for item in value]
    if isinstance(value, str):
        for source in sources:
            value = value.replace(f"{source}:", "…:").replace(f"log {source}", "log …")
    return value
