"""Named data sets: a cut, changed or foreign file is refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.log.copies import R3, Copies, retail
from unskew.log import datasets


@pytest.mark.parametrize(
    ("name", "file", "how", "words"),
    [
        ("coat", "train.ascii", lambda b: b[b.index(b"\n") + 1 :], ["289 rows", "290"]),
        ("coat", "train.ascii", lambda b: b.replace(b"5", b"0", 1), ["6,959 ratings", "6,960"]),
        ("coat", "test.ascii", lambda b: b.replace(b"5", b"9", 1), ["5"]),
        ("coat", "test.ascii", lambda b: b"<html>not found</html>", []),
        ("coat", "propensities.ascii", lambda b: b"-" + b, ["(0, 1]"]),
        ("coat", "user_item_features/user_features_map.txt", lambda b: b"one\ntwo", ["14 columns", "2"]),
        ("ml-100k", "u.data", lambda b: b[: len(b) // 2], ["u.data"]),
        ("ml-100k", "u.data", lambda b: b"1\t2\t3\t4\n" * 100_000, ["1 users", "943"]),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t5\t88", b"\t6\t88", 1), ["6"]),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t5\t88", b"\tx\t88", 1), []),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t", b","), ["1 columns", "4"]),
        ("ml-100k", "u.item", lambda b: b[: b.rindex(b"\n")], ["1,681 items"]),
        ("movietweetings", "ratings.dat", lambda b: b"", []),
        ("movietweetings", "ratings.dat", lambda b: b.replace(b"::5::13", b"::11::13", 1), ["10"]),
        ("open-bandit", "bts/men/men.csv", lambda b: b[: b.rindex(b"\n", 0, -1)], ["9,999 rows"]),
        ("open-bandit", "random/men/men.csv", lambda b: b.replace(b"click", b"clack", 1), ["click"]),
        ("yahoo-r3", R3, lambda b: b[b.index(b"\n") + 1 :], ["311,703 ratings", "311,704"]),
    ],
)  # fmt: skip
def test_another_file_is_refused_by_name(
    name: str, file: str, how: Callable[[bytes], bytes], words: list[str], copies: Copies, tmp_path: Path, alone: Path
) -> None:
    """A cut, changed or foreign file is an error that names it and says what is wrong, and is not registered."""
    folder = Path(shutil.copytree(copies(name), tmp_path / "copy"))
    (folder / file).write_bytes(how((folder / file).read_bytes()))
    with pytest.raises(us.InputError) as caught:
        datasets.add(name, folder)
    shown = file.replace("_map.txt", ".ascii")
    assert all(word in str(caught.value) for word in [shown, *words])
    assert datasets.folder_of(name) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.head(541_908), "541,908 rows"),
        (lambda f: f.with_columns(UnitPrice=pl.lit(0.0)), "0 "),
        (lambda f: f.drop("Country"), "'Country'"),
        (lambda f: f.with_columns(InvoiceDate=pl.lit("yesterday")), "yesterday"),
    ],
)
def test_other_invoices_are_refused(
    change: Callable[[pl.DataFrame], pl.DataFrame], words: str, tmp_path: Path, alone: Path
) -> None:
    """Online Retail: rows, purchases, columns and dates are checked."""
    change(retail()).write_parquet(tmp_path / "online_retail.parquet")
    with pytest.raises(us.InputError, match=words):
        datasets.add("online-retail", tmp_path)
