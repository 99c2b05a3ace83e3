"""Records as tables: one line per number where the paper prints numbers, rows × columns where it draws a figure.

Claims ("ips beats naive", at every α) are counted: how often each holds, and where it is undecided or fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from unskew_papers.record import Record, Verdict

SMALL = 5e-5  # four decimals leave nothing of smaller numbers
KINDS = ((Verdict.HOLDS,), (Verdict.LIKELY, Verdict.UNLIKELY), (Verdict.FAILS,))  # of verdicts on claims


class Table(NamedTuple):
    """Cells as text."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...] = ()  # columns that are not numbers

    def right(self, column: int) -> bool:
        """Whether a column holds numbers."""
        return self.head[column] not in self.words


def tables(records: Sequence[Record], *, glance: bool = False) -> list[Table]:
    """The tables of some records by part; ``glance`` puts ours and the paper's in one cell first, ✗ where missed."""
    made = []
    for part in dict.fromkeys(record.experiment for record in records):
        found = [record for record in records if record.experiment == part]
        if any(record.paper is not None for record in found):
            if glance:
                made.append(_crossed(f"{part}: ours (the paper's)", found, _with_paper))
            made.append(_beside(part, found))
        elif all(record.verdict is Verdict.UNJUDGED for record in found):
            made.append(_crossed(part, found, lambda record: _with_error(record.ours, record.se)))
        else:
            made.append(_claims(part, found))
    return made


def summary(records: Iterable[Record]) -> str:
    """How many numbers are met and claims hold, in words."""
    counts = dict.fromkeys(Verdict, 0)
    for record in records:
        counts[record.verdict] += 1
    words = []
    met, nearly = counts[Verdict.MET], counts[Verdict.NEARLY]
    if numbers := met + nearly + counts[Verdict.MISSED]:
        told = f", {nearly} {'is' if nearly == 1 else 'are'} missed within two standard errors" if nearly else ""
        words.append(f"{met} of {numbers} numbers are met{told}")
    holds, undecided, fails = (sum(counts[verdict] for verdict in kind) for kind in KINDS)
    if claims := holds + undecided + fails:
        are, fail = "is" if undecided == 1 else "are", "fails" if fails == 1 else "fail"
        told = f", {undecided} {are} undecided, {fails} {fail}" if undecided else ""
        words.append(f"{holds} of {claims} claims hold{told}")
    if still := counts[Verdict.OPEN]:
        words.append(
            f"{still} {'is' if still == 1 else 'are'} not judged: {'it needs' if still == 1 else 'they need'} more runs"
        )
    return "; ".join(words) or "nothing is judged"


def asked(record: Record) -> str:
    """The rule, and how sure the margin of a claim is."""
    return record.rule + ("" if record.paired_se is None else f" (margin ± {number(record.paired_se)})")


def number(value: float | None, *, sign: bool = False) -> str:
    """Four significant digits, but no more than four decimals; 1.08e−7 where these leave none, a dash for nothing."""
    if value is None or not math.isfinite(value):
        return "–"
    if 0.0 < abs(value) < SMALL:
        digits, _, power = f"{abs(value):.2e}".partition("e")
        return f"{'−' if value < 0.0 else '+' if sign else ''}{digits}e−{abs(int(power))}"
    if not value:
        return "0.0000"
    places = min(max(3 - math.floor(math.log10(abs(value))), 0), 4)
    return ("−" if value < 0.0 else "+" if sign else "") + f"{abs(value):,.{places}f}"


def _beside(part: str, records: list[Record]) -> Table:
    """Ours beside the paper's."""
    rows = tuple(
        (
            record.row,
            record.column,
            _with_error(record.paper, record.their_se),
            number(record.ours),
            number(record.se),
            number(record.deviation, sign=True),
            record.rule,
            record.verdict.value,
        )
        for record in records
    )
    head = ("row", "column", "paper", "ours", "± se", "deviation", "rule", "verdict")
    return Table(part, head, rows, ("row", "column", "rule", "verdict"))


def _claims(part: str, records: list[Record]) -> Table:
    """Per claim how often it holds, and where it does not."""
    head = ("claim", "verdicts", "undecided at", "fails at")
    rows = []
    for claim in dict.fromkeys(record.column for record in records):
        found = [record for record in records if record.column == claim]
        holds, undecided, fails = ([r for r in found if r.verdict in kind] for kind in KINDS)
        counts = f"holds {len(holds)}, undecided {len(undecided)}, fails {len(fails)}"
        places = ("; ".join(map(_place, some)) or "–" for some in (undecided, fails))
        rows.append((claim, f"{counts} of {len(holds + undecided + fails)}", *places))
    return Table(part, head, tuple(rows), head)


def _place(record: Record) -> str:
    """Where a claim is not sure to hold, and by what numbers."""
    points = f" ({record.verdict.value.removeprefix('undecided, ')})" if record.verdict.undecided else ""
    return f"{record.row}{points}: {number(record.ours)}, {asked(record)}"


def _crossed(title: str, records: Sequence[Record], show: Callable[[Record], str]) -> Table:
    """Rows × columns of what ``show`` says of each record."""
    cells = {(record.row, record.column): show(record) for record in records}
    columns = list(dict.fromkeys(record.column for record in records))
    lines = dict.fromkeys(record.row for record in records)
    rows = tuple((row, *(cells.get((row, column), "") for column in columns)) for row in lines)
    return Table(title, ("", *columns), rows, ("",))


def _with_paper(record: Record) -> str:
    paper = "" if record.paper is None else f" ({record.paper:g})"
    return f"{number(record.ours)}{paper}{'' if record.verdict.good else ' ✗'}"


def _with_error(value: float | None, se: float | None) -> str:
    return number(value) + (f" ± {number(se)}" if se is not None else "")
