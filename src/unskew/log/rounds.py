"""Over how many rounds answers were drawn: what is said after any of them has its share of the level (MATHS §16).

    level of each look 1 − α/R,   R rounds declared before the first draw (five looks at 1.96 erred in 14 %)

A plan over several rounds writes ``round``, in which a pair was drawn first, and ``rounds``, how many were declared.
"""

from __future__ import annotations

from unskew.bounds import Whole
from unskew.errors import InputError
from unskew.log.columns import whole_numbers
from unskew.log.table import Table

ROUND, ROUNDS = "round", "rounds"
DECLARED = Whole(1, 100, "Each look at the answers has its share of the level.")


def declared_rounds(table: Table, given: int | None) -> int:
    """The declared rounds of a file of answers, whose two columns are taken out; ``given`` must say the same."""
    last = _largest(table, ROUND)
    told = _largest(table, ROUNDS)
    if told is not None and given is not None and told != given:
        raise InputError(
            f"{table.source}: {table.called(ROUNDS)} says that {told} rounds were declared, and rounds={given}.\n"
            "The number that was declared before the first draw counts: leave rounds=… out."
        )
    if told is None and given is None and last is not None:
        raise InputError(
            f"{table.source}: {table.called(ROUND)} says that answers were drawn in rounds, and not how many were "
            "declared.\nSay rounds=…: the level is divided by their number; rounds=1 if answers are looked at once."
        )
    found = int(DECLARED.of(told if told is not None else 1 if given is None else given, "rounds"))
    if last is not None and last > found:
        raise InputError(
            f"{table.source}: {table.called(ROUND)} goes up to {last}, and {found} round{'s' * (found != 1)} "
            f"{'were' if found != 1 else 'was'} declared.\nNo round follows the last one: what was said before has "
            "used up the level."
        )
    table.frame = table.frame.drop(ROUND, ROUNDS, strict=False)
    table.names = {ours: theirs for ours, theirs in table.names.items() if ours not in (ROUND, ROUNDS)}
    return found


def _largest(table: Table, name: str) -> int | None:
    if name not in table or not len(table.frame):
        return None
    numbers = whole_numbers(table, name)
    if name == ROUNDS and numbers.n_unique() > 1:
        raise InputError(
            f"{table.source}: {table.called(name)} must be the same in every row, the number of rounds that were "
            "declared before the first draw."
        )
    return int(numbers.max())  # type: ignore[arg-type]  # there are rows, and none is null
