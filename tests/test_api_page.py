"""docs/api.md has an example for every public name, and what it shows is what comes out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import unskew

PAGE = Path(__file__).parents[1] / "docs" / "api.md"


def test_every_public_name_has_an_example() -> None:
    sections = re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    found = {section.split("\n", 1)[0].strip(): section for section in sections}
    assert set(found) == set(unskew.__all__)
    for name, section in found.items():
        assert ">>> " in section, name


def test_the_examples_are_true() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 60 and found.failed == 0
