"""Write the table of names in docs/files.md from the one that the code uses: ``python docs/files.py``."""

from __future__ import annotations

from pathlib import Path

from unskew.log.names import RECOGNISED

PAGE = Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- names: written by python docs/files.py -->\n", "<!-- end of names -->\n"


def table() -> str:
    """Our names, and those that are taken for them."""
    rows = (
        f"| `{ours}` | {', '.join(f'`{name}`' for name in names if name != ours)} |"
        for ours, names in RECOGNISED.items()
    )
    return "\n".join(["| ours | recognised |", "|---|---|", *rows, ""])


def text(page: str) -> str:
    """The page with the table renewed."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text()))
