"""Answers: pairs that were drawn with a known probability, shown, and answered (MATHS §16).

    user, item, value, propensity        propensity = π, the probability with which the pair was drawn

A null value is a question that nobody answered: it was asked, so it counts, and nothing is known of it. Answers are no
random sample of a log (``mcar``), which has no π of its own: they are drawn by a design, and each row says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from unskew.core.errors import InputError
from unskew.kernels.arrays import Bools
from unskew.log.drawing import BARRED, DESIGN, DRAWN_FOR, ROUND, ROUNDS, Drawing, read_drawing, refuse_repeated_pairs
from unskew.log.interactions import log_of
from unskew.log.log import Feedback, Invalid, Log
from unskew.log.sources import table_of
from unskew.log.table import Table, show

UNANSWERED = "unanswered"  # marks rows of which no answer came


def read_answers(
    source: Any,
    feedback: Feedback,
    *,
    rounds: int | None = None,
    columns: Mapping[str, Any] | None = None,
    invalid: Invalid = "error",
) -> tuple[Log, Drawing]:
    """Answers from a path, a frame or a log, as a log of seen pairs; and how they were drawn.

    Args:
        source: ``user, item, value, propensity``, a null value where nobody answered.
        feedback: what a row of the held-out log says; answers to positives-only logs are 0 or 1.
        rounds: how many were declared before the first draw; by default what the file says, else 1.
        columns: our column names → theirs.
        invalid: wrong rows are an ``error``, or ``drop`` counts them.
    """
    kind = Feedback.CONVERSIONS if feedback is Feedback.IMPLICIT else feedback
    if isinstance(source, Log):
        log, drawing = _of_log(source, kind), Drawing(1 if rounds is None else rounds)
    else:
        known = ("value", "propensity", ROUND, ROUNDS, DESIGN, BARRED, DRAWN_FOR)
        table = table_of(source, "answers", ("user", "item"), known, columns=columns, invalid=invalid)
        _check(table, getattr(columns, "role", ""))
        drawing = read_drawing(table, rounds)
        _mark_unanswered(table)
        log = _explained(log_of(table, kind, None))
    if feedback is Feedback.IMPLICIT:
        _refuse_graded(log)
    return log, drawing


def unanswered(answers: Log) -> Bools:
    """Which rows were asked and not answered."""
    return answers.columns[UNANSWERED].to_numpy().astype(np.bool_)


def _of_log(log: Log, kind: Feedback) -> Log:
    """A log that is there already; every row of it is answered unless it says otherwise."""
    for name in ("value", "propensity"):
        if getattr(log, name) is None:
            raise _lacking(log.account.source, name, "answers")
    marks = log.columns.get(UNANSWERED, pl.Series(np.zeros(len(log), dtype=np.bool_)))
    return replace(log, feedback=kind, columns={UNANSWERED: marks})


def _check(table: Table, role: str) -> None:
    """All columns are there, answers are numbers, no pair is there twice: π is that of all draws together.

    Args:
        role: what this input is called in a map of columns that speaks of several.
    """
    for name in ("value", "propensity"):
        if name not in table:
            raise _lacking(table.source, name, role)
    _refuse_words(table)
    refuse_repeated_pairs(table)


def _refuse_words(table: Table) -> None:
    """An answer is a number: the usual words for one are named, as nothing says which of them is relevant."""
    column = table.frame["value"]
    if column.dtype != pl.String:
        return
    words = column.str.strip_chars().str.to_lowercase().is_in(["yes", "no", "y", "n", "true", "false"]).fill_null(False)
    if words.any():
        row = int(words.arg_true()[0])
        raise InputError(
            f"{table.source}: column 'value' must hold numbers; {table.place(row)} has {show(column[row])}.\nWrite 1 "
            "for a relevant pair and 0 for another one, and leave it empty where nobody answered.",
            code="not-a-number",
            column="value",
        )


def _lacking(source: str, name: str, role: str) -> InputError:
    why = {
        "value": "what was answered (empty where nobody did)",
        "propensity": "the probability with which each pair was drawn: without it nothing can be weighed, and an "
        "unknown one is never taken as uniform. The file of questions that unskew plan writes has it; pairs that "
        "were seen at random and have none go with mcar=…",
    }[name]
    key = f"{role}:{name}" if role else name  # other inputs may have no such column
    return InputError(
        f"{source}: answers need a column '{name}', {why}.\nAdd it, or map it with columns={{'{key}': 'NAME'}}.",
        code="missing-column",
        column=name,
    )


def _mark_unanswered(table: Table) -> None:
    """Nulls of the value become a mark, and a value that is never looked at."""
    column = table.frame["value"]
    empty = column.is_null()
    if column.dtype == pl.String:
        empty = empty | (column.str.strip_chars() == "").fill_null(False)
    elif column.dtype.is_float():
        empty = empty | column.is_nan().fill_null(False)  # pandas writes nulls like that
    filler = pl.lit("0" if column.dtype == pl.String else 0, dtype=column.dtype) if column.dtype != pl.Null else 0.0
    filled = pl.select(pl.when(empty).then(filler).otherwise(column)).to_series()
    table.frame = table.frame.with_columns(filled.alias("value"), empty.alias(UNANSWERED))
    table.names = {**table.names, UNANSWERED: UNANSWERED}


def _explained(log: Log) -> Log:
    """Kept columns come back as texts: the mark is a truth value."""
    marks = log.columns[UNANSWERED].cast(pl.String) == "true"
    if marks.all():
        raise InputError(
            f"{log.account.source}: none of {len(log):,} questions was answered: every value is empty.",
            code="no-answers",
        )
    return replace(log, columns={UNANSWERED: marks})


def _refuse_graded(log: Log) -> None:
    """Next to a log of positives a pair is relevant or not."""
    value = log.value
    assert value is not None
    wrong = ~np.isin(value, (0.0, 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        who, what = log.users.values[int(log.user[row])], log.items.values[int(log.item[row])]
        raise InputError(
            f"{log.account.source}: column 'value' must be 0 or 1 where the log holds positives only; user '{who}' and "
            f"item '{what}' have {value[row]:g}.\nWrite 1 for a relevant pair, 0 for another one, and leave unanswered "
            "ones empty; graded answers go with a log of values and relevant='>=4'.",
            code="bad-value",
            column="value",
        )
