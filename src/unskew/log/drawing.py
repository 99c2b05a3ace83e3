"""How answers were drawn, where columns beside them say so (MATHS §16).

round, rounds   in which round a pair was drawn first, and how many were declared before the first draw: what is
                said after any of them has its share of the level, 1 − α/R (five looks at 1.96 erred in 14 %)
design          ``independent`` (every pair for itself) or ``systematic`` (pairs of a user exclude each other, as in
                the draw of a plan); without it nothing is assumed of pairs of one user
barred          how many pairs in which lists differ could not be drawn (users or items that the plan was told not to
                ask about): of these only the guesses speak, and verdicts say so. A draw of 120 rows cannot tell that a
                fifth of the pairs had no chance, and named the worse of two models in a quarter of worlds
drawn_for       the fingerprints of the lists that the plan was made for, one of each model (``fingerprints.py``):
                verdicts on other lists say that these must not have learnt from the answers
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.log.columns import whole_numbers
from unskew.log.fingerprints import PATTERN
from unskew.log.table import Table, show

ROUND, ROUNDS, DESIGN, BARRED, DRAWN_FOR = "round", "rounds", "design", "barred", "drawn_for"
INDEPENDENT, SYSTEMATIC = "independent", "systematic"
DECLARED = Whole(1, 100, "Each look at the answers has its share of the level.")


class Drawing(NamedTuple):
    """How answers were drawn, and for which lists; ``design`` is empty where nothing is known of it."""

    rounds: int = 1
    design: str = ""
    barred: int = 0
    drawn_for: tuple[str, ...] = ()


DRAWN_ONCE = Drawing()


def read_drawing(table: Table, rounds: int | None) -> Drawing:
    """How the answers of a file were drawn, from columns that are taken out; ``rounds`` must say the same."""
    found = Drawing(_rounds(table, rounds), _design(table), read_barred(table), read_drawn_for(table))
    told = (ROUND, ROUNDS, DESIGN, BARRED, DRAWN_FOR)
    table.frame = table.frame.drop(told, strict=False)
    table.names = {ours: theirs for ours, theirs in table.names.items() if ours not in told}
    return found


def read_barred(table: Table) -> int:
    """How many pairs could not be drawn."""
    return _largest(table, BARRED, 0) or 0


def refuse_repeated_pairs(table: Table) -> None:
    """No pair is there twice: its probability is that of all draws together."""
    again = ~table.frame.select(pl.struct("user", "item").is_first_distinct()).to_series()
    if again.any():
        row = int(again.arg_true()[0])
        user, item = (show(table.frame[name][row]) for name in ("user", "item"))
        raise InputError(
            f"{table.source}: the pair of user {user} and item {item} is there twice; {table.place(row)} repeats it.\n"
            "A pair that was drawn more than once is one row, with the probability of all draws together.",
            code="repeated-pair",
        )


def _design(table: Table) -> str:
    if DESIGN not in table or not len(table.frame):
        return ""
    column = table.frame[DESIGN].cast(pl.String)
    wrong = ~column.is_in([INDEPENDENT, SYSTEMATIC]).fill_null(False) | (column != column[0]).fill_null(True)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{table.source}: {table.called(DESIGN)} must be '{INDEPENDENT}' in every row, or '{SYSTEMATIC}' in every "
            f"row; {table.place(row)} has {show(column[row])}.\nLeave the column out if you do not know how pairs of a "
            "user depend on each other.",
            code="bad-value",
            column=DESIGN,
        )
    return str(column[0])


def read_drawn_for(table: Table) -> tuple[str, ...]:
    """The fingerprints of the lists that a file was drawn for; none where it has no such column."""
    if DRAWN_FOR not in table or not len(table.frame):
        return ()
    column = table.frame[DRAWN_FOR].cast(pl.String)
    wrong = ~(column.str.contains(f"^{PATTERN}( {PATTERN})*$") & (column == column[0])).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"{table.source}: {table.called(DRAWN_FOR)} must hold the same fingerprints of lists in every row, as "
            f"unskew plan wrote them; {table.place(row)} has {show(column[row])}.\nTake the column from the file of "
            "the plan, or leave it out: verdicts then say that they hold if no list learnt from the answers.",
            code="bad-value",
            column=DRAWN_FOR,
        )
    return tuple(column[0].split())


def _rounds(table: Table, given: int | None) -> int:
    """The declared rounds."""
    last = _largest(table, ROUND, 1)
    told = _largest(table, ROUNDS)
    if told is not None and given is not None and told != given:
        raise InputError(
            f"{table.source}: {table.called(ROUNDS)} says that {told} rounds were declared, and rounds={given}.\n"
            "The number that was declared before the first draw counts: leave rounds=… out.",
            code="conflicting-arguments",
            option="rounds",
        )
    if told is None and given is None and last is not None:
        raise InputError(
            f"{table.source}: {table.called(ROUND)} says that answers were drawn in rounds, and not how many were "
            "declared.\nSay rounds=…: the level is divided by their number; rounds=1 if answers are looked at once.",
            code="missing-argument",
            option="rounds",
        )
    found = int(DECLARED.of(told if told is not None else 1 if given is None else given, "rounds"))
    if last is not None and last > found:
        raise InputError(
            f"{table.source}: {table.called(ROUND)} goes up to {last}, and {found} round{'s' * (found != 1)} "
            f"{'were' if found != 1 else 'was'} declared.\nNo round follows the last one: what was said before has "
            "used up the level.",
            code="too-many-rounds",
        )
    return found


def _largest(table: Table, name: str, least: int = -(2**63)) -> int | None:
    """The largest number of a column, in which all must be at least ``least``."""
    if name not in table or not len(table.frame):
        return None
    numbers = whole_numbers(table, name)
    if (low := (numbers < least).fill_null(False)).any():
        row = int(low.arg_true()[0])
        raise InputError(
            f"{table.source}: {table.called(name)} must be {least} or more; {table.place(row)} has {numbers[row]}.\n"
            "Give the file that the plan wrote, or leave the column out.",
            code="out-of-range",
            column=name,
        )
    if name == ROUNDS and numbers.n_unique() > 1:
        raise InputError(
            f"{table.source}: {table.called(name)} must be the same in every row, the number of rounds that were "
            "declared before the first draw.",
            code="not-constant",
            column=name,
        )
    return int(numbers.max())  # type: ignore[arg-type]  # there are rows, and none is null
