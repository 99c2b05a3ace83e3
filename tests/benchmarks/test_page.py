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


@pytest.mark.parametrize("find", [store.stored, lambda name: None], ids=["stored", "nothing stored"])
def test_every_promise_is_on_the_page(find: page.Find) -> None:
    """Whether it has been measured or not."""
    lines = [line for line in page.text(find).splitlines() if line.startswith("| [")]
    assert len(lines) > 10
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
