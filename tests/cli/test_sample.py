"""``unskew sample``: the file of ``us.sample``, its report, and errors in the words of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.cli.commands import flat, refused, unskew
from tests.sampling.test_draws import skewed


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    both = skewed(4000, 200, 80)
    both[::3].write_parquet(tmp_path / "test.parquet")
    both.filter(pl.int_range(pl.len()) % 3 > 0).write_parquet(tmp_path / "train.parquet")
    skewed(300, 200, 80, seed=4).write_parquet(tmp_path / "mcar.parquet")
    return tmp_path


def test_a_fairer_test_set(shop: Path) -> None:
    """The sample of Python, a page, JSON, and what was written."""
    done = unskew(
        "sample", "test.parquet", "--train", "train.parquet", "--strategy", "wtd", "--mcar", "mcar.parquet",
        "--size", "0.5", "--seed", "3", "-o", "fair.parquet", "--html", "fair.html", "--json", "fair.json", cwd=shop,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not debiased" in flat(done.stdout) and "wrote fair.parquet" in done.stderr
    expected = us.sample(
        shop / "test.parquet", "wtd", train=shop / "train.parquet", mcar=shop / "mcar.parquet", size=0.5, seed=3
    )
    assert pl.read_parquet(shop / "fair.parquet").sort("user", "item").equals(expected.to_frame().sort("user", "item"))
    found = json.loads((shop / "fair.json").read_text())
    assert found["kept"] == len(expected) and found["strategy"] == "wtd" and found["share"] is None
    assert found["items"]["after"]["distance"] > 0
    assert "<svg" in (shop / "fair.html").read_text()


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        (("-o", "o.parquet"), "no-training-log", "--train"),
        (("-o", "o.parquet", "--strategy", "wtd", "--train", "train.parquet"), "no-random-sample", "--mcar"),
        (("-o", "o.parquet", "--size", "half"), "not-a-number", "--size"),
        (("-o", "o.parquet", "--size", "nan", "--strategy", "reg"), "out-of-range", "nan"),
        (("-o", "test.parquet", "--strategy", "reg"), "output-is-input", "test.parquet"),
        (("-o", "o.parquet", "--json", "o.parquet"), "wrong-extension", ".json"),
        (("-o", "o.txt", "--strategy", "reg"), "wrong-extension", ".csv"),
        (("-o", "none/o.parquet", "--strategy", "reg"), "missing-folder", "none"),
        (("-o", "o.parquet", "--strategy", "fair"), "unknown-name", "'fair'"),
        (("-o", "o.parquet", "--train", "gone.parquet"), "missing-file", "gone.parquet"),
    ],
)
def test_errors_are_one_panel_and_nothing_is_written(
    options: tuple[str, ...], code: str, named: str, shop: Path
) -> None:
    before = {path.name: path.read_bytes() for path in shop.iterdir()}
    refused(unskew("sample", "test.parquet", *options, cwd=shop), code, named)
    assert {path.name: path.read_bytes() for path in shop.iterdir()} == before


def test_a_page_that_fails_takes_the_sample_with_it(shop: Path) -> None:
    """All outputs or none: the report cannot be written, so that neither is the sample."""
    (shop / "page.html").mkdir()
    done = unskew("sample", "test.parquet", "--strategy", "reg", "-o", "o.parquet", "--html", "page.html", cwd=shop)
    assert done.returncode == 2 and not (shop / "o.parquet").exists()
