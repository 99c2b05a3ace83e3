"""Reading logs, lists and predictions from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

from unskew.log import interactions, lists, predictions
from unskew.log.log import Duplicates, Feedback, Invalid, Log
from unskew.log.predictions import Predictions
from unskew.log.recommendations import Recommendations
from unskew.log.sources import table_of_file


def read_log(
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    feedback: Feedback | str | None = None,
    invalid: Invalid = "error",
    duplicates: Duplicates | None = None,
    keep: Iterable[str] = (),
) -> Log:
    """Read a log from a .csv, .tsv (also with .gz behind it) or .parquet file.

    Args:
        path: one row per interaction with the columns ``user`` and ``item``, and where present ``value``, ``time``,
            ``policy`` and ``propensity``.
        columns: our names → the names in the file, as in ``{"user": "customer_id"}``.
        feedback: what a row says (``implicit``, ``conversions``, ``ratings``). A log without values is implicit; a
            log with values is not told by itself.
        invalid: rows with nulls, unreadable values or impossible propensities are an ``error``, or ``drop`` leaves
            them out and counts them in ``account``.
        duplicates: a repeated (user, item) pair is an ``error``, or one row stays: the ``first`` or ``last`` in the
            file, or the one with the ``max`` value. By default the first one in implicit logs, else an error.
        keep: further columns to keep for segments.
    """
    table = table_of_file(
        path, interactions.REQUIRED, interactions.OPTIONAL, columns=columns, keep=keep, invalid=invalid
    )
    return interactions.log_of(table, feedback, duplicates)


def read_recommendations(
    path: str | PathLike[str], *, columns: Mapping[str, str] | None = None, invalid: Invalid = "error"
) -> Recommendations:
    """Read lists from a .csv, .tsv (also with .gz behind it) or .parquet file.

    Args:
        path: one row per entry with the columns ``user``, ``item`` and ``rank`` (1 = best). Without ranks, a column
            ``score`` orders the entries; equal scores are ordered by the stable hash of (user, item).
        columns: our names → the names in the file, as in ``{"rank": "position"}``.
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them in ``account``; of two
            entries with the same item or rank the better-ranked one stays, else the first.
    """
    table = table_of_file(path, lists.REQUIRED, lists.OPTIONAL, columns=columns, invalid=invalid)
    return lists.lists_of(table)


def read_predictions(
    path: str | PathLike[str], *, columns: Mapping[str, str] | None = None, invalid: Invalid = "error"
) -> Predictions:
    """Read predictions from a .csv, .tsv (also with .gz behind it) or .parquet file.

    Args:
        path: one row per pair with the columns ``user``, ``item`` and ``prediction``, and ``rank`` (1 = best) where
            the model says where it would list the item.
        columns: our names → the names in the file, as in ``{"prediction": "score"}``.
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them in ``account``.
    """
    table = table_of_file(path, predictions.REQUIRED, predictions.OPTIONAL, columns=columns, invalid=invalid)
    return predictions.predictions_of(table)
