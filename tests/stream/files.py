"""The worlds of the engines' tests as Parquet files: in any number of files, any order of rows, any ids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.engine.test_engines import CALLS, world
from unskew.engine.stream.sizes import Sizes
from unskew.log import Log
from unskew.outcome import Given, Means
from unskew.result import Result

GUESSED: dict[str, Any] = {
    "test": "conversions",
    "models": "lists",
    "metrics": ["dcg@5", "precision@5"],
    "estimators": ["naive", "ips", "direct", "dr", "sndr", "switch(tau=3)", "clipped(dr, at=0.2)", "snips(over=list)"],
    "target": ["per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)", "per_pair"],
    "feedback": "conversions",
    "refused": "skip",
}
TRAINED = {"train": "train", "candidates": "all"}
ASKED: dict[str, dict[str, Any]] = {
    "clicks": CALLS["clicks"],
    "bootstrap": CALLS["bootstrap"],
    "ratings": CALLS["ratings"],
    "sums": {
        "test": "conversions",
        "models": "lists",
        "metrics": ["dcg@5", "precision@5"],
        "estimators": ["naive", "ips", "snips", "snips(over=list)", "clipped(ips, quantile=0.05)"],
        "target": ["per_user_sum", "per_user_sum(normalised=pooled)", "per_pair"],
        "feedback": "conversions",
        "users": "users",
        "refused": "skip",
    },
    "unseen": {
        "test": "clicks",
        "models": "lists",
        "train": "train",
        "metrics": ["recall@5", "ndcg@5"],
        "propensity": "popularity(gamma=1)",
        "estimators": ["naive", "snips", "gs(strata=3)"],
        "target": ["per_user", "pooled"],
        "by": "popularity(strata=2)",
        "refused": "skip",
    },
    "dropped": {"test": "clicks", "models": "lists", "train": "train", "drop_seen": True, "share": 0.4},
    "path": {"test": "clicks", "models": "lists", "estimators": ["naive", "exposure_path"], "mcar": "mcar", **TRAINED},
    "counted": {
        "test": "conversions",
        "models": "lists",
        "feedback": "conversions",
        "propensity": "popularity(gamma=1, level=absolute)",
        "estimators": ["naive", "ips", "snips"],
        "share": 0.5,
        "target": ["per_user_sum", "pooled"],
        "train": "seen",
        "candidates": "all",
        "users": "users",
        "refused": "skip",
    },
    "by_value": {
        "test": "conversions",
        "models": "lists",
        "feedback": "conversions",
        "propensity": "naive_bayes",
        "mcar": "random",
        "train": "seen",
        "share": 0.5,
        "candidates": "all",
        "users": "users",
        "refused": "skip",
    },
    "strata": {
        "test": "conversions",
        "models": "lists",
        "feedback": "conversions",
        "train": "seen",
        "candidates": "all",
        "estimators": ["naive", "gs(strata=column(shelf))", "stratified(strata=column(shelf), shares=train)"],
        "target": "per_user",
        "by": "policy",
        "refused": "skip",
    },
    "means": {**GUESSED, "outcome": "means(shrink=10)", "users": "users", "by": "age"},
    "folds": {
        **GUESSED,
        "test": "ratings",
        "feedback": "ratings",
        "outcome": "crossfit(means(shrink=1), folds=3, seed=4)",
        "interval": "bootstrap",
        "replicates": 50,
    },
    "in_sample": {
        **GUESSED,
        "train": "earlier_shown",
        "share": 0.5,
        "propensity": "popularity(gamma=1, level=absolute)",
        "outcome": "means(shrink=0)",
        "in_sample": True,
        "by": "popularity(strata=2)",
    },
    "unasked": {**GUESSED, "target": "per_user_sum", "outcome": "given(TABLE)", "table": "listed_guesses"},
    "guessed": {**GUESSED, "outcome": "given(TABLE)", "table": "guesses", "users": "users", "by": "age"},
    "defaults": {
        **GUESSED,
        "metrics": ["dcg@3"],
        "train": "earlier_shown",
        "outcome": "given(TABLE, default=3)",
        "table": "wrong_guesses",
        "invalid": "drop",
    },
    "elsewhere": {**GUESSED, "outcome": "fitted", "by": "popularity(strata=2)", "train": "earlier_shown"},
    "held": {**GUESSED, "outcome": "held", "target": "per_user_sum"},
    "repeated": {"test": "twice", "models": "lists", "estimators": ["naive"]},
    "places": {"test": "shown", "models": "lists", "feedback": "conversions", "estimators": ["naive", "snips"]},
    "places of kept rows": {"test": "shown_twice", "models": "lists", "estimators": ["naive", "snips"]},
    "no places": {"test": "misplaced", "models": "lists", "estimators": ["naive"], "invalid": "drop"},
    "named places": {
        "test": "misplaced",
        "models": "lists",
        "estimators": ["naive"],
        "invalid": "drop",
        "columns": {"position": "slot"},
    },
    "timed": {"test": "timed", "models": "lists", "train": "earlier", "estimators": ["naive", "exposure_path"]},
    "other_users": {
        "test": "conversions",
        "models": "lists",
        "train": "others",
        "share": "users",
        "feedback": "conversions",
        "propensity": "popularity(gamma=1, level=absolute)",
        "estimators": ["naive", "ips", "snips"],
        "target": "per_user_sum",
        "refused": "skip",
    },
    "invalid": {"test": "wrong", "models": "wrong_lists", "invalid": "drop", "estimators": ["naive", "snips"]},
    "strangers": {"test": "clicks", "models": "strange", "train": "train", "estimators": ["naive"]},
}


def inputs() -> dict[str, Any]:
    """All tables that calls name."""
    found = world()
    rng = np.random.default_rng(5)
    shelf = pl.Series("shelf", rng.choice(["a", "b", "c"], len(found["conversions"])))
    policy = pl.Series("policy", rng.choice(["old", "new"], len(found["conversions"])))
    found["conversions"] = found["conversions"].with_columns(shelf, policy)
    found["seen"] = found["conversions"].sample(900, seed=3).drop("propensity", "policy")
    found["train"] = found["train"].filter(pl.col("user") % 7 != 3)
    found["mcar"] = found["train"].sample(200, seed=4)
    found["random"] = found["seen"].sample(400, seed=6).drop("shelf")
    found["twice"] = pl.concat([found["clicks"], found["clicks"].sample(40, seed=7)]).drop("propensity")
    place = pl.Series("slot", np.random.default_rng(6).integers(1, 9, len(found["conversions"])))
    found["shown"] = found["conversions"].with_columns(slot=place.set(place > 7, None))
    again = found["clicks"].with_columns(rank=pl.lit(1))  # a place that no kept row has
    found["shown_twice"] = pl.concat([again, again.sample(40, seed=7).with_columns(rank=2)])
    found["misplaced"] = found["twice"].with_columns(
        slot=pl.when(pl.int_range(pl.len()) % 91 == 60).then(pl.lit("top")).otherwise(pl.lit("3"))
    )
    found["timed"] = found["twice"].with_columns(time=pl.Series(rng.integers(1000, 2000, len(found["twice"]))))
    found["earlier"] = found["train"].with_columns(time=pl.Series(rng.integers(0, 1500, len(found["train"]))))
    found["others"] = found["seen"].with_columns(pl.col("user") + 1000)
    row = pl.int_range(pl.len())
    found["wrong"] = found["clicks"].with_columns(
        item=pl.when(row % 97 == 5).then(None).otherwise("item"),
        propensity=pl.when(row % 89 == 7).then(2.0).otherwise("propensity"),
    )
    found["wrong_lists"] = {
        name: pl.concat([lists, lists[10:13]]).with_columns(rank=pl.when(row == 40).then(0).otherwise("rank"))
        for name, lists in found["lists"].items()
    }
    every = found["predictions"]["near"].with_columns(pl.col("prediction").clip(1.0, 5.0) / 5.0)
    rest = every.join(found["conversions"], on=["user", "item"], how="anti").sample(800, seed=8).drop("prediction")
    found["earlier_shown"] = rest.with_columns(value=pl.Series((rng.random(800) < 0.4).astype(float)))
    strangers = every.with_columns(pl.col("user") + 10_000)
    found["guesses"] = pl.concat([every, strangers])
    listed = pl.concat(lists.select("user", "item") for lists in found["lists"].values()).unique(maintain_order=True)
    found["listed_guesses"] = every.join(listed, on=["user", "item"], how="semi")
    some = pl.concat([every.filter(pl.col("user") % 3 > 0, pl.col("item") % 5 > 0), every[40:47]])
    found["wrong_guesses"] = some.with_columns(prediction=pl.when(row == 90).then(None).otherwise("prediction"))
    found["fitted"] = Means().fit(Log.from_frame(found["earlier_shown"], feedback="conversions"))
    found["held"] = Given(found["guesses"])
    found["strange"] = {
        "ours": found["lists"]["near"],
        "others": found["lists"]["far"].with_columns(pl.col("user") + 1_000_000 * (pl.col("user") % 3 > 0)),
        "scored": found["lists"]["flat"].with_columns(score=-pl.col("rank").cast(pl.Float64)).drop("rank"),
    }
    return found


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


def ask(name: str, layout: Layout, folder: Path) -> tuple[Result, Result]:
    """The same call in memory and as a stream."""
    tables, call = inputs(), dict(ASKED[name])
    files = dict(call)
    for key in ("test", "models", "train", "users", "mcar"):
        if key not in call:
            continue
        table = tables[call[key]]
        if isinstance(table, dict):
            frames = {each: layout.frame(frame, key) for each, frame in table.items()}
            call[key] = frames
            files[key] = {each: layout.write(frame, folder / key / each) for each, frame in frames.items()}
        else:
            call[key] = layout.frame(table, key)
            files[key] = layout.write(call[key], folder / key) if key != "mcar" else call[key]
    if "table" in call:
        path = layout.write(layout.frame(tables[call.pop("table")], "models"), folder / "table")
        call["outcome"] = call["outcome"].replace("TABLE", path)
    elif call.get("outcome") in tables:
        call["outcome"] = tables[call["outcome"]]
    files = {name: files[name] for name in files if name != "table"} | {k: v for k, v in call.items() if k == "outcome"}
    expected = us.evaluate(call.pop("test"), call.pop("models"), **call)
    with sized(layout):
        found = us.evaluate(files.pop("test"), files.pop("models"), engine="stream", **files)
    return expected, found


@contextmanager
def sized(layout: Layout) -> Iterator[None]:
    """Streams of so many parts, whatever the memory."""

    def of(rows: Any, limit: int, **_: Any) -> Sizes:
        return Sizes(limit, layout.parts, layout.chunk, layout.piece, 0, 0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sizes, "of", of)
        yield


def assert_same(found: Result, expected: Result) -> None:
    """Estimates, intervals, verdicts, tipping points, weights, scenarios, warnings and the account of the inputs."""
    names = _sources(expected)
    assert [_unnamed(text, _sources(found)) for text in found.warnings] == [
        _unnamed(text, names) for text in expected.warnings
    ]
    same(_plain(found.estimates), _plain(expected.estimates), "estimates")
    same(_plain(found.verdicts_), _plain(expected.verdicts_), "verdicts")
    same(_plain(found.weights), _plain(expected.weights), "weights")
    same(_plain(found.scenarios), _plain(expected.scenarios), "scenarios")
    same(_without_sources(found.inputs), _without_sources(expected.inputs), "inputs")


def _plain(rows: Any) -> list[dict[str, Any]]:
    return [vars(row) for row in rows]


def _sources(result: Result) -> list[str]:
    return [result.inputs["test"]["source"], *([result.inputs["train"]["source"]] if result.inputs["train"] else [])]


def _unnamed(text: str, sources: list[str]) -> str:
    for source in sources:
        text = text.replace(f"{source}:", "…:").replace(f"log {source}", "log …")
    return text


def _without_sources(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_sources(each) for key, each in value.items() if key != "source"}
    return value


def same(found: Any, expected: Any, where: str) -> None:
    """Equal, numbers to 1e-9."""
    if isinstance(expected, float):
        close = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-11)
        assert close or (math.isnan(found) and math.isnan(expected)), (where, found, expected)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            same(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), (where, found, expected)
        for n, (one, two) in enumerate(zip(found, expected, strict=True)):
            same(one, two, f"{where}[{n}]")
    elif hasattr(expected, "__dataclass_fields__"):
        same(vars(found), vars(expected), where)
    else:
        assert found == expected, (where, found, expected)
