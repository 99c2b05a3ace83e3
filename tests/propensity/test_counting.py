"""Counts of files that exceed memory: the numbers of the log in memory, and errors that name file, column and row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew as us
from tests.said import refuses
from unskew import propensity
from unskew.log import Ids, Log, key_counts
from unskew.propensity import FitInputs, NaiveBayes, Popularity, ValueCounts, count_items, count_values, from_files


def world(rows: int = 4000, seed: int = 0) -> pl.DataFrame:
    """Distinct pairs of some users and items with ratings; the last users and items are rare."""
    rng = np.random.default_rng(seed)
    pairs = pl.DataFrame({"user": rng.zipf(1.3, rows) % 301, "item": rng.zipf(1.5, rows) % 97}).unique(
        maintain_order=True
    )
    return pairs.with_columns(value=pl.Series(rng.integers(1, 6, len(pairs)) / 2.0))


def sample(seed: int = 1) -> Log:
    """A small log seen at random."""
    return Log.from_frame(world(300, seed), feedback="ratings")


def in_parts(frame: pl.DataFrame, folder: Path, parts: int = 3) -> Path:
    """A folder of Parquet files with several row groups each."""
    folder.mkdir(parents=True)
    size = len(frame) // parts + 1
    for part in range(parts):
        rows = frame.slice(part * size, size)
        rows.write_parquet(folder / f"part-{part}.parquet", row_group_size=100)
    return folder


def same(seen: Path, mcar: Log, train: Log, smoothing: float = 1.0) -> bool:
    """Whether a fit to counts of files agrees to the last bit with that to the log in memory."""
    counted = NaiveBayes.from_counts(count_values(seen), mcar, smoothing).of(train)
    whole = NaiveBayes(smoothing).fit(train, inputs=FitInputs(mcar=mcar)).of(train)
    return counted.rows.tolist() == whole.rows.tolist() and counted.capped == whole.capped


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("form", ["file", "folder", "deep folder", "pattern", "csv"])
def test_counted_equals_the_fit_in_memory(form: str, smoothing: float, tmp_path: Path) -> None:
    """The same propensities, bit by bit, whether the log is in memory, in one file, in a folder, or in a pattern."""
    frame, path = world(), tmp_path / "train"
    if form == "file":
        path = tmp_path / "train.parquet"
        frame.write_parquet(path, row_group_size=64)
    elif form == "csv":
        path = tmp_path / "train.csv"
        frame.write_csv(path)
    else:
        in_parts(frame, path / "year=2024" if form == "deep folder" else path)
        (path / "_SUCCESS").touch()
        (path / ".part-0.parquet.crc").touch()
        path = path / "*.parquet" if form == "pattern" else path
    train = Log.from_frame(frame, feedback="ratings")
    seen = count_values(path)
    assert (seen.users, seen.items, seen.counts.sum()) == (len(train.users), len(train.items), len(train))
    assert same(path, sample(), train, smoothing)


@given(
    st.one_of(
        st.lists(st.lists(st.integers(-40, 40))),
        st.lists(st.lists(st.sampled_from([-(2**40), -3, 0, 3, 99, 2**40, 2**62]))),
        st.lists(st.lists(st.sampled_from(["", "a", "7", "07", "é"]))),
    ),
    st.sampled_from([8, 100, 1 << 23]),
)
def test_counting_keys_is_a_counter(pieces: list[list[Any]], largest: int) -> None:
    """Whatever comes in whatever pieces, by table or by parts: what a Counter says."""
    expected: Counter[Any] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_counts, "LARGEST", largest)
        patch.setattr(key_counts, "WAITING", 3)
        counted = key_counts.KeyCounts()
        texts = any(isinstance(key, str) for piece in pieces for key in piece)
        for piece in pieces:
            counted.add(pl.Series(piece, dtype=pl.String if texts else pl.Int64))
            expected.update(piece)
        assert dict(counted.result().iter_rows()) == expected


def test_items_are_counted_in_folders_too(tmp_path: Path) -> None:
    """Popularity takes the same paths: one file, a folder, or a pattern give the same counts."""
    frame = world().with_columns(value=pl.col("value") - 0.5)
    frame.write_parquet(tmp_path / "one.parquet")
    folder = in_parts(frame, tmp_path / "many")
    for above in (None, 0.0):
        items, counts = count_items(tmp_path / "one.parquet", above=above)
        for path in (folder, folder / "part-?.parquet"):
            again, found = count_items(path, above=above)
            assert again.values.equals(items.values) and np.array_equal(found, counts)
    train = Log.from_frame(frame, feedback="conversions")
    np.testing.assert_array_equal(
        from_files(Popularity(1.0), folder, above=0.0).of(train).rows, Popularity(1.0).fit(train).of(train).rows
    )


def wrong_file(path: Path, column: str, values: list[Any]) -> Path:
    """Five sound rows, then these."""
    rows = 5 + len(values)
    sound: dict[str, list[Any]] = {"user": list(range(rows)), "item": list(range(rows)), "value": [1.0] * rows}
    sound[column] = [*sound[column][:5], *values]
    frame = pl.DataFrame(sound, strict=False)
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path, row_group_size=2)
    return path


@pytest.mark.parametrize(
    ("column", "values", "name", "code", "row"),
    [
        ("value", [None], "log.parquet", "missing-value", 6),
        ("value", [*range(100), None], "log.parquet", "missing-value", 106),
        ("value", [2.0, float("nan")], "log.parquet", "not-a-number", 7),
        ("value", [float("inf")], "log.parquet", "not-a-number", 6),
        ("value", ["good"], "log.csv", "not-a-number", 6),
        ("user", [7, None], "log.parquet", "missing-value", 7),
        ("item", [None], "log.csv", "missing-value", 6),
        ("item", [1.5], "log.parquet", "not-an-integer", 6),
    ],
)
def test_a_wrong_row_is_named(column: str, values: list[Any], name: str, code: str, row: int, tmp_path: Path) -> None:
    """File, column and first wrong row, as for a log that is read; in a folder, the file that holds it. The 101st value
    is a missing one and not one too many."""
    path = wrong_file(tmp_path / name, column, values)
    with refuses(code, column=column, row=row, file=str(path)):
        count_values(path)
    wrong_file(tmp_path / f"a-{name}", "value", [2.0])
    with refuses(code, column=column, row=row, file=str(path)):
        count_values(tmp_path)
    if column != "user":
        with refuses(code, column=column, row=row, file=str(path)):
            count_items(tmp_path, above=0.0)


def test_paths_that_hold_nothing_to_count(tmp_path: Path) -> None:
    """No such file, no file of a pattern, a folder without data, files of two kinds, no rows, half a file."""

    def refused(name: str, code: str) -> None:
        with refuses(code):
            count_values(tmp_path / name)

    refused("nowhere.parquet", "missing-file")
    refused("*.parquet", "missing-file")
    refused(".", "empty-folder")
    world().head(0).write_parquet(tmp_path / "a.parquet")
    refused(".", "empty-log")
    with refuses("empty-log"):
        count_items(tmp_path / "a.parquet", above=0.0)
    world().write_csv(tmp_path / "a.csv")
    refused(".", "mixed-formats")
    assert count_values(tmp_path / "*.csv").counts.sum() == len(world())
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    refused("*.parquet", "unreadable-file")


def test_counts_by_hand_are_checked() -> None:
    """Counts from elsewhere must be counts: one per value or item, ascending, not negative, some users and items."""
    good = ValueCounts(np.array([1.0, 2.0]), np.array([3.0, 1.0]), users=2, items=3)
    asked = Log.from_frame(pl.DataFrame({"user": [1], "item": [1], "value": [1.0]}), feedback="ratings")
    assert NaiveBayes.from_counts(good, good, smoothing=0.0).of(asked).rows == pytest.approx(4 / 6)
    for values, counts, users in (
        ([1.0], [1.0, 2.0], 1), ([2.0, 1.0], [1.0, 1.0], 1), ([1.0, 2.0], [1.0, -1.0], 1), ([np.nan], [1.0], 1),
        ([1.0], [1.0], 0),
    ):  # fmt: skip
        with refuses("bad-counts"):
            ValueCounts(np.array(values), np.array(counts), users=users, items=1)
    for number, gamma, code in ((2, 1.0, "bad-counts"), (1, "estimate", "exponent-unknown")):
        with refuses(code):
            Popularity.from_counts(Ids(pl.Series([1])), np.ones(number), gamma)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Log, Log]:
    """A test part and what training files hold, which know only users and items with rows; files lie beside."""
    monkeypatch.chdir(tmp_path)
    train, test = us.split.holdout(Log.from_frame(world(), feedback="ratings"), 0.3, seed=1)
    in_parts(train.to_frame().select("user", "item", "value"), tmp_path / "train")
    sample().to_frame().write_parquet(tmp_path / "mcar.parquet")
    return test, Log.from_frame(train.to_frame(), feedback="ratings")


def judged(test: Log, propensity: str, **options: Any) -> us.Result:
    """recall@2 of what users took, items moved by one where the catalogue is told."""
    moved = (pl.col("item") + 1) % 150 if "items" in options else pl.col("item")
    lists = test.to_frame().group_by("user", maintain_order=True).head(3).select("user", moved)
    models = {"m": lists.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))}
    return us.evaluate(test, models, metrics=["recall@2"], relevant=">=2", propensity=propensity, **options)


@pytest.mark.parametrize(
    ("inner", "counted"),
    [
        ("naive_bayes", "counted(naive_bayes, train=train, mcar=mcar.parquet)"),
        ("popularity(gamma=1)", "counted(popularity(gamma=1), train=train, above=1.9)"),
    ],
)
def test_counted_is_reached_by_a_string(inner: str, counted: str, parts: tuple[Log, Log]) -> None:
    """An evaluation with counted(…) needs no training log, and gives the estimates of one that has it in memory."""
    test, train = parts
    options: dict[str, Any] = {"estimators": ["snips"], "target": "pooled"}
    in_memory = judged(test, inner, train=train, mcar=sample(), candidates="all", **options)
    from_disk = judged(test, counted, **options)
    assert from_disk.estimates[0].value == pytest.approx(in_memory.estimates[0].value, rel=1e-12)
    model = propensity.make(counted)
    assert str(propensity.make(str(model))) == str(model) and str(model).startswith(f"counted({inner}")
    assert from_disk.inputs["settings"]["propensity"] == str(model)
    with refuses("no-training-log"):
        model.fit(train)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("counted(naive_bayes)", "missing-argument"),
        ("counted(naive_bayes, train=train)", "no-random-sample"),
        ("counted(logistic, train=train)", "not-supported"),
        ("counted(popularity(gamma=estimate), train=train)", "exponent-unknown"),
        ("counted(popularity(gamma=1, level=absolute), train=train)", "not-supported"),
        ("counted(naive_bayes, train=train, mcar=train, above=1)", "unknown-argument"),
        ("counted(naive_bayes, train=train, mcar=train)", "conflicting-arguments"),
    ],
)
def test_counted_says_what_it_lacks(text: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No files, no sample, a propensity that needs more than counts, a column of another name."""
    monkeypatch.chdir(tmp_path)
    in_parts(world().rename({"value": "points"}), tmp_path / "train")
    with refuses(code):
        propensity.make(text)
    assert propensity.make("counted(naive_bayes, train=train, mcar=train, value=points)").fitted
