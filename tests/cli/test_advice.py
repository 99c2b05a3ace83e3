"""Commands that are printed as advice run as they are printed, with the names that were typed, whatever these are."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.commands import Done, flat, unskew

USERS, ITEMS = 150, 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of every kind, random rows, and lists, under names that a shell does not take as they are."""
    made, rng = tmp_path_factory.mktemp("advice"), np.random.default_rng(2)
    rows = pl.DataFrame({"user": rng.integers(0, USERS, 6000), "item": rng.integers(0, ITEMS, 6000) ** 2 // ITEMS})
    rows = rows.unique(["user", "item"], maintain_order=True)
    value = pl.Series(rng.integers(1, 6, len(rows)).astype(float))
    rated = rows.with_columns(value=value)
    tables = {
        "clicks.parquet": rows, "my clicks (new).csv": rows,
        "timed clicks.parquet": rows.with_columns(time=pl.Series(rng.permutation(len(rows)))),
        "known.parquet": rows.with_columns(propensity=pl.lit(0.3)),
        "shown.parquet": rows.with_columns(value=(value > 3).cast(pl.Float64)), "ratings.csv": rated,
        "random.csv": rated.sample(600, seed=1), "guests.csv": rows.rename({"user": "guest id", "item": "dish"}),
    }  # fmt: skip
    for name, table in tables.items():
        table.write_csv(made / name) if name.endswith("csv") else table.write_parquet(made / name)
    every = pl.DataFrame({"user": range(USERS)}).join(pl.DataFrame({"item": range(ITEMS)}), how="cross")
    for name in ("als (64).csv", "it's new.csv"):
        scored = every.with_columns(score=pl.Series(rng.random(len(every))))
        scored = scored.filter(pl.col("score").rank("ordinal").over("user") <= 10)
        scored.write_csv(made / name)
    return made


def run(command: str, folder: Path) -> Done:
    """A command as a shell would read it."""
    words = shlex.split(command)
    assert words[0] == "unskew"
    done = unskew(*words[1:], cwd=folder)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


AUDITED: dict[str, list[str]] = {
    "clicks.parquet": [],
    "my clicks (new).csv": [],
    "timed clicks.parquet": [],
    "known.parquet": [],
    "shown.parquet": ["--feedback", "conversions"],
    "ratings.csv": ["--relevant", ">=4"],
    "ratings of values": ["--feedback", "ratings", "--mcar", "random.csv"],
    "guests.csv": ["--columns", "user=guest id,item=dish"],
}


@pytest.mark.parametrize("name", AUDITED)
def test_the_commands_of_an_audit_run_as_they_are_printed(name: str, folder: Path) -> None:
    """With the file that was audited: one holds a part of it out, the others judge models on that."""
    file = "ratings.csv" if name.startswith("ratings of") else name
    done = unskew("audit", file, *AUDITED[name], "--json", "-", cwd=folder)
    assert done.returncode == 0, done.stderr
    commands = [advice["command"] for advice in json.loads(done.stdout)["advice"] if advice["command"]]
    assert len(commands) > 1 and commands[0].startswith("unskew split")
    assert shlex.split(commands[0])[2] == file
    folder = folder if name != "ratings of values" else _again(folder)
    for command in commands:
        assert not {"TEST", "TRAIN", "LISTS", "MCAR", "NAME"} & set(command.replace("=", " ").split())
        run(command, folder)
    assert ("by=time" in commands[0]) is (name == "timed clicks.parquet")


def _again(folder: Path) -> Path:
    """A place where the parts of the same file were not written yet."""
    other = folder / "again"
    other.mkdir()
    for name in ("ratings.csv", "random.csv"):
        (other / name).write_bytes((folder / name).read_bytes())
    return other


def steps(done: Done) -> str:
    """The command under "What would decide", its lines joined."""
    said = done.stdout[done.stdout.index("unskew plan") :]
    return said[: said.index("\n\n")].replace("\\\n", " ")


def test_the_next_step_names_what_was_typed(folder: Path) -> None:
    """Odd names of models and files are quoted; nobody who typed is told a call of Python."""
    done = unskew(
        "evaluate", "clicks.parquet", "--recs", "als (64)=als (64).csv", "--recs", "it's new, really=it's new.csv",
        "--train", _earlier(folder), cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0 and "us." not in flat(done.stdout) and "columns={" not in done.stdout
    words = shlex.split(steps(done))
    assert "als (64)=als (64).csv" in words and "it's new, really=it's new.csv" in words
    run(steps(done), folder)


def _earlier(folder: Path) -> str:
    """A training log of other pairs."""
    frame = pl.read_parquet(folder / "clicks.parquet")
    frame.with_columns(item=pl.col("item") + ITEMS).write_csv(folder / "earlier.csv")
    return "earlier.csv"


@pytest.mark.parametrize(
    "options", [["clicks.parquet"], ["ratings.csv"], ["shown.parquet"], ["ratings.csv", "--feedback", "ratings"]]
)
def test_the_command_of_a_split_runs_as_it_is_printed(options: list[str], folder: Path) -> None:
    place = "fold of " + " ".join(options).replace(".", " ")
    done = unskew("split", *options, "--split", "holdout(share=0.3)", "-o", place, cwd=folder)
    said = done.stdout[done.stdout.index("unskew evaluate") :].splitlines()
    last = next(n for n, line in enumerate(said) if not line.rstrip().endswith("\\"))
    run(" ".join(line.rstrip().removesuffix("\\") for line in said[: last + 1]), folder)
