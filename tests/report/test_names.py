"""Names that somebody else chose: shown on one line, short, apart from one another, and full in the files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from tests.report.made_up import grid
from tests.report.reading import Reader
from unskew.core.notice import Notice
from unskew.report import headline, notebook, page
from unskew.result import Result

NASTY = (
    "😀" * 40,
    "ab😀" * 30,
    "\ue000 for private use",
    "a\u2028b\u2029c",
    "\ud800 half",
    "</script><script>alert(1)</script>",
    "nul\0nul",
    "\u202egnp.exe",
    "\x1b[31mred",
    "[bold]markup[/]",
    "x" * 100_000,
    "\U0001ffff\uffff\ufdd0",
    "",
)


@pytest.mark.parametrize("name", NASTY, ids=lambda name: ascii(name)[:12])
def test_any_name_makes_a_page(name: str) -> None:
    """In the role of a model and of a segment, quoted by a warning and used as an input's name."""
    result = grid([name, "other"], ["recall@10"], ["naive", "snips"], segments=[None, name or "s"])
    inputs = {"models": {name: {"source": name, "rows": 3, "dropped": {name: 1}}}, "settings": {}}
    result = replace(result, warnings=(Notice(f"{name}: no lists", code="lists"),), inputs=inputs)
    for text in (page(result), notebook(result)):
        text.encode("utf-8")
        assert len(text) < 150_000
        assert "<script" not in text and "\x1b" not in text and "\u2028" not in text and "\u202e" not in text
    if "😀" in name:
        assert "😀" in page(result)
    console = Console(width=80, file=None, record=True, force_terminal=False)
    with console.capture() as captured:
        console.print(result)
    assert "\x1b[31mred" not in captured.get() and "\u202e" not in captured.get()
    if name.startswith("["):
        assert "[bold]markup" in captured.get()
    assert len(captured.get()) < 50_000


def test_names_that_would_look_alike_stay_apart() -> None:
    """Long names by a number made from the whole, others by a count; usual ones are shown as they are."""
    long = ["x" * 5_000 + middle + "y" * 5_000 for middle in "ab"]
    usual = ["als", "Modèle n° 5", "推薦", "👩‍🔬 test", "a\\x1b"]
    result = grid([*long, *usual, "a\x1b", "a\tb", "a b"], ["recall@10"], ["snips"])
    shown = {row["model"] for row in Reader(page(result)).rows("estimates")}
    assert len(shown) == 10 and {*usual, "a\\x1b (2)"} < shown and max(map(len, shown)) <= 100


def test_files_keep_the_full_name(tmp_path: Path) -> None:
    """Valid UTF-8, with half characters replaced."""
    result: Result = grid(["x" * 3_000, "\ud800 half"], ["recall@10"], ["snips"])
    result.to_json(tmp_path / "a.json")
    result.to_csv(tmp_path / "a.csv")
    result.to_parquet(tmp_path / "a.parquet")
    models = [row["model"] for row in json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["estimates"]]
    assert models == ["x" * 3_000, "\\ud800 half"]
    assert pl.read_csv(tmp_path / "a.csv")["model"].to_list() == models
    assert pl.read_parquet(tmp_path / "a.parquet")["model"].to_list() == models
    assert len(headline(result)["title"]) < 1_000


def test_a_spreadsheet_computes_no_name(tmp_path: Path) -> None:
    """OWASP: an apostrophe before texts that begin like a formula; never before numbers, which may be negative."""
    formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", "\n-1", "\u200b+1", "＝1+1", "＋1", "－1", "＠x"]
    names = [*formulas, "als=1"]
    result = grid(names, ["recall@10"], ["snips"], segments=["-a"])
    lower = tuple(replace(e, value=-0.5) for e in result.estimates)
    replace(result, estimates=lower).to_csv(tmp_path / "a.csv")
    table = pl.read_csv(tmp_path / "a.csv")
    assert table["model"].to_list() == [*(f"'{name}" for name in names[:-1]), "als=1"]
    assert table["segment"].unique().to_list() == ["'-a"]
    assert table["value"].to_list() == [-0.5] * len(names)
