"""Tables that are too wide for a terminal: what gives way, and that words stay whole."""

from __future__ import annotations

import pytest
from rich.text import Text

from unskew.report.document import Column
from unskew.report.folded_names import broken, folded

NAME, NUMBER = Column("protocol", "name"), Column("by the best")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("popularity(gamma=1)", 12, ["popularity", "(gamma=1)"]),
        ("very popular goods", 8, ["very", "popular", "goods"]),
        ("very popular goods", 12, ["very popular", "goods"]),
        ("leave_one_out", 11, ["leave_one_", "out"]),
        ("my leave_one_out", 11, ["my", "leave_one_", "out"]),
        ("short", 8, ["short"]),
        ("", 8, []),
    ],
)
def test_names_are_broken_between_words(text: str, width: int, lines: list[str]) -> None:
    """Inside a word only where it is wider than the column, and then behind its signs."""
    assert broken(Text(text), width).plain.splitlines() == lines


def test_styles_stay() -> None:
    """A broken name is as bold as it was."""
    found = broken(Text("most popular", style="bold"), 8)
    assert found.plain == "most\npopular" and "bold" in {str(found.style), *(str(span.style) for span in found.spans)}


@pytest.mark.parametrize(
    ("room", "widths"),
    [
        (27, {}),  # 13 + 2 + 11 + 1
        (24, {1: 8}),  # "by the", "best"
        (22, {1: 6}),
        (19, {0: 11, 1: 5}),
        (10, {1: 5}),  # rich folds the rest
    ],
)
def test_headings_of_numbers_give_way_first(room: int, widths: dict[int, int]) -> None:
    """Then names, down to their words; where even that is too wide they are left to rich."""
    rows = [[Text("leave_one_out"), Text("1.000")]]
    assert folded((NAME, NUMBER), rows, room) == widths


def test_a_table_without_rows_or_names_is_no_trouble() -> None:
    """Only headings, or only numbers."""
    assert folded((NAME,), [], 80) == {}
    assert folded((Column("a"),), [[Text("1.000")]], 3) == {}
