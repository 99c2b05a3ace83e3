"""Write docs/parts.md from what the parts declare: ``python docs/parts.py``."""

from __future__ import annotations

from pathlib import Path

from unskew.cli.parts import page

PAGE = Path(__file__).with_suffix(".md")
HEAD = """# All parts and their options

Written by `python docs/parts.py` from what the parts declare; do not edit it. `unskew parts` prints it, with the parts
of installed packages; `unskew parts gs` prints one. In strings, options stand between brackets: `gs(strata=5)`,
`rbp(p=0.9)@10`. How to add a part: [extending](extending.md).
"""


def text() -> str:
    """The whole page."""
    return "\n".join([HEAD, *page(installed=False)])


if __name__ == "__main__":
    PAGE.write_text(text())
