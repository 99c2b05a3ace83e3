"""The audit as people see it: terminal, page, notebook, command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.cli.commands import unskew
from tests.report.every_output import content
from tests.report.reading import Reader, check_loads_nothing, printed
from unskew.cli.flags import messages_with_flags
from unskew.report import notebook, page

from . import logs

EVIL = "<script>alert('x')</script>\x1b[31m"


@pytest.fixture(scope="module")
def everything() -> us.Audit:
    """An audit with every part, under names that try to be markup."""
    frame = logs.skewed(value=True, time=True, policy=True, propensity=True)
    frame = frame.with_columns(policy=pl.col("policy").replace("old", EVIL))
    return us.audit(frame, mcar=logs.skewed(seed=9, value=True), relevant=">=4")


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_shows_every_part(everything: us.Audit, width: int) -> None:
    """Findings, long tail, shapes, values, time, policies, effective sizes and support are printed, and fit."""
    text = printed(everything, width)
    for piece in ("Gini", "KL bits", "MCAR", "Policies", "2017-07-14", "per_user_sum", "popularity(gamma=1)"):
        assert piece in text
    assert {"items", "users", "values", "time", "propensity"} <= set(text.split())
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text and "█" in text


def test_the_page_loads_nothing_and_escapes_everything(everything: us.Audit) -> None:
    """No address, script, frame or font; names that look like markup stay text, in tables and in charts."""
    text = page(everything)
    check_loads_nothing(text)
    assert "&lt;script&gt;" in "".join(re.findall(r"<svg.*?</svg>", text, re.S))
    assert "<script" not in notebook(everything).lower()


def test_the_page_has_a_chart_for_every_part_and_the_numbers(everything: us.Audit) -> None:
    """Every section is there with its charts in words, and the tables hold the audit's numbers."""
    text = page(everything)
    reader = Reader(text)
    for section in ("supports", "tail", "values", "time", "policies", "weights", "glossary"):
        assert ("section", {"id": section}) in reader.tags
    charts = [attributes for tag, attributes in reader.tags if tag == "svg"]
    assert len(charts) == 9 and all(chart.get("aria-label") for chart in charts)
    assert sum(tag == "table" for tag, _ in reader.tags) == sum(tag == "caption" for tag, _ in reader.tags)
    items = next(row for row in reader.rows("sheet") if row.get("number"))
    assert items["number"] == f"{everything.items.number:,}" and items["Gini"] == f"{everything.items.gini:.2f}"
    assert len(reader.rows("supports")) == 6
    for finding in everything.findings:
        assert finding.level in text
    assert len(text.encode()) < 500_000 and page(everything) == text


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    """``unskew audit`` reads files, prints the findings, and writes JSON and HTML that agree with the library."""
    frame = logs.skewed(value=True, time=True).rename({"user": "customer", "value": "stars"})
    frame.write_csv(tmp_path / "log.csv")
    logs.skewed(seed=9, value=True).rename({"user": "customer", "value": "stars"}).write_parquet(
        tmp_path / "mcar.parquet"
    )
    done = unskew(
        "audit", tmp_path / "log.csv", "--mcar", tmp_path / "mcar.parquet", "--columns", "user=customer,value=stars",
        "--feedback", "ratings", "--relevant", ">=4", "--propensity", "popularity(gamma=1)",
        "--json", tmp_path / "a.json", "--html", tmp_path / "a.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Gini" in done.stdout
    names = {"user": "customer", "value": "stars"}
    found = us.audit(
        tmp_path / "log.csv", mcar=tmp_path / "mcar.parquet", columns=names, feedback="ratings", relevant=">=4",
        propensities=["popularity(gamma=1)"],
    )  # fmt: skip
    assert content(tmp_path / "a.json") == {"kind": "Audit"} | json.loads(
        json.dumps(messages_with_flags(found).to_dict())
    )
    assert 'id="checks"' in (tmp_path / "a.html").read_text()
    assert not list(tmp_path.glob(".*"))
