"""Samples of files: those of a log in memory, whatever the pieces, the order of the rows and the kind of file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import refusal, refuses
from tests.sampling.test_draws import skewed
from unskew.core.notice import codes
from unskew.log import stream
from unskew.log.log import WEIGHT
from unskew.sampling import files, sample_file

STRATEGIES = ("full", "reg", "skew", "wtd", "wtd_h", "weighted(user_power=0, item_power=0.5)")


@pytest.fixture
def frames() -> dict[str, pl.DataFrame]:
    """Held-out, training and random rows; times, and a column that nobody knows."""
    both = skewed(4000, 200, 80)
    both = both.with_columns(time=pl.col("user") * 3, value=pl.lit(4), note=pl.format("n{}", pl.col("item")))
    return {"test": both[:900], "train": both[900:], "mcar": skewed(500, 200, 80, seed=4)}


def written(frames: dict[str, pl.DataFrame], folder: Path, ending: str = "parquet") -> dict[str, Path]:
    paths = {name: folder / f"{name}.{ending}" for name in frames}
    for name, frame in frames.items():
        getattr(frame, f"write_{ending}")(paths[name])
    return paths


def keys(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    return sorted(frame.select(pl.col("user", "item").cast(pl.String)).rows())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_memory_stream_and_shuffled_rows_give_the_same_sample(
    strategy: str, frames: dict[str, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs and weights; all columns are written, rows in their order, whatever the size of the pieces."""
    paths = written(frames, tmp_path)
    how: dict[str, Any] = {"train": paths["train"], "mcar": paths["mcar"], "seed": 5}
    how |= {} if strategy == "full" else {"size": 0.4}
    memory = us.sample(us.read_log(paths["test"], feedback="ratings"), strategy, **how).to_frame()
    monkeypatch.setattr(stream, "PIECE", 97)
    summary = sample_file(paths["test"], tmp_path / "one.parquet", strategy, **how)
    one = pl.read_parquet(tmp_path / "one.parquet")
    assert summary.kept == len(one) == len(memory) and summary.rows == 900 and summary.repeated == 0
    assert keys(one) == keys(memory)
    order = ["user", "item"]
    assert one.sort(order)[WEIGHT].to_list() == memory.sort(order)[WEIGHT].to_list()
    kept = frames["test"].join(one, on=order, how="semi", maintain_order="left")
    assert one.drop(WEIGHT).equals(kept)
    frames["test"].sample(fraction=1.0, shuffle=True, seed=1).write_parquet(paths["test"])
    monkeypatch.setattr(stream, "PIECE", 350)
    sample_file(paths["test"], tmp_path / "two.parquet", strategy, **how)
    assert keys(pl.read_parquet(tmp_path / "two.parquet")) == keys(one)


@pytest.mark.parametrize("margin", [1e-3, 1.0])
def test_a_bracket_that_was_too_narrow_is_widened(
    margin: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pilot only saves work: however wrong it is, the sample is that of a log in memory."""
    skewed(60_000, 3000, 400)[["user", "item"]].unique(maintain_order=True).write_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(files, "MARGIN", margin)
    stages: list[tuple[int, int]] = []
    for size in (0.01, 0.5, 0.9):
        how: dict[str, Any] = {"train": tmp_path / "log.parquet", "size": size}
        memory = us.sample(us.read_log(tmp_path / "log.parquet"), "wtd_h", **how).to_frame()
        sample_file(
            tmp_path / "log.parquet",
            tmp_path / "out.parquet",
            "wtd_h",
            **how,
            progress=lambda stage, *at: stages.append(at) if stage == "drawing" else None,
        )
        assert keys(pl.read_parquet(tmp_path / "out.parquet")) == keys(memory)
    assert len(stages) > 3 or margin == 1.0


USER, DAY = pl.col("user").cast(pl.Int64), pl.datetime(2020, 1, 1)
STAMP = DAY + pl.duration(hours=7 * pl.int_range(pl.len()))
KINDS: dict[str, dict[str, pl.Expr]] = {
    "texts": {"user": pl.format("u{}", USER)},
    "negative": {"user": USER - 10**15},
    "far apart": {"user": pl.when(pl.int_range(pl.len()) < 300).then(USER).otherwise(USER * 10**12)},
    "more than 63 bits": {
        "user": pl.when(USER < 40).then(USER.cast(pl.UInt64)).otherwise(USER.cast(pl.UInt64) + 2**63)
    },
    "small": {"user": (USER % 100).cast(pl.Int8)},
    "categories": {"user": pl.format("u{}", USER).cast(pl.Categorical)},
    "datetimes": {"time": STAMP.cast(pl.Datetime("ms"))},
    "dates": {"time": STAMP.cast(pl.Date)},
    "numbers": {"time": STAMP.cast(pl.Int64)},
    "times as texts": {"time": STAMP.dt.strftime("%Y-%m-%dT%H:%M:%S")},
}


@pytest.mark.parametrize("source", ["parquet", "csv", "folder"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_any_type_are_sampled_as_in_memory(
    kind: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compact numbers have a table, others are coded; both at once where only later pieces are far apart."""
    frame = skewed(900, 200, 80).with_columns(**KINDS[kind]).unique(["user", "item"], maintain_order=True)
    (tmp_path / "folder").mkdir()
    frame[:200].write_parquet(tmp_path / "folder" / "a.parquet")
    frame[200:].write_parquet(tmp_path / "folder" / "b.parquet")
    path = tmp_path / "folder" if source == "folder" else written({"log": frame}, tmp_path, source)["log"]
    monkeypatch.setattr(stream, "PIECE", 250)
    how: dict[str, Any] = {"train": frame, "size": 0.3}
    memory = us.sample(us.read_log(path), "wtd_h", **how).to_frame()
    out = tmp_path / ("out.csv" if source == "csv" else "out.parquet")
    summary = sample_file(path, out, "wtd_h", train=path, size=0.3)
    found = pl.read_csv(out) if source == "csv" else pl.read_parquet(out)
    assert keys(found) == keys(memory) and summary.repeated == 0
    assert summary.users.number == frame["user"].n_unique()


def test_repeated_rows_are_told_apart_by_time_then_by_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine equal rows and nine with other times: each is drawn about half the time, independently of the others.

    Over 100 seeds a row is drawn 50 times within 4.5 standard errors √25; the sizes of pieces change nothing.
    """
    frame = pl.DataFrame({"user": [1] * 18, "item": [2] * 18, "time": [0] * 9 + list(range(1, 10)), "row": range(18)})
    frame.write_parquet(tmp_path / "log.parquet")
    counts = np.zeros(18)
    for seed in range(100):
        monkeypatch.setattr(stream, "PIECE", (4, 100)[seed % 2])
        summary = sample_file(tmp_path / "log.parquet", tmp_path / "out.parquet", "reg", seed=seed)
        rows = pl.read_parquet(tmp_path / "out.parquet")["row"].to_numpy()
        assert len(rows) == 9 and summary.repeated == 8
        counts[rows] += 1
        if seed < 5:
            monkeypatch.setattr(stream, "PIECE", 3)
            sample_file(tmp_path / "log.parquet", tmp_path / "again.parquet", "reg", seed=seed)
            assert pl.read_parquet(tmp_path / "again.parquet")["row"].to_list() == rows.tolist()
    assert (np.abs(counts - 50) < 4.5 * 5).all(), counts


def test_the_summary_counts_rows_by_the_definitions(frames: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    """Entropy, KL, Gini and distance by loops over Python numbers; JSON holds them."""
    paths = written(frames, tmp_path)
    out = tmp_path / "out.parquet"
    summary = sample_file(paths["test"], out, "wtd", train=paths["train"], mcar=paths["mcar"])
    for name, rows in (("before", frames["test"]), ("after", pl.read_parquet(out))):
        for who in ("user", "item"):
            known = frames["test"][who].unique().sort().to_list()
            counts = [rows[who].to_list().count(each) for each in known]
            share = [n / len(rows) for n in counts]
            entropy = -sum(p * np.log2(p) for p in share if p)
            found = getattr(getattr(summary, f"{who}s"), name)
            assert found.entropy == pytest.approx(entropy)
            assert found.kl_bits == pytest.approx(np.log2(len(known)) - entropy)
            apart = sum(abs(a - b) for a in counts for b in counts)
            assert found.gini == pytest.approx(apart / (2 * len(counts) * sum(counts)))
            random = frames["mcar"][who].to_list()
            ids = set(known) | set(random)
            at = dict(zip(known, share, strict=True))
            distance = sum(abs(at.get(i, 0.0) - random.count(i) / len(random)) for i in ids) / 2
            assert found.distance == pytest.approx(distance)
    after, equal = summary.items.after.distance, summary.items.equal.distance
    assert after is not None and equal is not None and after < equal
    json.dumps(summary.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda f: f.with_columns(user=pl.lit(None)), "missing-value"),
        (lambda f: f.with_columns(user=pl.col("user") + 0.5), "not-an-integer"),
        (lambda f: f.with_columns(user=pl.format(" u{}", pl.col("user"))), "padded-id"),
        (lambda f: f.drop("item"), "missing-column"),
        (lambda f: f.with_columns(pl.lit(1.0).alias(WEIGHT)), "sampled-already"),
        (lambda f: f.with_columns(time=pl.lit("soon")), "not-a-number"),
        (lambda f: f[:0], "empty-log"),
    ],
)
def test_bad_files_are_one_clear_error_and_leave_nothing(
    change: Any, code: str, frames: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    change(frames["test"]).write_parquet(tmp_path / "test.parquet")
    with refuses(code):
        sample_file(tmp_path / "test.parquet", tmp_path / "out.parquet", "reg")
    assert [path.name for path in tmp_path.iterdir()] == ["test.parquet"]


@pytest.mark.parametrize(("strategy", "code"), [("reg", "propensity-scaled"), ("skew", "propensity-of-log")])
def test_propensities_in_a_file_are_those_of_the_sample(strategy: str, code: str, tmp_path: Path) -> None:
    """With equal chances the column is scaled as in memory; else it stays, and a note says what it is worth."""
    frame = skewed(600, 80, 40)[:400].with_columns(propensity=0.1 + 0.8 / (1 + pl.col("item")))
    frame.write_parquet(tmp_path / "log.parquet")
    out = tmp_path / "out.parquet"
    summary = sample_file(tmp_path / "log.parquet", out, strategy, train=tmp_path / "log.parquet")
    memory = us.sample(frame, strategy, train=frame).to_frame().sort("user", "item")
    assert pl.read_parquet(out).sort("user", "item")["propensity"].to_list() == memory["propensity"].to_list()
    assert code in codes(summary.notes)


def test_what_is_written_must_be_a_file_of_its_own(frames: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    """With a name that says what it is; and files of one folder have the same columns."""
    paths = written(frames, tmp_path)
    summary = sample_file(paths["test"], tmp_path / "out.parquet", train=paths["train"])
    over = partial(sample_file, paths["test"], paths["train"], train=paths["train"])
    for write in (over, partial(summary.to_html, paths["test"])):
        assert refusal(write).code == "output-is-input"
    assert refusal(sample_file, paths["test"], tmp_path / "o.json", train=paths["train"]).code == "wrong-extension"
    assert pl.read_parquet(paths["train"]).equals(frames["train"])
    (folder := tmp_path / "parts").mkdir()
    frames["test"][:400].write_parquet(folder / "a.parquet")
    for gone, code in (("note", "other-columns"), ("time", "missing-column")):
        frames["test"].drop(gone)[400:].write_parquet(folder / "b.parquet")
        assert refusal(sample_file, folder, tmp_path / "out.parquet", "reg").code == code
