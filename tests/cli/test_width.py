"""All commands that show something, on terminals of 80 and 100 columns; and their pages against their JSON."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from .commands import PLAIN, Done, unskew

STUDY = """
data = { world = { users = 200, items = 120 } }
study = { seeds = 2, metrics = ["recall@10"], target = "pooled" }
models = { popular = "most_popular", svd = "svd(dim=5)", knn = "item_knn(neighbours=5)" }
questions = { known = { estimators = ["naive", "snips", "gs(strata=5)"], propensity = "known" } }
"""
LISTS = ("--recs", "popular=shop/popular.parquet", "--recs", "challenger=shop/challenger.parquet")
HELD_OUT = ("shop/test.parquet", "--train", "shop/train.parquet", *LISTS)
FITTED = ("--model", "popular=most_popular", "--model", "item_knn=item_knn(neighbours=20)", "--model", "svd=svd(dim=5)")
FOLDS = ("--split", "sliding_window(width=1w, folds=3)")
BOTH = ("--propensity", "known", "--propensity", "popularity(gamma=1)")
COMMANDS: dict[str, tuple[str, ...]] = {
    "evaluate": (
        "evaluate", *HELD_OUT, "--metric", "recall@10", "--metric", "dcg@10", "--estimator", "naive",
        "--estimator", "snips", "--estimator", "exposure_path", "--propensity", "known",
    ),
    "propensities": ("evaluate", *HELD_OUT, "--estimator", "naive", "--estimator", "snips", *BOTH),
    "audit": ("audit", "log/log.parquet"),
    "sample": ("sample", "shop/test.parquet", "--train", "shop/train.parquet", "-o", "sample.csv"),
    "split": ("split", "log/log.parquet", *FOLDS, "-o", "folds", "--force"),
    "cross-validate": ("cross-validate", "log/log.parquet", *FOLDS, *FITTED, "--no-store"),
    "compare-protocols": ("compare-protocols", "log/log.parquet", *FITTED),
    "leave-one-out": (
        "compare-protocols", "log/log.parquet", "--model", "pop=most_popular", "--model", "rnd=random",
        "--protocol", "leave_one_out(repeats=2)", "--protocol", "holdout(share=0.2)",
    ),
    "policy-impact": ("policy-impact", "log/log.parquet", *FITTED, "--refits", "0", "--min-users", "5"),
    "plan": ("plan", "shop/test.parquet", "--seen", "shop/train.parquet", *LISTS, "--detect", "5%"),
    "study": ("study", "study.toml", "--store", "store", "--workers", "1"),
}  # fmt: skip
WITHOUT_JSON = ("split",)
COUNTED = re.compile(r"… and [\d,]+ ")  # what is left out with a count, and a command whose values are the reader's


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small shop, and a log over time by several policies."""
    made = tmp_path_factory.mktemp("shops")
    (made / "study.toml").write_text(STUDY)
    for command in (
        ("simulate", "--users", "300", "--items", "80", "-o", "shop"),
        ("simulate", "shop-over-time", "--users", "800", "--items", "100", "--days", "60", "-o", "log"),
    ):
        done = unskew(*command, cwd=made)
        assert done.returncode == 0, done.stderr
    return made


@cache
def shown(name: str, folder: Path, width: int = 80) -> Done:
    """What a command prints; its page and JSON lie in the folder."""
    files = ["--html", f"{name}.html"] + ([] if name in WITHOUT_JSON else ["--json", f"{name}.json"])
    done = unskew(*COMMANDS[name], *files, cwd=folder, env={**os.environ, **PLAIN, "COLUMNS": str(width)})
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("name", "width"),
    [*((name, 80) for name in COMMANDS), *((name, 100) for name in ("evaluate", "audit", "cross-validate", "study"))],
)
def test_tables_fit_the_terminal(name: str, width: int, folder: Path) -> None:
    """No line is wider, no text is cut, and no interval continues on the next line."""
    said = shown(name, folder, width).stdout.partition("unskew evaluate ")[0]  # a command is not broken
    lines = said.splitlines()
    assert len(lines) > 5 and max(map(cell_len, lines)) <= width
    assert [line for line in lines if "…" in line and not COUNTED.search(line)] == []
    tables = [line for line in lines if not line.startswith(("│", "!", "·", "?", " "))]
    assert [line for line in tables if line.count("[") != line.count("]")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_first_columns_break_no_words(name: str, folder: Path) -> None:
    """What stands there is a whole word of the page, which breaks none."""
    lines = shown(name, folder).stdout.splitlines()
    page = {*re.findall(r"\w+", (folder / f"{name}.html").read_text())}
    rules = [place for place, line in enumerate(lines) if re.fullmatch("─{10,} *", line)]
    assert rules
    cells = []
    for rule in rules:
        end = next((place for place in range(rule, len(lines)) if not lines[place].strip()), len(lines))
        cells += [re.split(r"\s{2,}", line)[0] for line in (lines[rule - 1], *lines[rule + 1 : end])]
    assert {word for cell in cells for word in re.findall(r"\w+", cell)} - page == set()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITHOUT_JSON])
def test_numbers_on_a_page_are_those_of_the_json(name: str, folder: Path) -> None:
    """Every number with three digits or more in a table is one of the JSON's, to the digits shown."""
    shown(name, folder)
    result = json.loads((folder / f"{name}.json").read_text())
    known = [*_numbers(result), *(_mean_truths(result) if name == "study" else ())]
    cells = _Cells((folder / f"{name}.html").read_text()).texts
    found = [text for cell in cells for text in re.findall(r"[−+]?\d[\d,]*(?:\.\d+)?(?:\u00a0%)?", cell)]
    long = [text for text in found if sum(sign.isdigit() for sign in text.lstrip("0.−+")) >= 3]
    assert long
    assert [text for text in long if not _is_known(text, known)] == []


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield float(value)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _numbers(item)


def _mean_truths(study: dict[str, Any]) -> Iterator[float]:
    """What models are worth on average over draws, which the JSON has draw by draw."""
    by_model: dict[str, list[dict[str, Any]]] = {}
    for truth in study["truth"]:
        by_model.setdefault(truth["model"], []).append(truth)
    for rows in by_model.values():
        yield from (sum(row[name] for row in rows) / len(rows) for name in ("value", "se"))


def _is_known(text: str, known: list[float]) -> bool:
    plain = text.replace("−", "-").replace("+", "").replace(",", "")
    percent = plain.endswith("%")
    plain = plain.rstrip("%\u00a0")
    half = 0.5 * 10.0 ** -len(plain.partition(".")[2])
    scale = 100.0 if percent else 1.0
    return any(abs(scale * value - float(plain)) <= half * (1.0 + 1e-9) for value in known)


class _Cells(HTMLParser):
    """The cells of numbers in a page's tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self._inside = dict(attrs).get("class") == "n"
            self.texts += [""] * self._inside

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data
