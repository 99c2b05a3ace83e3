"""Foreign files in every command that reads some: names are recognised and said, or mapped for one input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.cli.commands import Done, flat, refused, unskew
from tests.said import refuses
from unskew.cli import options
from unskew.core.errors import MissingExtraError

GUEST = {"user": "guest", "item": "dish"}  # nothing that anybody would recognise


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, its two halves and two models' lists, under our names and under foreign ones."""
    place, rng = tmp_path_factory.mktemp("foreign"), np.random.default_rng(0)
    items = np.minimum(rng.geometric(0.08, 1500), 40)
    log = pl.DataFrame({"user": rng.integers(0, 60, 1500), "item": items}).unique(maintain_order=True)
    log = log.with_columns(
        value=pl.Series(rng.integers(1, 6, len(log))),
        time=pl.Series(1_700_000_000 + np.sort(rng.integers(0, 40 * 86_400, len(log)))),
        policy=pl.when(pl.col("user") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")),
    )
    held = pl.Series(rng.random(len(log)) < 0.4)
    test, train = log.filter(held).drop("policy"), log.filter(~held).drop("policy")
    users = log.select(pl.col("user").unique(maintain_order=True))
    best = train.group_by("item", maintain_order=True).len().sort("len", descending=True, maintain_order=True).head(10)
    popular = users.join(best.select("item", score="len"), how="cross")
    others = pl.DataFrame({"item": range(1, 11), "rank": range(1, 11)})
    plain = users.join(others, how="cross")
    for name, frame, names in (
        ("log", log, {"user": "CustomerID", "item": "StockCode", "value": "stars", "time": "InvoiceDate"}),
        ("test", test, {"user": "userId", "item": "movieId", "value": "rating", "time": "timestamp"}),
        ("train", train, {**GUEST, "value": "overall", "time": "ts"}),
        ("popular", popular, {"user": "visitorid", "item": "itemid", "score": "pred"}),
        ("plain", plain, {**GUEST, "rank": "position"}),
    ):
        frame.write_parquet(place / f"{name}.parquet")
        frame.rename(names).write_csv(place / f"{name}.csv")
        frame.rename(names).write_parquet(place / f"foreign_{name}.parquet")
        frame.rename({ours: theirs for ours, theirs in GUEST.items() if ours in frame}).write_parquet(
            place / f"guest_{name}.parquet"
        )
    return place


def run(folder: Path, *words: str, code: int = 0) -> Done:
    done = unskew(*words, cwd=folder)
    assert done.returncode == code, done.stderr
    return done


def read(folder: Path, *words: str) -> dict[str, Any]:
    run(folder, *words, "-q", "--json", "out.json")
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


RELEVANT = ("--relevant", ">=3", "--estimator", "naive", "--estimator", "snips", "--propensity", "popularity(gamma=1)")
OURS = ("test.parquet", "--train", "train.parquet", "--recs", "popular.parquet", "--recs", "plain.parquet")
MAPPED = (
    "--columns",
    "train:user=guest,train:item=dish",
    "--columns",
    "plain:user=guest",
    "--columns",
    "plain:item=dish",
)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_foreign_files_give_the_same_numbers(folder: Path, engine: str) -> None:
    """Every file has names of its own; those that nobody knows are mapped for one input, and the result keeps that."""
    ours = read(folder, "evaluate", *OURS, *RELEVANT)
    names = ("test", "train", "popular", "plain")
    files = [f"{name}.csv" if engine == "memory" else f"foreign_{name}.parquet" for name in names]
    words = (files[0], "--train", files[1], "--recs", f"popular={files[2]}", "--recs", f"plain={files[3]}")
    theirs = read(folder, "evaluate", *words, *RELEVANT, *MAPPED, "--engine", engine)
    for key in ("estimates", "verdicts"):
        assert [strip(each) for each in theirs[key]] == [strip(each) for each in ours[key]]
    inputs = theirs["inputs"]
    assert inputs["settings"]["columns"]["train:user"] == "guest" and ours["inputs"]["settings"]["columns"] == {}
    assert inputs["test"]["columns"] == {"user": "userId", "item": "movieId", "value": "rating", "time": "timestamp"}
    assert inputs["models"]["plain"]["columns"] == {**GUEST, "rank": "position"}
    assert ours["inputs"]["test"]["columns"] == {}


def strip(each: dict[str, Any]) -> dict[str, Any]:
    """Numbers of engines agree to the last digits."""
    return {name: pytest.approx(value) if isinstance(value, float) else value for name, value in each.items()}


def test_errors_advise_what_mends_one_file_alone(folder: Path) -> None:
    """Following the advice, error by error, leads to the answer; nothing breaks what was right before."""
    words, followed = ["evaluate", "test.csv", "--train", "train.csv", "--recs", "plain.csv", *RELEVANT], set()
    for _ in range(4):
        done = flat(run(folder, *words, code=2).stderr)
        advice = re.search(r"(\w+).csv: .*'(user|item)'.* --columns (\1:\2)=", done)
        assert advice is not None, done
        followed.add(advice[3])
        words += ["--columns", f"{advice[3]}={GUEST[advice[2]]}"]
    assert followed == {"train:user", "train:item", "plain:user", "plain:item"}
    run(folder, *words)


COMMANDS = {
    "audit": ("audit", "LOG", "--relevant", ">=3"),
    "split": ("split", "LOG", "--feedback", "ratings", "--split", "holdout(share=0.3)", "-o", "OUT", "--force"),
    "sample": ("sample", "LOG", "--strategy", "reg", "-o", "OUT.parquet"),
    "cross-validate": ("cross-validate", "LOG", "--relevant", ">=3", "--split", "k_fold(folds=2)", "--no-store",
                       "--model", "most_popular", "--model", "random", "--estimator", "naive", "--workers", "1"),
    "compare-protocols": ("compare-protocols", "LOG", "--relevant", ">=3", "--model", "most_popular", "--model",
                          "random", "--protocol", "holdout(share=0.3)", "--workers", "1"),
    "policy-impact": ("policy-impact", "LOG", "--relevant", ">=3", "--model", "most_popular", "--model", "random",
                      "--split", "leave_one_out(repeats=2)", "--refits", "0", "--min-users", "5", "--workers", "1"),
    "plan": ("plan", "LOG", "--relevant", ">=3", "--recs", "a=popular.parquet", "--recs", "b=plain.parquet"),
    "simulate ratings": ("simulate", "ratings", "--like", "LOG", "--rank", "2", "-o", "OUT", "--force"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_foreign_files(folder: Path, command: str) -> None:
    """By their names; by a map for the log; and says so."""
    words = COMMANDS[command]

    def words_for(log: str, out: str) -> list[str]:
        return [log if word == "LOG" else word.replace("OUT", out) for word in words]

    said = run(folder, *words_for("log.csv", "out1")).stderr
    assert "log.csv: user = CustomerID, item = StockCode" in said
    assert "time = InvoiceDate" in said
    mapped = [*words_for("guest_log.parquet", "out2"), "--columns", "log:user=guest", "--columns", "log:item=dish"]
    assert "guest_log.parquet: user = guest, item = dish" in run(folder, *mapped).stderr
    alone = run(folder, *words_for("guest_log.parquet", "out3"), code=2)
    refused(alone, "missing-column", "guest_log.parquet", "'user'")


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("--level", "0.9", "--level", "0.95"), "bad-usage", "--level"),
        (("--train", "train.csv", "--train", "log.csv", "--train", "x"), "bad-usage", "--train"),
        (("--columns", "user=a", "--columns", "item=b,user=c"), "repeated-name", "'user'"),
        (("--columns", "user=a,item=i, user =a"), "repeated-name", "'user'"),
        (("--columns", "seen:user=a"), "unknown-input", "'seen:user'"),
        (("--columns", ":user=a"), "unknown-input", "':user'"),
        (("--columns", "user"), "bad-string", "'='"),
        (("--columns", "test:"), "bad-string", "'='"),
    ],
)
def test_options_that_contradict_each_other(folder: Path, words: tuple[str, ...], code: str, named: str) -> None:
    refused(unskew("evaluate", "test.csv", "--recs", "plain.parquet", *words, cwd=folder), code, named)


def test_several_files_and_places_on_the_command_line(folder: Path) -> None:
    """A pattern, names with a comma, a file without a header; the output never replaces one of them."""
    test = pl.read_csv(folder / "test.csv")
    test[:100].write_csv(folder / "part-1.csv")
    test[100:].write_csv(folder / "part-2.csv")
    test.write_csv(folder / "bare.dat", include_header=False, separator="\t")
    rest = (*OURS[1:], *RELEVANT)
    ours = read(folder, "evaluate", *OURS, *RELEVANT)
    places = ("--columns", "test:user=1,test:item=2,test:value=3,test:time=4")
    for words in (("part-*.csv",), ("part-1.csv,part-2.csv",), ("bare.dat", *places)):
        theirs = read(folder, "evaluate", words[0], *rest, *words[1:])
        assert theirs["estimates"] == ours["estimates"]
    refused(unskew("evaluate", "part-*.csv", *rest, "--csv", "part-1.csv", cwd=folder), "output-is-input")


def test_extras_are_asked_for_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that cannot be drawn, a file that cannot be unpacked: said at once, with what to install."""
    monkeypatch.setattr("unskew.core.errors.find_spec", lambda name: None)
    (packed := tmp_path / "t.csv.zst").write_bytes(b"")
    with refuses("missing-extra", MissingExtraError, extra="report"):
        options.check_outputs(html=tmp_path / "p.html")
    with refuses("missing-extra", MissingExtraError, extra="files"):
        options.check_outputs(packed)
