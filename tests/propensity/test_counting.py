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
from unskew import propensity
from unskew.errors import InputError
from unskew.log import Log, key_counts, stream
from unskew.propensity import (
    FitInputs,
    NaiveBayes,
    Popularity,
    ValueCounts,
    count_items,
    count_values,
    from_files,
)


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


def same(one: NaiveBayes, other: NaiveBayes) -> bool:
    """Whether two fits agree to the last bit."""
    assert one.values is not None and one.of_value is not None and other.values is not None
    return np.array_equal(one.values, other.values) and one.of_value.tolist() == np.asarray(other.of_value).tolist()


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("form", ["file", "folder", "deep folder", "pattern", "csv"])
def test_counted_equals_the_fit_in_memory(form: str, smoothing: float, tmp_path: Path) -> None:
    """The same propensities, bit by bit, whether the log is in memory, in one file, in a folder, or in a pattern."""
    frame, mcar = world(), sample()
    path = tmp_path / "train"
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
    whole = NaiveBayes(smoothing).fit(train, inputs=FitInputs(mcar=mcar))
    seen = count_values(path)
    assert (seen.users, seen.items, seen.counts.sum()) == (len(train.users), len(train.items), len(train))
    assert same(NaiveBayes.from_counts(seen, mcar, smoothing), whole)
    scored = from_files(NaiveBayes(smoothing), path, mcar=mcar).of(train)
    expected = whole.of(train)
    np.testing.assert_array_equal(scored.rows, expected.rows)
    assert scored.capped == expected.capped


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30))
def test_counts_are_those_of_a_loop(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]) -> None:
    """Values, users and items by Python dictionaries; repeated pairs count as rows."""
    path = tmp_path_factory.mktemp("rows") / "log.parquet"
    pl.DataFrame(rows, schema=["user", "item", "value"], orient="row").write_parquet(path, row_group_size=4)
    counts: dict[float, int] = {}
    for _, _, value in rows:
        counts[float(value)] = counts.get(float(value), 0) + 1
    found = count_values(path)
    assert dict(zip(found.values.tolist(), found.counts.tolist(), strict=True)) == counts
    assert found.users == len({user for user, _, _ in rows}) and found.items == len({item for _, item, _ in rows})


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


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt64])
def test_small_and_large_integers_are_counted(dtype: Any) -> None:
    """The ends of a type's range, which do not fit into differences of that type."""
    low, high = (2**63 - 1, 2**64 - 1) if dtype == pl.UInt64 else (dtype.min(), dtype.max())
    ends = pl.select(low=low, high=high).row(0)
    counted = key_counts.KeyCounts()
    counted.add(pl.Series([ends[0], ends[1], ends[1]], dtype=dtype))
    counted.add(pl.Series([ends[0]], dtype=dtype))
    assert dict(counted.result().iter_rows()) == {ends[0]: 2, ends[1]: 2}


def test_many_small_pieces_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the pieces in memory: the same counts, and the same row is named as wrong."""
    frame, mcar = world(), sample()
    folder = in_parts(frame.with_columns(pl.format("u{}", "user").alias("user")), tmp_path / "train")
    whole = NaiveBayes().fit(Log.from_frame(frame, feedback="ratings"), inputs=FitInputs(mcar=mcar))
    monkeypatch.setattr(stream, "PIECE", 7)
    monkeypatch.setattr(key_counts, "WAITING", 10)
    assert same(NaiveBayes.from_counts(count_values(folder), mcar), whole)
    frame.with_row_index().select("user", "item", pl.when(pl.col("index") != 500).then("value")).write_parquet(
        tmp_path / "hole.parquet"
    )
    with pytest.raises(InputError, match=r"hole\.parquet: column 'value' must .* row 501 has none"):
        count_values(tmp_path / "hole.parquet")


@pytest.mark.parametrize(
    "cast",
    [
        {"user": pl.String, "item": pl.UInt64},
        {"user": pl.Float64, "item": pl.Categorical},
        {"value": pl.Float32},
        {"value": pl.String},
        {"value": pl.Decimal(10, 2)},
    ],
)
def test_types_of_columns_do_not_matter(cast: Any, tmp_path: Path) -> None:
    """Ids of any type, also other ones in another file, and numbers of any type count as they do in memory."""
    frame, mcar = world(), sample()
    whole = NaiveBayes().fit(Log.from_frame(frame, feedback="ratings"), inputs=FitInputs(mcar=mcar))
    folder = in_parts(frame, tmp_path / "mixed", 2)
    texts: Any = {name: pl.String for name, dtype in cast.items() if dtype == pl.Categorical}  # on the way there
    other = pl.read_parquet(folder / "part-1.parquet").cast(texts).cast(cast)
    other.write_parquet(folder / "part-1.parquet")
    assert same(NaiveBayes.from_counts(count_values(folder), mcar), whole)
    frame.cast(texts).cast(cast).write_parquet(tmp_path / "one.parquet")
    assert same(NaiveBayes.from_counts(count_values(tmp_path / "one.parquet"), mcar), whole)


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


def wrong_file(tmp_path: Path, column: str, values: list[Any], name: str = "log.parquet") -> Path:
    """Five sound rows, then these."""
    rows = 5 + len(values)
    sound: dict[str, list[Any]] = {"user": list(range(rows)), "item": list(range(rows)), "value": [1.0] * rows}
    sound[column] = [*sound[column][:5], *values]
    frame = pl.DataFrame(sound, strict=False)
    path = tmp_path / name
    frame.write_csv(path) if name.endswith("csv") else frame.write_parquet(path, row_group_size=2)
    return path


@pytest.mark.parametrize(
    ("column", "values", "name", "words"),
    [
        ("value", [None], "log.parquet", "column 'value' must have a value in every row; row 6 has none"),
        ("value", [2.0, float("nan")], "log.parquet", "column 'value' must hold finite numbers; row 7 has nan"),
        ("value", [float("inf")], "log.parquet", "column 'value' must hold finite numbers; row 6 has inf"),
        ("value", ["good"], "log.csv", "column 'value' must hold numbers; row 6 (not counting the header) has 'good'"),
        ("user", [7, None], "log.parquet", "column 'user' must have a value in every row; row 7 has none"),
        ("item", [None], "log.csv", "column 'item' must have a value in every row; row 6 (not counting the header)"),
        ("item", [1.5], "log.parquet", "column 'item' must hold whole numbers or text; row 6 has 1.5"),
    ],
)
def test_a_wrong_row_is_named(column: str, values: list[Any], name: str, words: str, tmp_path: Path) -> None:
    """File, column, first wrong row and remedy, as for a log that is read; in a folder, the file that holds it."""
    folder = tmp_path / "train"
    folder.mkdir()
    path = wrong_file(folder, column, values, name)
    with pytest.raises(InputError) as caught:
        count_values(path)
    assert f"{path}: {words}" in str(caught.value) and "leave such rows out" in str(caught.value)
    wrong_file(folder, "value", [2.0], f"a-{name}")
    with pytest.raises(InputError) as caught:
        count_values(folder)
    assert f"{path}: {words}" in str(caught.value)
    if column != "user":
        with pytest.raises(InputError) as caught:
            count_items(folder, above=0.0)
        assert f"{path}: {words}" in str(caught.value)


def test_a_wrong_column_is_named_with_its_file(tmp_path: Path) -> None:
    """A missing column, a type that cannot be a value, and other names: said before a row is read."""
    folder = in_parts(world(), tmp_path / "train", 2)
    second = folder / "part-1.parquet"
    frame = pl.read_parquet(second)
    frame.rename({"value": "points"}).write_parquet(second)
    with pytest.raises(InputError, match=r"part-1\.parquet: there is no column 'value'"):
        count_values(folder)
    frame.with_columns(value=pl.lit([1.0])).write_parquet(second)
    with pytest.raises(InputError, match=r"part-1\.parquet: column 'value' must hold numbers, but its type is List"):
        count_values(folder)
    renamed = in_parts(world().rename({"user": "u", "value": "points"}), tmp_path / "renamed")
    names = {"user": "u", "value": "points"}
    assert count_values(renamed, columns=names).counts.sum() == len(world())
    popular = from_files(Popularity(1.0), renamed, columns=names)
    assert str(popular) == f"counted(popularity(gamma=1), train={renamed}, user=u, value=points)"


def test_paths_that_hold_nothing_to_count(tmp_path: Path) -> None:
    """No such file, no file of a pattern, a folder without data, files of two kinds, a file without rows."""
    with pytest.raises(InputError, match="no such file"):
        count_values(tmp_path / "nowhere.parquet")
    with pytest.raises(InputError, match=r"no file has such a name"):
        count_values(tmp_path / "*.parquet")
    with pytest.raises(InputError, match="holds no"):
        count_values(tmp_path)
    world().head(0).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="nothing to count"):
        count_values(tmp_path)
    world().write_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"several kinds \(\.csv, \.parquet\)"):
        count_values(tmp_path)
    assert count_values(tmp_path / "*.csv").counts.sum() == len(world())
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    with pytest.raises(InputError, match=r"b\.parquet: the file cannot be read"):
        count_values(tmp_path / "*.parquet")


def test_values_that_hardly_repeat_are_refused_early(tmp_path: Path) -> None:
    """Measurements are no ratings: more than 100 values in a file, or in all of them together, ask for bins."""
    rng = np.random.default_rng(0)
    row = np.arange(50_000)
    dwell = pl.DataFrame({"user": row, "item": row, "value": rng.exponential(size=len(row))})
    folder = in_parts(dwell, tmp_path / "dwell", 2)
    with pytest.raises(InputError, match=r"part-0\.parquet: .*at least 25,001 different values.*\n.*bins"):
        count_values(folder)
    few = in_parts(dwell.with_columns(value=pl.Series(row // 400)), tmp_path / "few", 3)
    with pytest.raises(InputError, match=r"part-2\.parquet: .*at least 125 different values"):
        count_values(few)
    hundred = in_parts(dwell.with_columns(value=pl.Series(row % 100)), tmp_path / "hundred", 3)
    assert len(count_values(hundred).values) == 100


def test_a_hundred_values_and_a_hole_are_a_hole(tmp_path: Path) -> None:
    """A missing value is told as such, not as the 101st value."""
    frame = pl.DataFrame({"user": range(101), "item": range(101), "value": [*range(100), None]})
    frame.write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match="row 101 has none"):
        count_values(tmp_path / "log.parquet")


def test_counts_by_hand_are_checked() -> None:
    """Counts from elsewhere must be counts: one per value, ascending, not negative, some users and items."""
    good = ValueCounts(np.array([1.0, 2.0]), np.array([3.0, 1.0]), users=2, items=3)
    fitted = NaiveBayes.from_counts(good, good, smoothing=0.0)
    assert fitted.of_value is not None and fitted.of_value == pytest.approx(4 / 6)
    for values, counts in (([1.0], [1.0, 2.0]), ([2.0, 1.0], [1.0, 1.0]), ([1.0, 2.0], [1.0, -1.0]), ([np.nan], [1.0])):
        with pytest.raises(InputError, match="one count per value"):
            ValueCounts(np.array(values), np.array(counts), users=1, items=1)
    with pytest.raises(InputError, match="at least one user and one item"):
        ValueCounts(np.array([1.0]), np.array([1.0]), users=0, items=1)


def test_counted_is_reached_by_a_string(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation with counted(…) needs no training log, and gives the estimates of one that has it in memory."""
    monkeypatch.chdir(tmp_path)
    train, test = us.split.holdout(Log.from_frame(world(), feedback="ratings"), 0.3, seed=1)
    in_parts(train.to_frame().select("user", "item", "value"), tmp_path / "train")
    sample().to_frame().write_parquet(tmp_path / "mcar.parquet")
    lists = test.to_frame().group_by("user").head(3).select("user", "item")
    lists = lists.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    options: dict[str, Any] = {"metrics": ["recall@2"], "estimators": ["snips"], "relevant": ">=2", "target": "pooled"}
    seen = Log.from_frame(train.to_frame(), feedback="ratings")  # knows only users and items with rows, as files do
    for inner, counted in {
        "naive_bayes": "counted(naive_bayes, train=train, mcar=mcar.parquet)",
        "popularity(gamma=1)": "counted(popularity(gamma=1), train=train, above=1.9)",
    }.items():
        in_memory = us.evaluate(
            test, {"m": lists}, propensity=inner, train=seen, mcar=sample(), candidates="all", **options
        )
        from_disk = us.evaluate(test, {"m": lists}, propensity=counted, **options)
        assert from_disk.estimates[0].value == pytest.approx(in_memory.estimates[0].value, rel=1e-12)
        model = propensity.make(counted)
        assert str(propensity.make(str(model))) == str(model) and str(model).startswith(f"counted({inner}")
        assert from_disk.inputs["settings"]["propensity"] == str(model)
        with pytest.raises(InputError, match="leave refit=True out"):
            model.fit(train)


def test_counted_knows_the_population_and_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(O) = |O|/(U·I) counts users and items without rows in the files: ips equals that of the log in memory."""
    monkeypatch.chdir(tmp_path)
    train, test = us.split.holdout(Log.from_frame(world(), feedback="ratings"), 0.3, seed=1)
    in_parts(train.to_frame().select("user", "item", "value"), tmp_path / "train")
    sample().to_frame().write_parquet(tmp_path / "mcar.parquet")
    lists = test.to_frame().group_by("user", maintain_order=True).head(3).select("user", (pl.col("item") + 1) % 150)
    options: dict[str, Any] = {
        "metrics": ["recall@2"],
        "estimators": ["ips"],
        "target": "per_user_sum",
        "relevant": ">=2",
        "candidates": "all",
        "users": pl.DataFrame({"user": np.arange(1_000)}),
        "items": pl.DataFrame({"item": np.arange(150)}),
    }
    models = {"m": lists.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))}
    seen = Log.from_frame(train.to_frame(), feedback="ratings")
    in_memory = us.evaluate(test, models, propensity="naive_bayes", train=seen, mcar=sample(), **options)
    counted = "counted(naive_bayes, train=train, mcar=mcar.parquet)"
    from_disk = us.evaluate(test, models, propensity=counted, **options)
    assert from_disk.estimates[0].value == in_memory.estimates[0].value
    said = [[w for w in r.warnings if "random rows" in w] for r in (from_disk, in_memory)]
    assert said[0] == said[1] != []


def test_counted_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No files, no sample, a propensity that needs more than counts, a column of another name: each with a way out."""
    monkeypatch.chdir(tmp_path)
    in_parts(world().rename({"value": "points"}), tmp_path / "train")
    for text, words in {
        "counted(naive_bayes)": "names the files",
        "counted(naive_bayes, train=train)": "mcar=mcar.parquet",
        "counted(logistic, train=train)": "needs more of a training log than counts",
        "counted(popularity(gamma=estimate), train=train)": "do not say γ",
        "counted(popularity(gamma=1, level=absolute), train=train)": "absolute level need more",
        "counted(naive_bayes, train=train, mcar=train, above=1)": "'above' is for popularity",
        "counted(naive_bayes, train=train, mcar=train)": r"no column 'value'[\s\S]*counted\(…, value=stars\)",
    }.items():
        with pytest.raises(InputError, match=words):
            propensity.make(text)
    assert propensity.make("counted(naive_bayes, train=train, mcar=train, value=points)").fitted
