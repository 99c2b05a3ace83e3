"""The same rows give the same results, bit by bit, whatever file or frame they come from and whatever type ids have."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us

duckdb: Any = pytest.importorskip("duckdb")
pq: Any = pytest.importorskip("pyarrow.parquet")

Writer = Callable[[pl.DataFrame, Path], Any]


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("user", "item").cast(pl.String))


def labels(frame: pl.DataFrame) -> pl.DataFrame:
    return texts(frame).with_columns(pl.col("user", "item").cast(pl.Categorical))


def levels(frame: pl.DataFrame) -> pl.DataFrame:
    """Categories in an order of their own."""
    plain = texts(frame)
    return plain.with_columns(plain[name].cast(pl.Enum(plain[name].unique().sort()[::-1])) for name in ("user", "item"))


def file(ending: str, write: Callable[[pl.DataFrame, Path], Any]) -> Writer:
    def written(frame: pl.DataFrame, path: Path) -> Path:
        path = path.with_suffix(ending)
        path.unlink(missing_ok=True)
        write(frame, path)
        return path

    return written


def duck(frame: pl.DataFrame, path: Path) -> None:
    with duckdb.connect(str(path)) as database:
        rows = frame.to_arrow()  # noqa: F841 - DuckDB finds it by its name
        database.execute("create table rows as select * from rows")


FORMATS: dict[str, Writer] = {
    "CSV": file(".csv", lambda f, path: f.write_csv(path)),
    "Parquet": file(".parquet", lambda f, path: f.write_parquet(path)),
    "Parquet, plain texts": file(
        ".parquet", lambda f, path: pq.write_table(texts(f).to_arrow(), path, use_dictionary=False)
    ),
    "Parquet, dictionary": file(
        ".parquet", lambda f, path: pq.write_table(texts(f).to_arrow(), path, use_dictionary=True, row_group_size=100)
    ),
    "Parquet, categories": file(".parquet", lambda f, path: labels(f).write_parquet(path, row_group_size=100)),
    "Parquet, levels": file(".parquet", lambda f, path: levels(f).write_parquet(path)),
    "Arrow": file(".arrow", lambda f, path: f.write_ipc(path)),
    "Arrow, categories": file(".feather", lambda f, path: labels(f).write_ipc(path)),
    "JSON lines": file(".jsonl", lambda f, path: f.write_ndjson(path)),
    "JSON lines, texts": file(".jsonl", lambda f, path: texts(f).write_ndjson(path)),
    "DuckDB": file(".duckdb", duck),
    "DuckDB, texts": file(".duckdb", lambda f, path: duck(texts(f), path)),
    "DuckDB, levels": file(".duckdb", lambda f, path: duck(levels(f), path)),
    "polars": lambda f, _: f,
    "polars, texts": lambda f, _: texts(f),
    "polars, lazy categories": lambda f, _: labels(f).lazy(),
    "pandas": lambda f, _: f.to_pandas(),
    "pandas, texts": lambda f, _: texts(f).to_pandas(),
    "pandas, categories": lambda f, _: texts(f).to_pandas().astype({"user": "category", "item": "category"}),
    "pandas, floats": lambda f, _: (
        f.with_columns(pl.col("user", "item").cast(pl.Float64)).to_pandas()
        if f["user"].dtype.is_integer()
        else f.to_pandas()
    ),
    "pyarrow": lambda f, _: f.to_arrow(),
    "pyarrow, dictionary": lambda f, _: labels(f).to_arrow(),
}
STYLES: dict[str, Callable[[int], Any]] = {
    "numbers": lambda n: 7 * n - 60,
    "texts": lambda n: f"u{n}",
    "both": lambda n: ("{}", "x{}", "0{}", "{}.0")[n % 4].format(n),
}
FILES = ("test", "train", "a", "b")


def world(seed: int, style: str) -> dict[str, pl.DataFrame]:
    """A log in two parts, in which single clicks count, and two lists."""
    rng, name = np.random.default_rng(seed), STYLES[style]
    users, items = [name(n) for n in range(40)], [name(n) for n in range(50)]
    pairs = pl.DataFrame({"u": np.repeat(np.arange(40), 18), "i": (rng.random(720) ** 2 * 50).astype(int)})
    pairs = pairs.unique(maintain_order=True)
    pairs = pairs.with_columns(
        rating=pl.Series(rng.integers(1, 6, len(pairs))), ts=pl.Series(rng.permutation(len(pairs)))
    )
    held = pl.int_range(pl.len()).over("u") < 8
    found = {"test": pairs.filter(held), "train": pairs.filter(~held)}
    for model in ("a", "b"):
        entries = np.concatenate([rng.permutation(50)[:10] for _ in users])
        found[model] = pl.DataFrame({"u": np.repeat(rng.permutation(40), 10), "i": entries, "score": rng.random(400)})

    def named(frame: pl.DataFrame) -> pl.DataFrame:
        ids = [pl.Series("user", [users[u] for u in frame["u"]]), pl.Series("item", [items[i] for i in frame["i"]])]
        return frame.drop("u", "i").with_columns(ids)

    return {name: named(frame) for name, frame in found.items()}


def bare(told: Any) -> Any:
    """Without the names of files, which advice speaks of too."""
    if isinstance(told, dict):
        return {key: bare(value) for key, value in told.items() if key not in ("source", "advice")}
    return [bare(each) for each in told] if isinstance(told, list) else told


def everything(given: dict[str, Any]) -> list[Any]:
    """What becomes of some inputs: an evaluation, an audit, a plan with its draw, a cross-validation."""
    lists = {name: given[name] for name in ("a", "b")}
    result = us.evaluate(
        given["test"], lists, train=given["train"], metrics=["recall@5", "ndcg@10"],
        estimators=["naive", "snips", "gs(strata=3)"], propensity="popularity(gamma=1)", target=["pooled", "per_user"],
        relevant=">=3", refused="skip",
    )  # fmt: skip
    audited = us.audit(given["train"], relevant=">=3")
    plan = us.plan(lists, log=given["test"], seen=given["train"], relevant=">=3", detect=0.1)
    drawn = plan.draw(60, seed=3).frame.with_columns(pl.col("user", "item").cast(pl.String))
    folds = us.cross_validate(
        given["test"], ["item_knn(neighbours=5)", "most_popular"], split="holdout(share=0.5)", relevant=">=3",
        estimators=["naive"],
    )  # fmt: skip
    return [bare(each.to_dict()) for each in (result, audited, plan, folds)] + [drawn.to_dict(as_series=False)]


@cache
def of_csv(seed: int, style: str) -> list[Any]:
    """Everything, from CSV files."""
    frames = world(seed, style)
    with TemporaryDirectory() as folder:
        return everything({name: FORMATS["CSV"](frames[name], Path(folder) / name) for name in FILES})


@pytest.mark.parametrize("turn", range(len(FORMATS)), ids=list(FORMATS))
def test_results_are_those_of_csv(tmp_path: Path, turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the inputs in one format, half in another, so that each comes twice: all numbers are the same.

    Ids of either kind are coded by one thread or by two.
    """
    styles, formats = list(STYLES), list(FORMATS)
    seed, style = turn % 2, styles[turn % len(styles)]
    kinds = formats[turn], formats[(turn + 7) % len(formats)]
    frames, expected = world(seed, style), of_csv(seed, style)
    monkeypatch.setattr("unskew.log.columns.MANY", 0 if turn % 4 < 2 else 10**9)
    given = {name: FORMATS[kinds[name in ("train", "b")]](frames[name], tmp_path / name) for name in FILES}
    assert everything(given) == expected
