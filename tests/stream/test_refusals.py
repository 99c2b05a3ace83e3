"""What a stream cannot do is refused with the reason; wrong rows are named by file, column and row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import unskew as us
from tests.stream.files import Layout, inputs, sized
from unskew.cli.flags import with_flags
from unskew.engine.stream.sizes import memory_limit
from unskew.evaluation import expected
from unskew.log import Ids
from unskew.outcome import Given, Outcome
from unskew.outcome.base import PairPredictor


@dataclass(frozen=True)
class Strange(Outcome):
    """A model of somebody else's, which knows nothing of parts."""

    name = "strange"
    fitted = False

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        raise NotImplementedError


def call(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """Files of clicks and lists."""
    tables = inputs() | changes
    made = {}
    for name in ("clicks", "train"):
        made[name] = tmp_path / f"{name}.parquet"
        tables[name].write_parquet(made[name])
    models = {name: tmp_path / f"{name}.parquet" for name in tables["lists"]}
    for name, path in models.items():
        tables["lists"][name].write_parquet(path)
    return {"test": made["clicks"], "models": models, "engine": "stream"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"propensity": "logistic"}, "is fitted to the whole log in memory"),
        ({"outcome": "logistic_mf(dim=2)"}, "is fitted to the whole log in memory(.|\n)*means and given"),
        ({"outcome": "crossfit(census)"}, "is fitted to the whole log in memory"),
        ({"outcome": Strange()}, "outcome='strange' is fitted to the whole log"),
        ({"per_user": True}, "keeps a row for every user"),
        ({"sample": "wtd_h", "train": True}, "draws from the whole log"),
        ({"refit": True, "interval": "bootstrap", "propensity": "popularity(gamma=1)"}, "fits propensities anew"),
    ],
)
def test_what_needs_the_whole_log_is_refused(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    given = call(tmp_path) | options
    if given.get("train") is True:
        given["train"] = tmp_path / "train.parquet"
    with sized(Layout()), pytest.raises(us.RefusedError, match=words):
        us.evaluate(**given)


def test_tilted_is_listed_as_refused_where_nobody_asked_for_it(tmp_path: Path) -> None:
    """With seen zeros and a training log it is one of the usual estimators, and fits a model of all pairs."""
    given = call(tmp_path)
    rows = inputs()["conversions"].drop("propensity").sample(fraction=1.0, shuffle=True, seed=1)
    files = {"test": rows[:1000], "train": rows[1000:]}
    for name, table in files.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    paths = {name: tmp_path / f"{name}.parquet" for name in files}
    with sized(Layout()):
        found = us.evaluate(**given | paths, feedback="conversions")
    (reason,) = {each["reason"] for each in found.inputs["refused"] if each["estimator"].startswith("tilted")}
    assert "whole log in memory" in reason


def test_tables_in_memory_and_text_files_are_refused(tmp_path: Path) -> None:
    given = call(tmp_path)
    with pytest.raises(us.RefusedError, match="test is a DataFrame in memory"):
        us.evaluate(inputs()["clicks"], given["models"], engine="stream")
    text = tmp_path / "clicks.csv"
    inputs()["clicks"].write_csv(text)
    with pytest.raises(us.InputError, match="read from Parquet only"):
        us.evaluate(text, given["models"], engine="stream")


def test_a_wrong_row_is_named_by_file_and_row(tmp_path: Path) -> None:
    given = call(tmp_path)
    rows = inputs()["clicks"]
    folder = tmp_path / "many"
    folder.mkdir()
    rows[:100].write_parquet(folder / "1.parquet")
    wrong = rows[100:].with_columns(propensity=pl.when(pl.int_range(pl.len()) == 41).then(0.0).otherwise("propensity"))
    wrong.write_parquet(folder / "2.parquet")
    with (
        sized(Layout(piece=17)),
        pytest.raises(us.InputError, match=r"2\.parquet: column 'propensity' .* row 42 has 0"),
    ):
        us.evaluate(folder, given["models"], engine="stream")
    with sized(Layout(piece=17)):
        found = us.evaluate(folder, given["models"], engine="stream", invalid="drop")
    assert found.inputs["test"]["dropped"] == {"propensity outside (0, 1]": 1}
    assert found.inputs["test"]["rows"] == len(rows)


def test_a_repeated_pair_is_named_by_its_rows(tmp_path: Path) -> None:
    """Found when all rows of a user are together, and looked up in the files."""
    tables = inputs()
    twice = pl.concat([tables["conversions"], tables["conversions"][7:8]]).drop("shelf", "policy")
    given = call(tmp_path)
    twice.write_parquet(tmp_path / "twice.parquet")
    with sized(Layout()), pytest.raises(us.InputError, match=rf"row 8 of .*twice\.parquet and row {len(twice):,} of"):
        us.evaluate(tmp_path / "twice.parquet", given["models"], engine="stream", feedback="conversions")


def test_blanks_around_ids_are_named_by_their_row(tmp_path: Path) -> None:
    given = call(tmp_path)
    rows = inputs()["clicks"].with_columns(pl.col("user").cast(pl.String))
    rows = rows.with_columns(user=pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(" 4")).otherwise("user"))
    rows.write_parquet(tmp_path / "blank.parquet")
    with sized(Layout()), pytest.raises(us.InputError, match=r"row 5 of .*blank\.parquet has ' 4'"):
        us.evaluate(tmp_path / "blank.parquet", given["models"], engine="stream")


def guessed(tmp_path: Path, table: pl.DataFrame, **options: Any) -> dict[str, Any]:
    """Conversions with a table of guesses in a file."""
    given = call(tmp_path)
    inputs()["conversions"].write_parquet(tmp_path / "test.parquet")
    table.write_parquet(tmp_path / "guesses.parquet")
    outcome = f"given({tmp_path / 'guesses.parquet'})"
    rows = {"test": tmp_path / "test.parquet", "outcome": outcome, "feedback": "conversions", "estimators": ["direct"]}
    return given | rows | {"metrics": ["dcg@3"], "target": "per_user_sum"} | options


def test_pairs_that_a_table_of_guesses_lacks_are_refused(tmp_path: Path) -> None:
    """Listed ones always; with normalised targets all candidates are asked for, and their number is named."""
    table = inputs()["guesses"]
    with sized(Layout()), pytest.raises(us.InputError, match=r"guesses\.parquet: there is no prediction for 3 of"):
        us.evaluate(**guessed(tmp_path, table.filter((pl.col("user") != 7) | (pl.col("item") > 10**6))))
    listed = inputs()["listed_guesses"]
    with sized(Layout()), pytest.raises(us.InputError, match="all 3,000 candidate pairs; target per_user_sum asks"):
        us.evaluate(**guessed(tmp_path, listed, target="per_user_sum(normalised=pooled)"))


def test_wrong_rows_of_a_table_of_guesses_are_named(tmp_path: Path) -> None:
    """By file and row, as those of every input; a text file is refused, whatever the logs are."""
    table = inputs()["guesses"]
    twice = pl.concat([table, table[4:5]])
    with sized(Layout()), pytest.raises(us.InputError, match=rf"twice, in row 5 of .* and row {len(twice):,} of"):
        us.evaluate(**guessed(tmp_path, twice))
    table.write_csv(tmp_path / "guesses.csv")
    with sized(Layout()), pytest.raises(us.InputError, match="read from Parquet only"):
        us.evaluate(**guessed(tmp_path, table, outcome=f"given({tmp_path / 'guesses.csv'})"))


def test_a_table_of_guesses_counts_among_the_rows(tmp_path: Path) -> None:
    """Divided it is one more input; in memory it takes room from the parts."""
    from unskew.evaluation.request import Request

    table = inputs()["guesses"]
    given = guessed(tmp_path, table)
    files, held = (
        expected.expect(Request.of(**given | {"outcome": outcome}, memory="1GiB"))
        for outcome in (given["outcome"], Given(table))
    )
    assert files is not None and held is not None
    assert files.rows == held.rows + len(table)
    assert files.in_memory == held.in_memory


@pytest.mark.parametrize("memory", ["2 GB of it", "12MB", True, "-1GiB"])
def test_amounts_of_memory_that_mean_nothing_are_refused(memory: Any, tmp_path: Path) -> None:
    with pytest.raises(us.InputError, match="memory="):
        us.evaluate(**call(tmp_path), memory=memory)


@pytest.mark.parametrize(("memory", "words"), [("100MiB", "--memory 100MiB: less"), (9, "--memory 9: less")])
def test_amounts_of_memory_are_answered_as_they_were_given(memory: Any, words: str) -> None:
    with pytest.raises(us.InputError) as refused:
        memory_limit(memory)
    assert with_flags(str(refused.value)).startswith(words)


def test_files_that_exceed_what_is_free_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And others are not; folders always are."""
    given = call(tmp_path) | {"engine": None}
    from unskew.evaluation.request import Request

    def engine(**changes: Any) -> str | None:
        found = expected.expect(Request.of(**given | changes))
        return None if found is None else found.engine

    assert engine() is None
    monkeypatch.setattr(expected, "available", lambda: 300_000_000)
    monkeypatch.setattr(expected, "LARGEST", 10**9)
    assert engine() == "stream"
    assert engine(engine="memory") is None
    monkeypatch.setattr(expected, "available", lambda: 10**12)
    folder = tmp_path / "folder"
    folder.mkdir()
    inputs()["clicks"].write_parquet(folder / "a.parquet")
    assert engine(test=folder) == "stream"


def test_a_dry_run_says_what_to_expect(tmp_path: Path) -> None:
    from unskew.evaluation.request import Request

    given = call(tmp_path)
    said = expected.dry_run(Request.of(**given, memory="2GiB"))
    assert "Engine: stream" in said and "at most 2.1 GB" in said and "Time: about" in said
    assert "Engine: memory" in expected.dry_run(Request.of(**given | {"engine": "memory"}))
    assert "other than Parquet" in expected.dry_run(Request.of(inputs()["clicks"], given["models"]))


@pytest.mark.parametrize("name", ["test", "train", "items", "lists"])
def test_a_dry_run_finds_missing_files(name: str, tmp_path: Path) -> None:
    """An engine is not chosen for files that are not there, whichever input they are, of whatever kind."""
    from unskew.evaluation.request import Request

    given = call(tmp_path)
    there: dict[str, Any] = {"test": given["test"], "models": dict(given["models"])}
    missing = tmp_path / "missing.csv"
    there |= {"models": {**there["models"], "more": missing}} if name == "lists" else {name: missing}
    with pytest.raises(us.errors.InputError, match=r"missing\.csv: there is no such file"):
        expected.dry_run(Request.of(**there))


def test_the_advised_conversion_keeps_ids_and_numbers(tmp_path: Path) -> None:
    """A line makes Parquet of text files: ids with zeros in front, mixed ids, and numbers as texts."""
    users = ["007", "7", "A1", *(str(number) for number in range(100, 300))]
    rows = [(user, str((place + step) % 7), (1 + step) / 8) for place, user in enumerate(users) for step in range(3)]
    log = pl.DataFrame(rows, schema=["user", "item", "propensity"], orient="row")
    lists = log.select("user", (pl.col("item").cast(pl.Int64) // 2).cast(pl.String)).unique(maintain_order=True)
    lists = lists.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    log.write_csv(tmp_path / "log.csv")
    lists.write_csv(tmp_path / "lists.csv")
    with pytest.raises(us.errors.InputError, match="Write it anew") as refused:
        us.evaluate(tmp_path / "log.csv", {"a": tmp_path / "lists.csv"}, engine="stream")
    (line,) = re.findall(r"pl\.scan_csv\(.*\.sink_parquet\('[^']*'\)", str(refused.value))
    for name in ("log", "lists"):
        made = line.replace("'log.", f"'{tmp_path}/{name}.")
        eval(made, {"pl": pl})
    texts = {name: tmp_path / f"{name}.csv" for name in ("log", "lists")}
    tables = {name: tmp_path / f"{name}.parquet" for name in ("log", "lists")}
    memory = us.evaluate(texts["log"], {"a": texts["lists"]}, engine="memory")
    stream = us.evaluate(tables["log"], {"a": tables["lists"]}, engine="stream")
    assert [(e.estimator, e.users) for e in stream.estimates] == [(e.estimator, e.users) for e in memory.estimates]
    assert [e.value for e in stream.estimates] == pytest.approx([e.value for e in memory.estimates], rel=1e-9)
    assert memory.estimates[0].users == len(users)
