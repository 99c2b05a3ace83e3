"""What a stream cannot do is refused with the reason; wrong rows are named by file, column and row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.golden.worlds import table
from tests.said import refuses
from tests.stream.files import Layout, made, sized
from unskew.core.errors import RefusedError
from unskew.evaluation import expected
from unskew.evaluation.request import Request
from unskew.log import Ids
from unskew.outcome import Outcome
from unskew.outcome.base import PairPredictor


@dataclass(frozen=True)
class Strange(Outcome):
    """A model of somebody else's, which knows nothing of parts."""

    name = "strange"
    fitted = False

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        raise NotImplementedError


def written(folder: Path, frame: pl.DataFrame, name: str) -> Path:
    """A table as a file."""
    folder.mkdir(exist_ok=True)
    frame.write_parquet(folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


def call(tmp_path: Path, world: str = "shop") -> dict[str, Any]:
    """Files of a log and lists."""
    models = {name: written(tmp_path, table(f"{world}.{name}"), name) for name in ("popular", "tastes")}
    return {"test": written(tmp_path, table(f"{world}.test"), "test"), "models": models, "engine": "stream"}


def test_a_model_of_somebody_elses_needs_the_whole_log(tmp_path: Path) -> None:
    """What else does, stands in the list of the tests of parity."""
    with sized(Layout()), refuses("needs-whole-log", RefusedError):
        us.evaluate(**call(tmp_path), outcome=Strange())


def test_tilted_is_listed_as_refused_where_nobody_asked_for_it(tmp_path: Path) -> None:
    """With seen zeros and a training log it is one of the usual estimators, and fits a model of all pairs."""
    files = {name: written(tmp_path, table(f"visits.{name}"), name) for name in ("bare", "train")}
    given = call(tmp_path, "visits") | {"test": files["bare"], "train": files["train"]}
    with sized(Layout()):
        found = us.evaluate(**given, feedback="conversions")
    assert {each["code"] for each in found.inputs["refused"] if each["estimator"].startswith("tilted")} == {"in-parts"}


def _at(rows: pl.DataFrame, place: int, **cells: Any) -> pl.DataFrame:
    """The rows with other cells in one of them."""
    there = pl.int_range(pl.len()) == place
    return rows.with_columns(**{name: pl.when(there).then(pl.lit(x)).otherwise(name) for name, x in cells.items()})


def _text_users(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.col("user").cast(pl.String))


LIKES, PAGES, GUESSES = table("shop.test"), table("visits.test"), table("visits.guess")
SUMS: dict[str, Any] = {"feedback": "conversions", "estimators": ["direct"], "metrics": ["dcg@3"],
                        "target": "per_user_sum", "outcome": "given(TABLE)"}  # fmt: skip
POOLED = "per_user_sum(normalised=pooled)"
WRONG: dict[str, tuple[str, pl.DataFrame, dict[str, Any], pl.DataFrame, dict[str, Any]]] = {
    # the code, the test log, its options, a table of guesses, and what the error names
    "repeated": ("repeated-pair", pl.concat([PAGES, PAGES[7:8]]), {"feedback": "conversions"}, GUESSES,
                      {"": f"{len(PAGES) + 1:,}"}),
    "padded": ("padded-id", _at(_text_users(LIKES), 4, user=" 4"), {}, GUESSES, {"column": "user"}),
    "listed": ("missing-prediction", PAGES, SUMS, GUESSES.filter(pl.col("user") != 1007), {}),
    "total": ("missing-prediction", PAGES, SUMS | {"target": POOLED}, made("listed"), {}),
    "guess twice": ("repeated-pair", PAGES, SUMS, pl.concat([GUESSES, GUESSES[4:5]]),
                                    {"": f"{len(GUESSES) + 1:,}"}),
    "memory, text": ("bad-value", LIKES, {"memory": "2 GB of it"}, GUESSES, {}),
    "negative memory": ("bad-value", LIKES, {"memory": "-1GiB"}, GUESSES, {}),
    "memory, switch": ("bad-value", LIKES, {"memory": True}, GUESSES, {}),
    "too little memory": ("not-enough-memory", LIKES, {"memory": "12MB"}, GUESSES, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str, tmp_path: Path) -> None:
    """Also what is found only when all rows of a user are together, and is then looked up in the files."""
    code, test, options, guesses, named = WRONG[name]
    path = written(tmp_path, guesses, "guesses")
    given = call(tmp_path, "visits" if "value" in test.columns else "shop")
    options = {key: value.replace("TABLE", str(path)) if key == "outcome" else value for key, value in options.items()}
    fields = dict(named)
    row = fields.pop("", "")
    with sized(Layout()), refuses(code, **fields) as caught:
        us.evaluate(**given | {"test": written(tmp_path, test, "wrong")} | options)
    assert row in str(caught.value)


def test_tables_in_memory_and_text_files_are_refused(tmp_path: Path) -> None:
    """A table of guesses too, whatever the logs are."""
    given = call(tmp_path)
    with refuses("parquet-only", RefusedError):
        us.evaluate(LIKES, given["models"], engine="stream")
    LIKES.write_csv(tmp_path / "likes.csv")
    GUESSES.write_csv(tmp_path / "guesses.csv")
    with refuses("parquet-only"):
        us.evaluate(tmp_path / "likes.csv", given["models"], engine="stream")
    with sized(Layout()), refuses("parquet-only"):
        us.evaluate(**call(tmp_path, "visits") | SUMS | {"outcome": f"given({tmp_path / 'guesses.csv'})"})


def test_a_wrong_row_is_named_by_file_and_row(tmp_path: Path) -> None:
    """Of several files, in batches; dropped, it is counted."""
    given, folder = call(tmp_path), tmp_path / "many"
    written(folder, LIKES[:100], "1")
    wrong = written(folder, _at(LIKES[100:], 41, propensity=0.0), "2")
    with sized(Layout(piece=17)), refuses("out-of-range", column="propensity", row=42, file=str(wrong)):
        us.evaluate(folder, given["models"], engine="stream")
    with sized(Layout(piece=17)):
        found = us.evaluate(folder, given["models"], engine="stream", invalid="drop")
    assert sum(found.inputs["test"]["dropped"].values()) == 1 and found.inputs["test"]["rows"] == len(LIKES)


def test_files_that_exceed_what_is_free_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And others are not; folders always are; whatever is missing is an error of its own, of whatever kind."""
    given = call(tmp_path) | {"engine": None}

    def engine(**changes: Any) -> str | None:
        found = expected.expect(Request.of(**given | changes))
        return None if found is None else found.engine

    assert engine() is None
    monkeypatch.setattr(expected, "available", lambda: 300_000_000)
    monkeypatch.setattr(expected, "LARGEST", 10**9)
    assert engine() == "stream" and engine(engine="memory") is None
    monkeypatch.setattr(expected, "available", lambda: 10**12)
    written(tmp_path / "folder", LIKES, "a")
    assert engine(test=tmp_path / "folder") == "stream"
    missing = tmp_path / "missing.csv"
    models = {**given["models"], "more": missing}
    for there in ({"test": missing}, {"train": missing}, {"items": missing}, {"models": models}):
        with refuses("missing-file"):
            expected.dry_run(Request.of(**given | there))
