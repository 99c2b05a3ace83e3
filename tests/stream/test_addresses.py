"""Object stores: the results of local files, and one clear error where something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import unskew as us
from tests.golden.worlds import table
from tests.said import refuses
from tests.stream.files import assert_same
from tests.stream.store import store
from unskew.cli import app
from unskew.engine.stream.addresses import answered


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The bucket ``shop`` with a log in two files, and lists of two models."""
    test, bucket = table("shop.test"), tmp_path / "shop"
    (bucket / "log").mkdir(parents=True)
    for n, rows in enumerate((test[: len(test) // 2], test[len(test) // 2 :])):
        rows.write_parquet(bucket / "log" / f"{n}.parquet")
    for name in ("near", "far"):
        table("shop.tastes" if name == "near" else "shop.popular").write_parquet(bucket / f"{name}.parquet")
    guesses = table("shop.tastes").select("user", "item", prediction=1.0 / pl.col("rank"))
    guesses.write_parquet(bucket / "guesses.parquet")
    return bucket


def asked(place: str) -> dict[str, str]:
    return {name: f"{place}/{name}.parquet" for name in ("near", "far")}


def test_an_object_store_gives_the_results_of_local_files(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern, and a folder; what is called otherwise is the source alone."""
    expected = us.evaluate(shop / "log", asked(str(shop)), metrics=["recall@5"])
    with store(shop.parent) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        for log in ("s3://shop/log/*.parquet", "s3://shop/log"):
            found = us.evaluate(log, asked("s3://shop"), metrics=["recall@5"])
            assert_same(found.to_dict()["estimates"], expected.to_dict()["estimates"])
        (shop / "parts" / "shelf=a b").mkdir(parents=True)
        pl.read_parquet(shop / "log/*.parquet").write_parquet(shop / "parts" / "shelf=a b" / "0.parquet")
        found = us.evaluate("s3://shop/parts", asked("s3://shop"), metrics=["recall@5"], by="shelf")
        assert {e.segment for e in found.estimates} == {None, "shelf=a b"}
        guessed: dict[str, Any] = {"estimators": ["direct"], "target": "per_user_sum", "metrics": ["dcg@5"]}
        one, other = (
            us.evaluate(f"{place}/log", asked(place), outcome=f"given({place}/guesses.parquet, default=0.2)", **guessed)
            for place in (str(shop), "s3://shop")
        )
        assert_same([e.value for e in other.estimates], [e.value for e in one.estimates])
        words = ["evaluate", "s3://shop/log/", "--recs", "near=s3://shop/near.parquet", "--dry-run"]
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 0 and ": stream." in said.output, said.output
        for log in ("s3://shop/lgo.parquet", "s3://shop/lgo/*.parquet", "s3://shop/lgo"):
            with refuses("missing-file"):
                us.evaluate(log, asked("s3://shop"))
        with refuses("store-needs-stream"):
            us.evaluate("s3://shop/log", asked("s3://shop"), engine="memory")
        for log in ("s3://closed/log.parquet", "s3://closed/log/*.parquet"):
            with refuses("no-access"):
                us.evaluate(log, asked("s3://shop"))


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("GET http://127.0.0.1:40413/closed/log.parquet in 665.8µs - status code: 403 Forbidden", "forbidden"),
        ("GET http://127.0.0.1:43643/tokens/lgo.parquet in 403.1µs - status code: 404 Not Found", "absent"),
        ("GET http://127.0.0.1:40413/tokens/a.parquet in 404.1µs, after 2 retries: error sending request", "unreached"),
        ("GET http://127.0.0.1:40413/a.parquet - status code: 503 Slow Down, after 10 retries", "unreached"),
        ("Generic S3 error: Missing credentials", "forbidden"),
        ("parquet: the magic bytes are wrong (path: s3://http/404/retries.parquet)", None),
    ],
)
def test_ports_times_and_names_are_not_taken_for_answers(reason: str, kind: str | None) -> None:
    assert answered(reason) == kind
