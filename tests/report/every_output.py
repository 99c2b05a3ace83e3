"""Whatever is shown can be printed, summed up, tabled for a paper, tracked and written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tests.report.reading import printed
from unskew.core.showing import Shown


def check_every_output(shown: Shown) -> None:
    """None of them fails, and none holds what is no number."""
    assert str(shown) == shown.summary() and "\n" not in repr(shown)
    assert (
        shown.to_markdown() and shown.to_latex().count("\\begin{table}") == shown.to_latex().count("\\end{table}") > 0
    )
    assert all(math.isfinite(value) for value in shown.metrics().values())
    written = json.loads(json.dumps(shown.written(), allow_nan=False))
    assert written["kind"] == type(shown).__name__ and written["written"]["versions"]["unskew"]


def content(path: Path) -> dict[str, Any]:
    """What a file of JSON says of the result: all but when and by which command it was written."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found.pop("written")
    return found


def shown(found: Any, folder: Path) -> str:
    """Terminal, notebook, tables, files and the page, which is given back."""
    assert printed(found) and found._repr_html_()
    check_every_output(found)
    found.to_json(folder / "found.json")
    assert content(folder / "found.json")
    found.to_html(folder / "found.html")
    return (folder / "found.html").read_text(encoding="utf-8")
