"""Code blocks of the pages, as a reader copies them.

A block is run as it stands unless a comment above it says why not:

    <!-- not run: it needs a cluster -->     looked at by nobody
    <!-- minutes -->                         run by ``make verify`` only (UNSKEW_WORLDS=all)
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("sh", "bash")
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^\n]*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """One block: where it starts, in which language, and whether it is run."""

    page: Path
    line: int
    language: str
    text: str
    mark: str

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page.relative_to(ROOT)}, line {self.line}"

    @property
    def commands(self) -> list[list[str]]:
        """The words of every command of a shell block."""
        joined = self.text.replace("\\\n", " ")
        return [shlex.split(line, comments=True) for line in joined.splitlines() if shlex.split(line, comments=True)]


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start("text")) + 1, found["language"], found["text"], found["mark"] or "")
        for found in BLOCK.finditer(text)
    ]
