"""What people look at: the verdict first, then the table, then skipped windows; a page with lines; the command."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import unskew as us
from tests.cli.commands import flat, unskew
from tests.cross_validation import logs
from tests.report.every_output import check_every_output, content
from unskew.cli.folds import models_of

NAMES = {"popular": "most_popular", "iknn": "item_knn(neighbours=10)"}


@pytest.fixture(scope="module")
def found() -> us.CrossValidation:
    frame = logs.frame()
    last = frame["time"].max()
    assert isinstance(last, int)
    quiet = frame.filter(~pl.col("time").is_between(last - 2 * logs.WEEK, last - logs.WEEK))
    return us.cross_validate(us.Log.from_frame(quiet), NAMES, split=logs.WEEKS, metrics=["recall@5", "dcg@5"])


def text_of(found: us.CrossValidation, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(found)
    return console.export_text()


@pytest.mark.parametrize("width", [80, 130])
def test_a_terminal_says_the_verdict_then_the_table_then_skipped_windows(found: us.CrossValidation, width: int) -> None:
    """In this order, and every line fits."""
    text = text_of(found, width)
    title = str(found.macro.headline()["title"])
    places = [text.index(part) for part in (title[:40], "Over all folds", "Skipped", "Verdicts over all folds")]
    assert places == sorted(places)
    assert "no row falls into it" in text
    assert max(map(len, text.splitlines())) <= width
    assert "average over 3 folds" in text


def test_a_page_draws_a_line_for_every_model(found: us.CrossValidation, tmp_path: Path) -> None:
    """One chart per metric and estimator, with the models in a legend, and the dark palette beside the light one."""
    pytest.importorskip("vl_convert")
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for metric in ("recall@5", "dcg@5"):
        for estimator in ("naive", "exposure_path"):
            assert f"{metric} by fold, {estimator}" in page
    assert "prefers-color-scheme: dark" in page
    assert "Fold by fold" in page
    assert all(name in page for name in NAMES)
    assert "http://" not in re.sub(r"http://www\.w3\.org", "", page)
    assert "Γ" not in page.split("Glossary")[0].split("Verdicts over all folds")[-1]
    assert found._repr_html_().startswith("<")


def test_what_pooled_rows_say_instead_is_a_sentence(found: us.CrossValidation) -> None:
    """Whoever reads it knows what either average says: never "a is depends against b"."""

    def said(word: str) -> us.Result:
        return replace(found.macro, verdicts_=tuple(replace(v, verdict=word) for v in found.macro.verdicts_))

    def text(pooled: str, macro: str) -> str:
        return " ".join(text_of(replace(found, pooled=said(pooled), macro=said(macro)), 130).replace("│", " ").split())

    assert "between popular and iknn it depends (average over folds: undecided)" in text("depends", "undecided")
    assert "between popular and iknn it stays undecided (average over folds: depends)" in text("undecided", "depends")
    assert "iknn is ahead of popular (average over folds: undecided)" in text("behind", "undecided")


def test_a_plot_has_the_lines_only(found: us.CrossValidation) -> None:
    """Four charts: two metrics by two estimators."""
    altair = pytest.importorskip("altair")
    chart = found.plot()
    assert isinstance(chart, altair.VConcatChart)
    assert len(chart.to_dict()["vconcat"]) == 4


def test_json_holds_everything_and_is_strict(found: us.CrossValidation, tmp_path: Path) -> None:
    """No NaN, both averages, every fold."""
    check_every_output(found)
    found.to_json(tmp_path / "found.json")
    text = (tmp_path / "found.json").read_text()
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert set(read) >= {"split", "headline", "table", "folds", "values", "skipped", "macro", "pooled"}
    assert len(read["values"]) == len(found.values_) == 3 * 2 * 2 * 2
    assert read["skipped"][0]["reason"] == "no row falls into it"
    found.to_csv(tmp_path / "found.csv")
    assert pl.read_csv(tmp_path / "found.csv").height == 8


def test_dropped_rows_are_said() -> None:
    """Rows that were not read are no secret of the page."""
    rows = pl.concat([logs.frame(), pl.DataFrame({"user": [None] * 3, "item": [1] * 3, "time": [logs.START] * 3})])
    found = us.cross_validate(rows, NAMES, split="k_fold(folds=2)", estimators=["naive"], invalid="drop")
    assert "rows, dropped 3 × null user" in " ".join(text_of(found, 130).split())


def test_averages_that_disagree_are_told(found: us.CrossValidation) -> None:
    """The paragraph on pooled rows says which pair differs, and how."""
    flipped = [replace(v, verdict="ahead" if v.verdict != "ahead" else "behind") for v in found.pooled.verdicts_]
    text = text_of(replace(found, pooled=replace(found.pooled, verdicts_=tuple(flipped))), 200)
    told = r"With the rows of all folds pooled.*: \w+ is ahead of \w+ \(average over folds: \w+\)"
    assert re.search(told, text)
    assert "the same is said" in text_of(replace(found, pooled=found.macro), 200)


def test_the_command(tmp_path: Path) -> None:
    """Names or strings as models, files in every format, folds that are found again, and errors with options."""
    log = tmp_path / "log.parquet"
    logs.frame().write_parquet(log)
    asked = ["cross-validate", str(log), "--split", logs.WEEKS, "--model", "most_popular"]
    asked += ["--model", "iknn=item_knn(neighbours=10)", "--estimator", "naive", "--store", str(tmp_path / "kept")]
    first = unskew(*asked, "--json", str(tmp_path / "a.json"), "--csv", str(tmp_path / "a.csv"))
    assert first.returncode == 0, first.stderr
    assert "most_popular and iknn" in first.stdout or "is ahead of" in first.stdout
    assert len(list((tmp_path / "kept").rglob("*.unit"))) == 4
    again = unskew(*asked, "--json", str(tmp_path / "b.json"), "--workers", "1", "--quiet")
    assert again.returncode == 0, again.stderr
    assert content(tmp_path / "a.json") == content(tmp_path / "b.json")
    for options, told in ((["--no-store"], "contradict each other"), (["--metric", "recal@5"], "recal")):
        bad = unskew(*asked, *options)
        assert bad.returncode == 2
        assert told in flat(bad.stderr)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["iknn=item_knn", "iknn=random"], "two models are called 'iknn'"),
        (["saved.npz"], "has seen the future"),
        (["name="], "--model name="),
        (None, "--model most_popular"),
    ],
)
def test_models_that_cannot_be_named_or_fitted(given: list[str] | None, told: str) -> None:
    """The same for all commands that fit models fold by fold."""
    with pytest.raises(us.InputError, match=re.escape(told)):
        models_of(given)
    assert models_of(["item_knn(neighbours=5)", "b=svd(dim=2)"]) == {
        "item_knn(neighbours=5)": "item_knn(neighbours=5)",
        "b": "svd(dim=2)",
    }
