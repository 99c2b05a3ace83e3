"""The terminal panel."""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from unskew.cli.console import PlainConsole
from unskew.report import html, terminal
from unskew.report.document import Document, Paragraph, Sentence, Sentences, Steps
from unskew.report.no_break import kept_together
from unskew.result import Result

from .made_up import grid
from .reading import printed

SHAPES = ["two", "many", "segmented", "nothing_known", "undecided", "hostile", "naive_only", "kept_back"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_line_is_wider_than_the_terminal(shape: str, width: int, request: pytest.FixtureRequest) -> None:
    """Every shape of result fits, however narrow the terminal."""
    lines = printed(request.getfixturevalue(shape), width).splitlines()
    assert max(cell_len(line) for line in lines) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_marks_of_verdicts_are_never_cut_off(width: int) -> None:
    """Names give way on a narrow terminal; that naive disagrees, and that there is a doubt, does not."""
    result = grid(["most_popular", "item_knn"], ["recall@10"], ["naive", "snips", "gs(strata=5)"])
    doubtful = replace(result, verdicts_=tuple(replace(v, trust="Little trust.") for v in result.verdicts_))
    text = printed(doubtful, width)
    assert text.count("behind ?") == 0 and text.count("ahead ?") == 1  # naive, for the first model
    assert text.count("worse ≠ ?") == 1 and text.count("behind ≠ ?") == 1
    assert ("Γ, low" in text) == (width >= 72)


LONG = (
    "unskew plan 'a rather long folder of a team/exports of 2024 q4 weekly/recommendations/test.parquet' --recs "
    "a=b.csv --columns test:user=1,test:item=2,test:value=3,test:time=4,train:user=1,train:item=2,train:value=3"
)


def test_a_long_command_is_never_cut() -> None:
    """In a pipe a line of its own for what is longer than a line, so that it can be pasted; elsewhere folded."""
    steps = Document(title=Sentence.plain("title"), summary=(), body=(Steps("Next", (("Do this:", LONG),)),))
    lines = PlainConsole()
    lines.file, lines.width = io.StringIO(), 80
    lines.print(terminal.panel(steps))
    text = lines.file.getvalue()
    assert shlex.split(text[text.index("unskew plan") :].replace("\\\n", "")) == shlex.split(LONG)
    assert "--columns \\\n" in text and "…" not in text
    others = io.StringIO()
    Console(file=others, width=80).print(terminal.panel(steps))
    assert "".join(LONG.split()) in re.sub(r"\s|\\", "", others.getvalue())


@pytest.mark.parametrize("width", range(40, 60))
def test_a_number_keeps_its_sign(width: int) -> None:
    """Wherever lines end; a command is left as it is."""
    text = "as many words as one line has room for: it says 84 % of something that comes from it, 100\u00a0% at most."
    command = 'unskew evaluate --require "a over b by 2 % on recall@10"'
    body = (Sentences((Sentence.plain(text, "note"),)), Steps("", ((text, command),)))
    said = Document(title=Sentence.plain("title"), summary=(Paragraph(text, "note"), *body), body=body)
    file = io.StringIO()
    Console(file=file, width=width).print(terminal.panel(said))
    assert not re.search(r"^[\s│]*%", file.getvalue(), re.MULTILINE) and file.getvalue().count("84\u00a0%") == 4
    assert "by 2 %" in " ".join(file.getvalue().split()) and "by 2 %" in html.page(kept_together(said))
    assert "84\u00a0%" in html.page(kept_together(said)) and "84 %" not in html.page(kept_together(said))


def test_names_are_neither_markup_nor_terminal_codes(hostile: Result) -> None:
    """Brackets are printed as they are, and escape sequences of a name do not reach the terminal."""
    text = printed(hostile, 120)
    assert "\x1b" not in text and "[bold red]b[/]" in text
    assert "\x1b[31m\n" not in printed(hostile, 120, force_terminal=True, color_system="standard")
