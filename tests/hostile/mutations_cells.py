"""Cells, rows and columns: what careless exports and attackers put into a table."""

from __future__ import annotations

import unicodedata
from random import Random
from typing import Any

from tests.hostile.drafts import Draft, Raw, mutation

NUMBERS: tuple[Any, ...] = (
    "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1", "0", "-0.0", "1e-320", "1e-160", "1e-310", "1e308",
    "-1e308",
    "1.7976931348623157e308", "0.5 ", " 0.5", "+0.5", ".5", "5.", "0,5", "1.000,5", "1,000.5", "1_000", "0x10",
    "1e", "½", "٣",
    "5%", "€5", "true", "TRUE", "None", "null", "NA", "N/A", "-", "?", "#N/A", "#DIV/0!", "1" * 400, "0." + "3" * 400,
    "0.5\x00", "\x1b[31m0.5\x1b[0m", "1e-400", "2147483648", "9223372036854775808", "3.0", "03", "1.5", "1/2",
    "(0.5)",
    "0.5f", "1d", "１", "0.5\u200b", "=1+1", "@SUM(A1)", "44927", "2024-01-01",
)  # fmt: skip
IDS: tuple[Any, ...] = (
    "NA", "null", "None", "NaN", "-", "nan", "1.0", "1e5", "007", "+1", "0x1", " 1", "1 ", "\t1", "1\u00a0",
    "\u200b1", "",
    "\x1b[2J", "\x1b]0;owned\x07", "a\x00b", "\u202egnp.exe", "\u2028", "\ufeff1", "x" * 5000, "x" * 200_000,
    "9" * 30,
    "-9223372036854775808", "9223372036854775807", "18446744073709551616", "é", "e\u0301", "ſ", "İ", "𝟙",
    "👩\u200d👩\u200d👧",
    "../../etc/passwd", "'; DROP TABLE users;--", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "@x",
    "-1+1", "${jndi:x}",
    "a,b", 'a"b', '""', "a\nb", "a\rb", "user", "item", "[red]bold[/red]", "[/]", "{0}", "%s", "\\", "true",
    "False", "1,2",
)  # fmt: skip


def _row(draft: Draft, rng: Random) -> list[Any]:
    if not draft.table.rows:
        draft.table.rows.append([None] * len(draft.table.columns))
    return rng.choice(draft.table.rows)


def _numeric(draft: Draft, rng: Random) -> int:
    return min(2, len(draft.table.columns) - 1) if rng.random() < 0.7 else len(draft.table.columns) - 1


@mutation("cell")
def strange_number(draft: Draft, rng: Random) -> None:
    _row(draft, rng)[_numeric(draft, rng)] = rng.choice(NUMBERS)


@mutation("cell")
def strange_numbers_everywhere(draft: Draft, rng: Random) -> None:
    at, word = _numeric(draft, rng), rng.choice(NUMBERS)
    for row in draft.table.rows:
        row[at] = word


@mutation("cell")
def strange_id(draft: Draft, rng: Random) -> None:
    _row(draft, rng)[rng.choice((0, min(1, len(draft.table.columns) - 1)))] = rng.choice(IDS)


@mutation("cell")
def raw_id(draft: Draft, rng: Random) -> None:
    """Written without the quotation marks that it needs."""
    _row(draft, rng)[0] = Raw(rng.choice([word for word in IDS if "\0" not in word]))


@mutation("cell")
def missing_cell(draft: Draft, rng: Random) -> None:
    row = _row(draft, rng)
    row[rng.randrange(len(row))] = None


@mutation("cell")
def missing_row(draft: Draft, rng: Random) -> None:
    row = _row(draft, rng)
    row[:] = [None] * len(row)


@mutation("cell")
def ids_as_floats(draft: Draft, rng: Random) -> None:
    at = rng.choice((0, min(1, len(draft.table.columns) - 1)))
    whole = rng.random() < 0.5
    for row in draft.table.rows if whole else [_row(draft, rng)]:
        if isinstance(row[at], int):
            row[at] = f"{row[at]}.0" if draft.is_text else float(row[at])


@mutation("cell")
def blanks_behind_ids(draft: Draft, rng: Random) -> None:
    at, blank = rng.choice((0, min(1, len(draft.table.columns) - 1))), rng.choice((" ", "  ", "\t"))
    share = rng.choice((0.1, 0.5, 1.0))
    for row in draft.table.rows:
        if rng.random() < share and row[at] is not None:
            row[at] = f"{row[at]}{blank}" if rng.random() < 0.8 else f"{blank}{row[at]}"


@mutation("cell")
def other_unicode_form(draft: Draft, rng: Random) -> None:
    for row in draft.table.rows:
        if isinstance(row[0], str):
            row[0] = unicodedata.normalize("NFD", row[0])


@mutation("cell")
def upper_case(draft: Draft, rng: Random) -> None:
    row = _row(draft, rng)
    row[0] = str(row[0]).upper()


@mutation("cell")
def decimal_commas(draft: Draft, rng: Random) -> None:
    at = len(draft.table.columns) - 1
    for row in draft.table.rows:
        row[at] = str(row[at]).replace(".", ",") if row[at] is not None else None


@mutation("cell")
def thousands_separators(draft: Draft, rng: Random) -> None:
    for row in draft.table.rows:
        if isinstance(row[0], int):
            row[0] = f"{row[0]:,}"


@mutation("row", benign=True)
def shuffled(draft: Draft, rng: Random) -> None:
    rng.shuffle(draft.table.rows)


@mutation("row", benign=True)
def sorted_rows(draft: Draft, rng: Random) -> None:
    draft.table.rows.sort(key=lambda row: str(row[0]))


@mutation("row")
def repeated_row(draft: Draft, rng: Random) -> None:
    draft.table.rows.insert(rng.randrange(len(draft.table.rows) + 1), list(_row(draft, rng)))


@mutation("row")
def contradicting_row(draft: Draft, rng: Random) -> None:
    twin = list(_row(draft, rng))
    twin[-1] = rng.choice((0.33, 1, 2, 7))
    draft.table.rows.append(twin)


@mutation("row")
def rows_twice(draft: Draft, rng: Random) -> None:
    draft.table.rows += [list(row) for row in draft.table.rows]


@mutation("row")
def no_rows(draft: Draft, rng: Random) -> None:
    draft.table.rows.clear()


@mutation("row")
def one_row(draft: Draft, rng: Random) -> None:
    del draft.table.rows[1:]


@mutation("row")
def header_again(draft: Draft, rng: Random) -> None:
    draft.table.rows.insert(rng.randrange(len(draft.table.rows) + 1), list(draft.table.columns))


@mutation("row")
def totals_at_the_end(draft: Draft, rng: Random) -> None:
    draft.table.rows.append(
        (["Total", None, len(draft.table.rows)] + [None] * len(draft.table.columns))[: len(draft.table.columns)]
    )


@mutation("row")
def fewer_rows(draft: Draft, rng: Random) -> None:
    del draft.table.rows[rng.randrange(1, max(len(draft.table.rows), 2)) :]


@mutation("ragged")
def field_too_many(draft: Draft, rng: Random) -> None:
    """A title with an unquoted comma: columns behind it shift."""
    if draft.is_text:
        row = _row(draft, rng)
        row.insert(rng.randrange(len(row) + 1), rng.choice(("", "1", "0.3", "x")))


@mutation("ragged")
def field_too_few(draft: Draft, rng: Random) -> None:
    if draft.is_text:
        row = _row(draft, rng)
        del row[rng.randrange(len(row))]


@mutation("ragged")
def title_with_a_comma(draft: Draft, rng: Random) -> None:
    """A column that is not used holds the separator, without quotation marks."""
    at = rng.randrange(len(draft.table.columns) + 1)
    draft.table.columns.insert(at, "title")
    for row in draft.table.rows:
        row.insert(at, "Film")
    if draft.is_text:
        row = _row(draft, rng)
        row[at : at + 1] = ["Crouching Tiger", " Hidden Dragon"]


@mutation("column", benign=True)
def further_columns(draft: Draft, rng: Random) -> None:
    for number in range(rng.choice((1, 3, 30, 1000))):
        at = rng.randrange(len(draft.table.columns) + 1)
        draft.table.columns.insert(at, f"extra {number}")
        for row in draft.table.rows:
            row.insert(at, rng.choice((None, "a, b", 'say "x"', 7, "two\nlines")))


@mutation("column", benign=True)
def row_index(draft: Draft, rng: Random) -> None:
    draft.table.columns.insert(0, rng.choice(("", "Unnamed: 0", "index")))
    for at, row in enumerate(draft.table.rows):
        row.insert(0, at)


@mutation("column", benign=True)
def other_order(draft: Draft, rng: Random) -> None:
    order = list(range(len(draft.table.columns)))
    rng.shuffle(order)
    draft.table.columns[:] = [draft.table.columns[at] for at in order]
    draft.table.rows[:] = [[row[at] for at in order] for row in draft.table.rows]


@mutation("column")
def same_name_twice(draft: Draft, rng: Random) -> None:
    at = rng.randrange(len(draft.table.columns))
    name = draft.table.columns[at]
    draft.table.columns.append(name if draft.is_text else f"{name}_again")  # Parquet knows a name once
    for row in draft.table.rows:
        row.append(rng.choice((row[at], 1, "x")))


@mutation("column")
def strange_header(draft: Draft, rng: Random) -> None:
    at = rng.randrange(len(draft.table.columns))
    name = draft.table.columns[at]
    words = (
        f" {name}",
        f"{name} ",
        name.upper(),
        f"\x1b[31m{name}",
        "",
        "x" * 70_000,
        f"{name}\u200b",
        '"',
        "a\nb",
        "\u202e",
    )
    draft.table.columns[at] = rng.choice(words)


@mutation("column")
def further_strange_header(draft: Draft, rng: Random) -> None:
    draft.table.columns.append(
        rng.choice(("\x1b[2J", "", "x" * 70_000, "a\nb", "\u202e", "\x00", "=1+1", "'", "[red]"))
    )
    for row in draft.table.rows:
        row.append(1)


@mutation("column")
def missing_column(draft: Draft, rng: Random) -> None:
    at = rng.randrange(len(draft.table.columns))
    if len(draft.table.columns) > 1:
        del draft.table.columns[at]
        for row in draft.table.rows:
            del row[at]


@mutation("column")
def constant_column(draft: Draft, rng: Random) -> None:
    at = rng.randrange(len(draft.table.columns))
    for row in draft.table.rows:
        row[at] = draft.table.rows[0][at]


@mutation("column")
def times(draft: Draft, rng: Random) -> None:
    """A column of times, which a log checks although nothing here asks for it."""
    words = (
        "2024-01-01", "01.02.2024", "1/2/24", 1700000000, "1700000000.5", "9999999999999999", "today", 45000, "",
        "24:00", "2024-02-30", "2024-01-01T00:00:00+14:00", "-5000-01-01", "294277-01-01", "1e300", "nan",
    )  # fmt: skip
    draft.table.columns.append("time")
    usual, odd = rng.choice(words), rng.choice(words)
    for at, row in enumerate(draft.table.rows):
        row.append(odd if at == 3 else usual)
