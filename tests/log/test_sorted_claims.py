"""A file or frame may claim to be sorted: the numbers are those of its rows all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.said import refuses
from unskew.log import Ids, Log, Predictions, read_features, read_log, read_predictions, read_recommendations
from unskew.log.population import read_catalogue, read_population
from unskew.propensity.counting import count_items, count_values

USERS = [500, 3, 90_000, 1, 700, 3, 500]
ITEMS = ["m", "z", "a", "k", "b", "a", "k"]
FRAME = pl.DataFrame(
    {
        "user": USERS,
        "item": ITEMS,
        "value": [3.0, 1.0, 5.0, 1.0, 3.0, 5.0, 1.0],
        "prediction": [0.3, 0.1, 0.9, 0.5, 0.2, 0.4, 0.7],
        "rank": [2, 1, 1, 1, 1, 2, 1],
    }
)


def claiming(frame: pl.DataFrame, path: Path, column: str, descending: bool) -> Path:
    """A Parquet file that says it is sorted by a column; polars believes that of integers, so far."""
    place = frame.columns.index(column)
    pq.write_table(frame.to_arrow(), path, sorting_columns=[pq.SortingColumn(place, descending=descending)])
    return path


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("column", FRAME.columns)
def test_files_that_claim_to_be_sorted(tmp_path: Path, column: str, descending: bool) -> None:
    """Logs, lists, predictions and counts are those of the same rows without the claim."""
    wrong = claiming(FRAME, tmp_path / "wrong.parquet", column, descending)
    FRAME.write_parquet(tmp_path / "right.parquet")
    right = tmp_path / "right.parquet"
    for path in (wrong, right):
        log = read_log(path, feedback="ratings")
        assert sorted(log.to_frame().rows()) == sorted(FRAME["user", "item", "value", "rank"].rows())
        assert log.users.values.to_list() == sorted(set(USERS)) and log.items.values.to_list() == sorted(set(ITEMS))
    assert read_recommendations(wrong).to_frame().equals(read_recommendations(right).to_frame())
    a, b = read_predictions(wrong), read_predictions(right)
    assert np.array_equal(a.value, b.value) and np.array_equal(a.item, b.item) and np.array_equal(a.indptr, b.indptr)
    items, counts = count_items(wrong)
    assert dict(zip(items, counts, strict=True)) == {item: ITEMS.count(item) for item in ITEMS}
    values = count_values(wrong)
    assert values.values.tolist() == [1.0, 3.0, 5.0] and values.counts.tolist() == [3, 2, 2]
    assert (values.users, values.items) == (len(set(USERS)), len(set(ITEMS)))
    for key in ("user", "item"):  # features, the population and the catalogue: each id once, wherever it stands
        with refuses("repeated-id"):
            read_population(wrong) if key == "user" else read_catalogue(wrong)
        frame = FRAME.unique(key, maintain_order=True).select(key, "value")
        path = claiming(frame, tmp_path / "ids.parquet", key, descending)
        features = read_features(path, key)
        assert dict(zip(features.ids, features.matrix[:, 0], strict=True)) == dict(frame.rows())
        assert list(read_population(path).users if key == "user" else read_catalogue(path).items) == sorted(frame[key])


@pytest.mark.parametrize("kind", [pl.Int32, pl.Int64, pl.UInt64, pl.String, pl.Categorical])
def test_frames_and_series_that_claim_to_be_sorted(kind: type[pl.DataType]) -> None:
    """From Python the claim is one call."""
    ids = pl.Series("user", USERS).cast(pl.String).cast(pl.Categorical) if kind == pl.Categorical else None
    users = (pl.Series("user", USERS).cast(kind) if ids is None else ids).set_sorted()
    log = Log.from_frame(FRAME.with_columns(users), feedback="ratings")
    assert sorted(log.to_frame()["user"].cast(pl.String)) == sorted(map(str, USERS))
    vocabulary, codes = Ids.code(users)
    assert vocabulary.values.gather(codes).cast(pl.String).to_list() == list(map(str, USERS))
    assert len(Ids.of(users)) == len(set(USERS)) and Ids.of(users).encode(users).tolist() == codes.tolist()
    given = pl.Series([7, 3, 900]).set_sorted()
    assert Predictions.from_array(np.ones((3, 1)), users=given).users.values.to_list() == [3, 7, 900]


def test_statistics_that_lie(tmp_path: Path) -> None:
    """Ranges are those of the rows, whatever the file says about them."""
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": USERS, "item": [77_777_777] * 7}), path, compression="none", use_dictionary=False)
    data = path.read_bytes()
    most = np.int64(90_000).tobytes()
    at = data.rfind(most)
    assert data.count(most) > 1
    path.write_bytes(data[:at] + np.int64(9).tobytes() + data[at + 8 :])
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).statistics.max == 9
    assert read_log(path).users.values.to_list() == sorted(set(USERS))
    assert dict(zip(*count_items(path, columns={"item": "user"}), strict=True))[90_000] == 1
