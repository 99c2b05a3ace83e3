"""Pages and tables whose names come from an attacker: nothing in them may become a tag, a formula or a fetch."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path
from random import Random

from tests.hostile.cases import Case
from tests.hostile.drafts import Draft
from tests.hostile.worlds import draw

NAMES = (
    "<script>harm()</script>", "<img src=x onerror=harm()>", '" onmouseover="harm()', "</title><harm>",
    "</style><harm>", "</svg><harm>",
    "javascript:harm()", "{{ harm }}", "{% harm %}", "<!--", "-->", "]]>", "&lt;harm&gt;", "👩\u200d👩\u200d👧",
    "\u2028", "\u202ereversed", "é" * 50,
    "x" * 100_000, "=HYPERLINK(1)", "@SUM(A1)", "+1", "-1+1", "\x1b[31mred", "a\tb", "a b", "[red]x[/red]",
    "$x$", "`x`", "\\", "'", "%s", "𝟙", "한국",
    "</script><script>harm()</script>", "<svg/onload=harm()>", "<harm>", "data:text/html,harm", "0", "null",
    "None", "true", "zalgo" + "\u0300" * 200,
)  # fmt: skip


class _Tags(HTMLParser):
    """Notes whatever a hostile name could have added."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            text = value or ""
            leads = name in ("href", "src", "action", "xlink:href", "style")
            if name.startswith("on") or (leads and text.lower().startswith(("javascript:", "http", "//", "data:text"))):
                self.found.append(f"<{tag} {name}={text[:40]!r}>")
        if tag in ("harm", "iframe", "object", "embed", "base") or (tag == "img" and "x" in dict(attrs).values()):
            self.found.append(f"<{tag}>")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and "harm()" in data and "</" in data:
            self.found.append("a script holds a name")


def pages_case(rng: Random, folder: Path) -> Case:
    """Hostile names of models, segments and ids, written as a page, a table and a record."""
    world = draw(rng)
    first, second = rng.sample(NAMES, 2)
    log = world.log.copy()
    by = rng.random() < 0.3
    if by:
        log.columns.append("kind")
        for at, row in enumerate(log.rows):
            row.append(second if at % 2 else "other")
    Draft("log", log, ".parquet").write(folder)
    for name, table in world.lists.items():
        Draft(name, table).write(folder)
    argv = ["evaluate", "log.parquet", f"--recs={first}=alpha.csv", "--recs=beta=beta.csv", "--metric=recall@5"]
    argv += ["--estimator=naive", "--estimator=snips", *(["--by=kind"] if by else [])]
    outputs = ["out.json", "out.csv", "out.html", "out.parquet"]
    argv += [f"--{name.split('.')[1]}={name}" for name in outputs]
    what = f"{first!r:.60}" + (f" by {second!r:.60}" if by else "")
    return Case(what, argv, ["log.parquet", "alpha.csv", "beta.csv"], outputs, check=_check)


def _check(folder: Path) -> str | None:
    page = (folder / "out.html").read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(page)
    if tags.found:
        return f"the page holds {tags.found[0]}"
    if "Content-Security-Policy" not in page:
        return "the page has no content-security policy"
    json.loads((folder / "out.json").read_text(encoding="utf-8"))
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for column in ("model", "segment"):
                if (cell := row.get(column) or "") and cell[0] in "=@+-\t\r":
                    return f"a spreadsheet would compute the cell {cell[:40]!r}"
    return None
