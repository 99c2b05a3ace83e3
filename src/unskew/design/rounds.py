"""Plans that continue: earlier draws are taken into account (MATHS §16).

    π = 1 − Π over the rounds of (1 − π_r)        level of each round 1 − α/R  (Bonferroni over R declared rounds)

The probabilities of a round depend on the log, the lists and the limits, never on answers: else π of a pair that an
earlier round did not draw would depend on what that round happened to draw, and the product were not its probability.
So a later round makes the earlier ones' probabilities anew, from the number of rows that each asked for, and compares
them with those in the file: whatever has changed meanwhile is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.design.probabilities import ListDesign, Scale
from unskew.kernels.arrays import Floats, Ints64
from unskew.log.columns import check_ids, numbers, whole_numbers
from unskew.log.drawing import BARRED, DRAWN_FOR, read_barred, read_drawn_for, refuse_repeated_pairs
from unskew.log.sources import table_of
from unskew.log.table import Table, show

TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Asked:
    """What earlier rounds drew.

    Args:
        frame: as it was read, with the original ids.
        user, item: codes.
        value: NaN where there is no answer.
        round: in which each was drawn first.
        rows: how many rows each round asked for.
        scales: of the rounds.
        propensity: of each round, by [row, round].
        drawn_for: the fingerprints of the lists that the first round was drawn for; none in files without them.
    """

    frame: pl.DataFrame
    user: Ints64
    item: Ints64
    value: Floats
    round: Ints64
    rows: tuple[float, ...]
    scales: tuple[Scale, ...]
    propensity: Floats
    drawn_for: tuple[str, ...]

    @property
    def together(self) -> Floats:
        """The probability of every row over all rounds so far."""
        return together(self.propensity)


def together(propensity: Floats) -> Floats:
    """1 − Π (1 − π_r), by row."""
    return np.asarray(1.0 - np.prod(1.0 - propensity, axis=1), dtype=np.float64)


def read_asked(source: Any, design: ListDesign, rounds: int, drawn_for: Sequence[str]) -> Asked:
    """The rows of earlier rounds, with answers where there are some.

    Args:
        design: must be what they were drawn by; ``drawn_for`` the fingerprints of its lists.
    """
    several = [f"{name}_{r + 1}" for r in range(rounds) for name in ("propensity", "rows")]
    table = table_of(source, "answers", ("user", "item"), ("round", "value", "rounds", BARRED, DRAWN_FOR, *several))
    if "round" not in table:
        raise InputError(
            f"{table.source}: there is no column 'round': these pairs were drawn without declaring rounds.\nRounds are "
            "declared before the first draw (rounds=…). Evaluate these answers as they are (answers=…), or begin a new "
            "plan.",
            code="missing-column",
            column="round",
        )
    table.refuse_nulls("user", "item", "round")
    check_ids(table, "user")
    check_ids(table, "item")
    refuse_repeated_pairs(table)
    read_barred(table)
    number = whole_numbers(table, "round").to_numpy().astype(np.int64)
    done = int(number.max(initial=0))
    if "rounds" in table and len(number) and (other := int(numbers(table, "rounds")[0])) != rounds:
        raise InputError(
            f"{table.source}: {table.called('rounds')} says that {other} rounds were declared, not {rounds}.\n"
            "The number that was declared before the first draw counts, since the level is divided by it: rounds="
            f"{other}.",
            code="other-rounds",
            declared=other,
        )
    if len(number) == 0 or number.min() < 1 or done >= rounds:
        raise InputError(
            f"{table.source}: {table.called('round')} must lie between 1 and {rounds - 1}, before the last of "
            f"{rounds} declared rounds; there is {done}.\nNo round follows the last one: the level is divided over "
            "those that were declared (rounds=…).",
            code="out-of-range",
            column="round",
            value=done,
        )
    lacking = [name for r in range(done) for name in (f"propensity_{r + 1}", f"rows_{r + 1}") if name not in table]
    if lacking:
        raise InputError(
            f"{table.source}: there is no column '{lacking[0]}'.\nGive the file that the last round wrote, with "
            "answers in a column 'value'; its other columns say how likely each row was to be drawn.",
            code="missing-column",
            column=lacking[0],
        )
    who = design.candidates
    user = who.users.encode(table.frame["user"]).astype(np.int64)
    item = who.items.encode(table.frame["item"]).astype(np.int64)
    unknown = np.flatnonzero((user < 0) | (item < 0))
    if len(unknown):
        name = "user" if user[unknown[0]] < 0 else "item"
        raise InputError(
            f"{table.source}: {table.called(name)} has {show(table.frame[name][int(unknown[0])])} in "
            f"{table.place(int(unknown[0]))}, which is not known here.\nGive the same log and lists as in that round.",
            code="unknown-id",
            column=name,
            row=int(unknown[0]),
        )
    earlier = read_drawn_for(table)
    if earlier and sorted(earlier) != sorted(drawn_for):
        raise InputError(
            f"{table.source}: {table.called(DRAWN_FOR)} says that these pairs were drawn for other lists.\nA later "
            "round needs the lists of the first one: lists that learnt from its answers cannot be judged by them. Give "
            "the same lists, or begin a new plan.",
            code="other-lists",
        )
    rows = tuple(float(numbers(table, f"rows_{r + 1}")[0]) for r in range(done))
    scales = tuple(design.scale(each) for each in rows)
    found = np.stack([design.of(user, item, scale) for scale in scales], axis=1)
    for r in range(done):
        _same(table, f"propensity_{r + 1}", found[:, r])
    value = _answers(table) if "value" in table else np.full(len(user), np.nan)
    frame = table.frame.select("user", "item")
    return Asked(frame, user, item, value, number, rows, scales, found, earlier)


def _same(table: Table, name: str, found: Floats) -> None:
    told = numbers(table, name).to_numpy()
    wrong = np.flatnonzero(~(np.abs(told - found) <= TOLERANCE * np.maximum(found, 1e-12)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{table.source}: {table.called(name)} has {told[row]:g} in {table.place(row)}, where log, lists and "
            f"limits give {found[row]:g}.\nA later round needs what the earlier one was drawn from: the same log, "
            "seen=…, lists, metric, uniform=…, per_user=…, not_items=… and not_users=….",
            code="other-inputs",
            column=name,
            row=row,
        )


def _answers(table: Table) -> Floats:
    """The answers, NaN where there is none."""
    raw = table.frame["value"]
    filled = raw.str.strip_chars().replace("", None) if raw.dtype == pl.String else raw
    value = filled.cast(pl.Float64, strict=False)
    wrong = (filled.is_not_null() & ~value.is_between(0.0, 1.0).fill_null(False)).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{table.source}: {table.called('value')} must lie between 0 and 1; {table.place(row)} has "
            f"{show(raw[row])}.\nWrite 1 for relevant and 0 for not; leave it empty where nobody answered.",
            code="out-of-range",
            column="value",
            row=row,
        )
    return value.fill_null(float("nan")).to_numpy()
