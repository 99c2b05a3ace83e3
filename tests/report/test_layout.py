"""Pages in a browser at the widths of a desktop, a tablet and a phone: nothing cut, nothing too small, accessible.

Accessibility is checked by axe-core (MPL-2.0), which ``.ci/run`` fetches; without it, only the layout is checked.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from tests.propensity.test_checking import shop
from unskew.evaluation import PropensityComparison
from unskew.propensity import check
from unskew.report import page
from unskew.result import Result

from .browser import POLICY, dumped, measured
from .made_up import grid
from .over_scenarios import BOX, MANY, TURNS, over

AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
LONG = "a-recommender-with-a-long-name-v2.1-final"


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core."""
    path = Path(os.environ.get("UNSKEW_AXE", AXE))
    if not path.exists():
        missing("no axe-core: npm install --prefix build/axe axe-core")
    return path.read_text(encoding="utf-8")


@pytest.fixture
def pages(two: Result, many: Result, segmented: Result, kept_back: Result, nothing_known: Result) -> dict[str, str]:
    """Results of every shape, over scenarios too; several propensities, checked and compared."""
    shapes: dict[str, Any] = {
        "two": two, "many": many, "segmented": segmented, "kept back": kept_back, "nothing": nothing_known,
        "long": grid([LONG, "popular"], ["recall@10"], ["naive", "clipped(snips(over=list), quantile=0.01)"]),
        "path": over({f"item_knn(neighbours={n})": (0.5 - 0.01 * n, 0.15 + 0.001 * n) for n in range(6)}),
        "many over scenarios": over(MANY), "two axes": over(TURNS, points=BOX),
        "comparison": PropensityComparison({"known": two, "popularity(gamma=2)": many}),
        "checks": check(["popularity(gamma=1)", "known"], shop(users=200)[0]),
    }  # fmt: skip
    return {name: page(shown) for name, shown in shapes.items()}


def test_nothing_is_cut_or_small(chromium: str, pages: dict[str, str], tmp_path: Path) -> None:
    """At 1280, 768 and 390 pixels: all inside the window, letters of 12 pixels or more, whole words, no empty cards."""
    found = measured(chromium, tmp_path, pages)
    assert len(found) == 3 * len(pages)
    wrong = {
        (record["page"], record["width"], what): record[what][:3]
        for record in found
        for what in ("beyond", "small", "broken", "overlapping", "empty")
        if record[what]
    }
    assert not wrong


def test_what_is_cut_is_found(chromium: str, tmp_path: Path) -> None:
    """The measurements can fail: a wide table, small letters, a broken word, labels on each other, an empty card."""
    narrow = "width:20px;max-width:20px;overflow-wrap:anywhere"
    labels = '<text x="0" y="20">label</text><text x="3" y="20">label</text>'
    bad = (
        '<!doctype html><html><body><div class="scroll" style="overflow:auto"><p style="width:2000px">wide</p></div>'
        f'<p style="font-size:11px">small</p><table><tr><th style="{narrow}">recommender</th></tr></table>'
        f'<div class="card"></div><div class="card"><svg width="100" height="50">{labels}</svg></div></body></html>'
    )
    (found,) = measured(chromium, tmp_path, {"bad": bad}, widths=[390])
    assert all(found[what] for what in ("beyond", "small", "broken", "overlapping", "empty"))


def test_a_choice_hides_what_is_about_others(chromium: str, tmp_path: Path) -> None:
    """Without any script: a checked metric leaves its own charts and tables, and all are there at first."""
    text = page(grid(["popular", "als"], ["recall@10", "dcg@10"], ["naive", "snips"]))
    button = re.findall(r'<input[^>]*(id="metric-\w+")', text)[1]
    pages = {"all": text, "one": text.replace(button, f"{button} checked")}
    found = {record["page"]: record["picked"] for record in measured(chromium, tmp_path, pages, widths=[1280])}
    own = f"is-{button.split('-')[1].strip(chr(34))}"
    assert found["one"] == [name for name in found["all"] if own in name]
    assert 0 < len(found["one"]) < len(found["all"])


def test_the_policy_of_a_page_runs_no_script(chromium: str, hostile: Result, tmp_path: Path) -> None:
    """Names that look like scripts make none, and one that stands in the page runs only without the policy."""
    script = "<script>document.body.className = 'ran'</script></body>"
    text = page(hostile).replace("</body>", script)
    seen = dumped(chromium, tmp_path, text)
    assert seen.count("<script") == 1 and "&lt;script&gt;" in seen and 'class="ran"' not in seen
    assert 'class="ran"' in dumped(chromium, tmp_path, POLICY.sub("", text))


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)])
def test_pages_are_accessible(
    chromium: str, axe: str, two: Result, kept_back: Result, tmp_path: Path, dark: bool, width: int
) -> None:
    """axe finds nothing serious: in light colours on a desktop, in dark ones on a phone."""
    pages = {"two": page(two), "kept back": page(kept_back)}
    found = measured(chromium, tmp_path, pages, widths=[width], dark=dark, axe=axe)
    assert {(record["page"], record["width"]): record["axe"] for record in found if record["axe"]} == {}
