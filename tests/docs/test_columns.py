"""docs/columns.md names every column of the tables that a result gives, and no other."""

from __future__ import annotations

import re
from dataclasses import fields

from tests.docs.blocks import ROOT
from unskew.result import Estimate, Result, Verdict

PAGE = (ROOT / "docs" / "columns.md").read_text("utf-8")


def named(heading: str) -> set[str]:
    """The columns in the first cells of a section's table."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return {name for row in re.findall(r"^\| (`[^|]*)\|", section, re.M) for name in re.findall(r"`(\w+)`", row)}


def test_every_column_is_explained(known: Result) -> None:
    assert named("Estimates") == {f.name for f in fields(Estimate)} == set(known.table().columns)
    assert named("Verdicts") == {f.name for f in fields(Verdict)} == set(known.verdicts().columns)
    assert named("Leaderboard") == set(known.leaderboard().columns)
