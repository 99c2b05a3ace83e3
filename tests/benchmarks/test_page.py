"""The page of benchmarks: every promise is on it, and every number comes from a stored result."""

from __future__ import annotations

import json
import re

import pytest

import chart
import page
import store
import workloads
from tests.benchmarks import made_up

DOCS = store.HERE.parent / "docs"
PROMISED = {
    "kernels from arrays, beside the fastest library": "at least 100×",
    "kernels from arrays, beside ranx aligned by hand": "at least 60×",
    "full table from files, beside RecTools": "at least 5×",
    "full table from files, beside ranx aligned by hand": "at least 2.5×",
    "full table from files, times plain polars": "at most 1.5×",
    "top-100 of 100,000 × 20,000 × 64, times the bare matrix product": "at most 1.5×",
    "top-100 of 100,000 × 20,000 × 64, beside the fastest library": "at least 2×",
    "short texts as ids at 56 million rows, times integers": "at most 1.5×",
    "long texts as ids at 56 million rows, times integers": "at most 1.5×",
    "stream of 100 million rows in no order: memory": "at most 2,048 MiB",
    "stream of 100 million rows, times polars": "at most 2×",
    "from 1 to 100 million rows, times a straight line, by CPU seconds": "at most 1.15×",
    "10 models × 10 million rows, times hand-written polars": "at most 1×",
    "10 models × 10 million rows, times hand-written DuckDB": "at most 1×",
    "10 models × 10 million rows, times the memory of polars": "at most 0.5×",
    "Spark `local[2]`, 10 million rows, times Spark's own join and group": "at most 2×",
}


@pytest.mark.parametrize("find", [store.stored, lambda name: None], ids=["stored", "nothing stored"])
def test_every_promise_is_on_the_page(find: page.Find) -> None:
    """With its floor, whether it has been measured or not."""
    lines = [line for line in page.text(find).splitlines() if line.startswith("| [")]
    for what, floor in PROMISED.items():
        assert sum(f"| {what}" in line and f" | {floor} |" in line for line in lines) == 1, what
    assert len(lines) == len(page.promised(find))


def test_the_page_is_what_the_results_say() -> None:
    """``python benchmarks/page.py`` writes it again."""
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_what_is_not_measured_is_named_with_its_command() -> None:
    text = page.text(lambda name: None)
    for workload in workloads.WORKLOADS:
        assert text.count(f"`{workload.command}`") == len(workload.headings), workload.name


@pytest.mark.parametrize("workload", workloads.WORKLOADS, ids=lambda workload: workload.name)
def test_a_workload_fills_its_headings(workload: workloads.Workload) -> None:
    assert set(workload.headings) <= set(workloads.HEADINGS)
    found = made_up.find(workload.name)
    assert found is not None
    sections = workload.module().sections(found)
    assert set(sections) == set(workload.headings)
    assert all("load" in text for text in sections.values()) or workload.name == "core"


def test_every_result_is_on_a_page() -> None:
    """Nothing is stored that nobody shows; the last two belong to docs/model_families.md and to ``quick.py``."""
    names = {path.stem for path in store.RESULTS.glob("*.json")}
    assert names <= {workload.name for workload in workloads.WORKLOADS} | {"family_curves", "quick"}


def test_every_result_says_when_and_beside_what() -> None:
    for workload in workloads.WORKLOADS:
        found = store.stored(workload.name)
        if found is not None:
            parts = [found] if "day" in found else [part for part in found.values() if isinstance(part, dict)]
            assert parts and all({"day", "load"} <= set(part) for part in parts), workload.name


def test_links_to_the_page_find_their_headings() -> None:
    anchors = {heading.lower().replace(" ", "-") for heading in workloads.HEADINGS}
    texts = [path.read_text(encoding="utf-8") for path in (*DOCS.rglob("*.md"), DOCS.parent / "README.md")]
    used = {anchor for text in texts for anchor in re.findall(r"benchmarks\.md#([\w-]+)", text)}
    assert used and used <= anchors
    assert not [text for text in texts if "_benchmarks.md" in text]


def test_the_picture_shows_every_measured_promise() -> None:
    """In letters of at least 12 px, with a line where the promise lies, on a ground of its own."""
    pytest.importorskip("altair")
    measured = [one for _, one in page.promised() if one.measured is not None]
    spec = chart.specification(measured)
    text = json.dumps(spec, ensure_ascii=False)
    assert all(one.what.replace("`", "") in text and one.floor in text for one in measured)
    assert '"margin": 1.0, "text": "promised"' in text
    assert spec["config"]["background"] == "white"
    sizes = [int(size) for size in re.findall(r'"(?:labelFontSize|titleFontSize|fontSize)": (\d+)', text)]
    assert len(sizes) >= 4 and min(sizes) >= 12
