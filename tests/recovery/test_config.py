"""Studies from files: the printed example works, and whatever is wrong is told with its place."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from tests.recovery.kills import CONFIG, survives
from tests.recovery.small import write
from unskew.cli import app
from unskew.cli.study import bytes_of
from unskew.errors import InputError
from unskew.studies.recovery.config import EXAMPLE, StudyConfig, read_config

run = CliRunner().invoke


def given(folder: Path, text: str) -> Path:
    write(folder)
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_is_printed_and_can_be_read(tmp_path: Path) -> None:
    """Its data set apart, which may not be on this machine."""
    printed = run(app, ["study", "--example"]).output
    assert printed == EXAMPLE
    files = printed.replace('dataset = "coat"', 'log = "chosen.parquet"\nrandom = "random.parquet"')
    found = read_config(given(tmp_path, files))
    assert list(found.models) == ["popular", "neighbours", "wmf(dim=10)", "wmf(dim=50)"]
    assert [question.name for question in found.questions] == ["popularity", "path"]


def test_a_study_from_a_file(tmp_path: Path) -> None:
    """Outputs, and paths that are relative to the file."""
    path = given(tmp_path, CONFIG.replace("seeds = 3", "seeds = 2"))
    out = [f"--{kind}={tmp_path / f'out.{kind}'}" for kind in ("json", "csv", "html")]
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store"), "--workers", "1", *out])
    assert done.exit_code == 0, done.output
    assert "Kendall's τ" in done.output
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["models"] == ["popular", "knn(neighbours=2)", "knn(neighbours=5)", "knn(neighbours=10)", "chance"]
    assert content["draws"] == ["seed 0", "seed 1"]
    page = (tmp_path / "out.html").read_text()
    assert "Who orders the models as the truth does" in page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[data]", "[dat]"), "'dat' is not known here. Known: title, data, study, models, questions"),
        (("seeds", "seed"), "[study]: 'seed' is not known here"),
        (('random = "random.parquet"', ""), "[data]: log needs random"),
        (('log = "chosen.parquet"', 'dataset = "coat"\nlog = "chosen.parquet"'), "give one of dataset, log"),
        (('popular = "most_popular"', 'popular = "most_poplar"'), "[models]: popular:"),
        (('popular = "most_popular"', "popular = 3"), "popular: write a canonical string, or a table with"),
        (('popular = "most_popular"', 'popular = { class = "no.such:Class" }'), "'no.such:Class' cannot be imported"),
        (
            ('popular = "most_popular"', 'popular = { lists = "a.csv", rank = 1 }'),
            "[models.popular]: 'rank' is not known",
        ),
        (('"naive", "snips"', '"naive", "snipes"'), "[questions.popularity]:"),
        (("propensity =", "propensities ="), "[questions.popularity]: 'propensities' is not known here"),
        (('propensity = "popularity(gamma=1)"', "verdicts = 1"), "verdicts must be true or false, not 1"),
        (("likes = true", 'likes = "yes"'), "likes must be true or false"),
        (('relevant = ">=4"', "relevant = 4"), "relevant must be a text"),
        (('relevant = ">=4"\n', 'relevant = ">=4"\nsplit = "halves"\n'), "[data]:"),
        (("[models]", "[models"), "this is not TOML"),
        (
            ('log = "chosen', 'columns = { user = "customer" }\nlog = "chosen'),
            "chosen.parquet: there is no column 'customer'",
        ),
        (
            ('log = "chosen', 'columns = { user = "users" }\nlog = "chosen'),
            'Say so with columns = { "log:user" = "user" }.',
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    path = given(tmp_path, CONFIG.replace(*change, 1))
    with pytest.raises(InputError) as error:
        read_config(path)
    assert told in str(error.value)
    assert "study.toml" in str(error.value)


def test_an_option_of_worlds_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = given(tmp_path, EXAMPLE.replace('dataset = "coat" ', "world = { users = 50, item = 9 } "))
    path.write_text(re.sub("(?m)^(relevant|likes|split) = .*", "", path.read_text()))
    with pytest.raises(InputError, match=r"\[data.world\]: 'item' is not known here. Known: users, items"):
        read_config(path)


def test_files_of_other_people(tmp_path: Path) -> None:
    """Other column names; wrong and repeated rows are an error that says what to write, then dropped and counted."""
    path = given(tmp_path, CONFIG.replace("seeds = 3", "seeds = 2"))
    for name in ("chosen", "random"):
        rows = pl.read_parquet(tmp_path / f"{name}.parquet").rename({"user": "who", "item": "what", "value": "stars"})
        wrong = rows.head(1).with_columns(who=pl.lit(None, rows["who"].dtype))
        pl.concat([rows, rows.head(2), wrong]).write_parquet(tmp_path / f"{name}.parquet")

    def read(keys: str) -> StudyConfig:
        path.write_text(CONFIG.replace("seeds = 3", "seeds = 2").replace("[data]", f"[data]\n{keys}"))
        return read_config(path)

    names = 'columns = { user = "who", item = "what", value = "stars" }'
    with pytest.raises(InputError, match='drop such rows with invalid = "drop"'):
        read(names)
    with pytest.raises(InputError, match='Keep one of them with duplicates = "first"'):
        read(f'{names}\ninvalid = "drop"')
    read(f'{names}\ninvalid = "drop"\nduplicates = "first"')
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store"), "--workers", "1"])
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert all(f"rows dropped where {name} was read: {n} (" in told for name in ("log", "random") for n in (1, 2)), told


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_config("no/such.toml")
    assert "--example" in run(app, ["study"]).output


def test_lists_made_elsewhere_are_read_per_draw(tmp_path: Path) -> None:
    """A missing one is a clear error before anything is fitted."""
    path = given(tmp_path, CONFIG.replace('chance = "random"', 'mine = { lists = "mine-{seed}.csv" }'))
    done = run(app, ["study", str(path), "--store", str(tmp_path / "store")])
    assert done.exit_code == 2
    told = re.sub(r"[\s│]", "", done.output)
    assert "mine-0.csv" in told, told


@pytest.mark.parametrize(("text", "size"), [("8GiB", 2**33), ("500 MB", 500_000_000), ("1000", 1000), ("1.5kb", 1500)])
def test_amounts_of_memory(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["8 GiX", "much", "0", "-1GB"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(InputError, match="--memory"):
        bytes_of(text)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are a thing of Unix")
def test_a_killed_study_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """``python -m tests.recovery.kills 20`` tries it more often, and with two processes."""
    same, _ = survives(tmp_path, kills=1, workers=1)
    assert same
