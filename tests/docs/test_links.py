"""Links between the pages lead somewhere, and what pages name (files of the repository, commands) exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT
from tests.docs.test_blocks import TARGETS

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#+ (.*)$", re.M)
MORE = [*PAGES, *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") if (ROOT / name).exists())]
IDS = [str(page.relative_to(ROOT)) for page in MORE]


def anchors(page: Path) -> set[str]:
    """Of all headings, as GitHub makes them: small letters, signs left out, blanks as dashes."""
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in HEADING.findall(page.read_text("utf-8"))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", MORE, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    """Files exist, and so do the headings behind ``#``. Addresses on the network are not asked for."""
    broken = []
    for link in LINK.findall(page.read_text("utf-8")):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", MORE, ids=IDS)
def test_commands_in_sentences_exist(page: Path) -> None:
    """``make TARGET``, ``python FILE``, ``python -m MODULE``, ``pytest PATH``."""
    broken = []
    for code in CODE.findall(page.read_text("utf-8")):
        match code.split():
            case ["make", target, *_]:
                there = target in TARGETS or target.isupper()
            case ["python", "-m", "pytest", path, *_] | ["pytest", path, *_]:
                there = (ROOT / path.split("::")[0]).exists()
            case ["python", "-m", module, *_] if module.split(".")[0] == "tests":
                there = (ROOT / f"{module.replace('.', '/')}.py").exists()
            case ["python", path, *_] if path.endswith(".py"):
                there = (ROOT / path).exists()
            case _:
                continue
        if not there:
            broken.append(code)
    assert broken == []


def test_every_page_is_reached_from_the_readme() -> None:
    """By links alone."""
    reached, new = set(), {ROOT / "README.md"}
    while new:
        page = new.pop()
        reached.add(page)
        for link in LINK.findall(page.read_text("utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists() and target not in reached:
                new.add(target)
    assert {page for page in PAGES if page not in reached} == set()
