"""Numbers of the pages: every region names a command that exists, numbers from stored results are those stored."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from docs.cited import NUMBERS, cited
from docs.renew import NUMBER, REGION, renewed

from tests.docs.blocks import PAGES, ROOT

STORED = {name for name in NUMBERS if not name.startswith("coat.") and name != "demo"}
MARK = re.compile(r"<!--(?: made by:|=| end -->)")


def never(name: str) -> str:
    raise AssertionError(f"asked for {name}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_marks_are_whole_and_name_what_exists(page: Path) -> None:
    """A comment that is not closed would silently leave its number as it is."""
    text = page.read_text("utf-8")
    regions, numbers = list(REGION.finditer(text)), list(NUMBER.finditer(text))
    assert len(MARK.findall(text)) == 2 * len(regions) + 2 * len(numbers)
    assert {found["name"] for found in numbers} <= NUMBERS.keys()
    for found in regions:
        words = shlex.split(found["command"])
        path = f"{words[2].replace('.', '/')}.py" if words[:2] == ["python", "-m"] else words[1]
        assert words[0] == "unskew" or (ROOT / path).exists(), found["command"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_numbers_from_stored_results_are_current(page: Path) -> None:
    """What takes a run to know is checked by ``make verify``."""
    for found in NUMBER.finditer(page.read_text("utf-8")):
        if found["name"] in STORED:
            assert found["text"] == cited(found["name"]), found["name"]


def test_regions_hold_what_commands_print() -> None:
    """Per-cent signs get the space that the pages write; long commands wait for ``long``; others are left alone."""
    page = "a\n<!-- made by: python -c 'print(\"12%\")' -->\nold\n<!-- end -->\n<!--= x.y -->1<!--=-->"
    new = renewed(page, long=False, only="", cited=lambda name: f"[{name}]")
    assert new == page.replace("old", "12 %").replace(">1<", ">[x.y]<")
    slow = "<!-- made by: python nothing.py (3 hours) -->\nold\n<!-- end -->"
    assert renewed(slow, long=False, only="", cited=never) == slow
    assert renewed(page, long=True, only="another", cited=never) == page
