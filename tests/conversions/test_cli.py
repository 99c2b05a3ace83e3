"""Conversions on the command line, as a newcomer uses it: files in, tables, JSON and a page out, errors in a panel."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.cli.commands import Done, flat, unskew

MODELS = ("popular", "item_knn", "challenger")
POOLED = "per_user_sum(normalised=pooled)"
ESTIMATORS = ("naive", "ips", "snips(over=list)", "direct", "dr", "sndr", "switch(tau=20)")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated shop whose seen pairs convert or not, as files."""
    folder = tmp_path_factory.mktemp("shop")
    done = unskew("simulate", "-o", folder, "--users", "600", "--items", "120", "--feedback", "conversions")
    assert done.returncode == 0, done.stderr
    return folder


def evaluate(shop: Path, *more: str | Path, log: Path | None = None) -> Done:
    lists = [word for name in MODELS for word in ("--recs", f"{name}={shop / f'{name}.parquet'}")]
    return unskew(
        "evaluate", log or shop / "test.parquet", "--train", shop / "train.parquet", "--users", shop / "users.parquet",
        "--feedback", "conversions", "--metric", "dcg@10", *lists, *more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def record(shop: Path) -> dict[str, object]:
    """One full run, its JSON read back."""
    asked = [word for name in ESTIMATORS for word in ("--estimator", name)]
    done = evaluate(
        shop, "--propensity", "known", "--outcome", "logistic_mf(dim=5)", *asked,
        "--json", shop / "r.json", "--html", shop / "r.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "challenger is better" in flat(done.stdout)
    return dict(json.loads((shop / "r.json").read_text()))


def test_debiased_estimates_are_near_the_truth(shop: Path, record: dict[str, object]) -> None:
    """ips, dr, sndr and snips over the list lie within 4 standard errors of the truth; naive is many away."""
    rows = json.loads((shop / "truth.json").read_text())
    truth = {r["model"]: r["value"] for r in rows if r["metric"] == "dcg@10" and r["target"] == "per_user_sum"}
    estimates = record["estimates"]
    assert isinstance(estimates, list) and len(estimates) == len(MODELS) * len(ESTIMATORS)
    for e in estimates:
        off = abs(e["value"] - truth[e["model"]]) / e["se"]
        if e["estimator"] in ("ips", "dr", "sndr", "snips(over=list)"):
            assert off < 4.0, e
        if e["estimator"] == "naive" and e["model"] == "challenger":
            assert off > 8.0, e


def test_the_record_tells_how_the_model_was_fitted(record: dict[str, object]) -> None:
    """JSON carries the outcome model, how it was fitted, and tipping points where there are any."""
    inputs, verdicts = record["inputs"], record["verdicts"]
    assert isinstance(inputs, dict) and isinstance(verdicts, list)
    assert inputs["outcome"]["how"] == "cross-fitted over pairs"
    assert inputs["outcome"]["model"].startswith("crossfit(logistic_mf(dim=5")
    assert inputs["outcome"]["unknown"] == 0 and 0.0 < inputs["outcome"]["mean"] < 1.0
    bent = {v["estimator"] for v in verdicts if v["tipping"] is not None}
    assert bent == {"naive", "ips", "dr"}


@pytest.mark.parametrize("width", [480, 1280])
@pytest.mark.usefixtures("record")
def test_the_page_draws(shop: Path, tmp_path: Path, chromium: str, width: int) -> None:
    """A browser shows the headline, every estimator and the outcome model, at both widths."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={tmp_path / 'p'}"]
    page, shot = (shop / "r.html").as_uri(), tmp_path / "shot.png"
    size = [f"--window-size={width},2000", "--hide-scrollbars"]
    subprocess.run(
        [chromium, *flags, *size, f"--screenshot={shot}", page], check=True, capture_output=True, timeout=600
    )
    image = shot.read_bytes()
    assert struct.unpack(">II", image[16:24]) == (width, 2000)
    assert len(image) > 30_000
    seen = subprocess.run([chromium, *flags, "--dump-dom", page], capture_output=True, text=True, timeout=600).stdout
    assert "challenger" in seen and "cross-fitted over pairs" in seen
    assert all(name in seen for name in ESTIMATORS)


def test_in_sample_fits_are_warned_about(shop: Path) -> None:
    """--in-sample is possible, and said; the estimators are the usual three."""
    done = evaluate(shop, "--propensity", "known", "--outcome", "means(shrink=0)", "--in-sample")
    assert done.returncode == 0, done.stderr
    assert "fitted to the very pairs that correct it" in flat(done.stdout)
    assert all(re.search(rf"\b{name}\b", done.stdout) for name in ("naive", "ips", "dr"))


def test_predictions_from_a_file(shop: Path, tmp_path: Path) -> None:
    """given(FILE) is read, with a default for the pairs that it lacks; without one the error counts them."""
    path = tmp_path / "q.csv"
    pl.read_parquet(shop / "test.parquet").select("user", "item", prediction=pl.lit(0.2)).write_csv(path)
    asked = ["--propensity", "known", "--estimator", "dr", "--outcome"]
    done = evaluate(shop, *asked, f"given({path}, default=0.2)", "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["inputs"]["outcome"]["how"] == "given"
    done = evaluate(shop, *asked, f"given({path})")
    assert done.returncode != 0 and "there is no prediction for" in flat(done.stderr)
    assert "default=0" in flat(done.stderr)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--propensity", "known", "--outcome", "mindreader(dim=3)"], ["mindreader", "logistic_mf"]),
        (["--propensity", "known", "--outcome", "given(nowhere.csv)"], ["nowhere.csv", "no such file"]),
        (["--propensity", "known", "--outcome", "means(strink=3)"], ["strink", "shrink"]),
        (["--propensity", "known", "--estimator", "dr"], ["dr needs a model", "--outcome"]),
        (["--propensity", "popularity(gamma=2)", "--estimator", "dr", "--outcome", "means"], ["relative", "sndr"]),
        (
            ["--propensity", "known", "--outcome", "means", "--estimator", "sndr", "--target", POOLED],
            ["no normalised form", "Use dr"],
        ),
        (["--propensity", "known", "--outcome", "means", "--estimator", "switch(tau=0)"], ["at least 1"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_panel(shop: Path, more: list[str], words: list[str]) -> None:
    """Unknown models, missing files, cells that do not exist: one panel, no traceback, a way out."""
    done = evaluate(shop, *more)
    assert done.returncode != 0 and done.stdout == ""
    assert "Traceback" not in done.stderr and "unskew cannot do this" in done.stderr
    assert all(word in flat(done.stderr) for word in words), done.stderr


def test_propensities_are_never_taken_as_uniform(shop: Path) -> None:
    """The log's own column is used unasked; without it dr is refused."""
    (shop / "bare").mkdir()
    bare = pl.read_parquet(shop / "test.parquet").drop("propensity")
    bare.write_parquet(shop / "bare" / "test.parquet")
    asked = ["--estimator", "dr", "--outcome", "means"]
    done = evaluate(shop, *asked)
    assert done.returncode == 0 and "has a column 'propensity': pairs are weighed by it" in flat(done.stdout)
    done = evaluate(shop, *asked, log=shop / "bare" / "test.parquet")
    assert done.returncode != 0 and done.stdout == "" and "unskew cannot do this" in done.stderr
    assert "never taken as uniform" in flat(done.stderr)


def test_predictions_with_a_wrong_row_are_named(shop: Path, tmp_path: Path) -> None:
    """A table of predictions with a gap names the file, the column and the row."""
    path = tmp_path / "q.csv"
    path.write_text("user,item,prediction\n1,2,0.5\n1,3,\n")
    done = evaluate(shop, "--propensity", "known", "--estimator", "dr", "--outcome", f"given({path})")
    assert done.returncode != 0
    assert all(word in flat(done.stderr) for word in ("q.csv", "prediction", "row 2")), done.stderr


def test_help_names_every_estimator_target_and_use_of_features() -> None:
    """What can be asked for sums is found without the guide."""
    done = unskew("evaluate", "--help")
    text = flat(done.stdout)
    for word in ("direct", "dr,", "sndr", "switch(tau=", "normalised=pooled", "=per_user", "sklearn outcome"):
        assert word in text, word
