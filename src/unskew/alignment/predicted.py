"""What models predict for the held-out rows, and the lists that predictions make where they cover the candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from unskew.alignment.inputs import Rules, Sources
from unskew.alignment.sources import Predictor
from unskew.core.bounds import LARGEST
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Floats
from unskew.kernels.coding import unseen
from unskew.log import Ids, Log, Predictions, Recommendations

WITHOUT_PREDICTION = "without a prediction"  # why rows were dropped
Pairs = tuple[tuple[str, str] | None, ...]  # a user and an item of each model


def _first_pairs(a: Pairs, b: Pairs) -> Pairs:
    return tuple(one or other for one, other in zip(a, b, strict=True))


@dataclass(frozen=True)
class PredictedFacts(Mergeable):
    """Which held-out rows of some users models do not predict; those of other users are added.

    Args:
        rows: how many there are.
        missing: how many some model does not predict.
        lacking: ... each model, in the order of their names.
        first: the first such pair of each model.
    """

    rows: int
    missing: int
    lacking: tuple[int, ...]
    first: Pairs = merged_by(_first_pairs)


def predicted_rows(sources: Sources, rows: Log) -> tuple[Log, dict[str, Floats], PredictedFacts]:
    """The rows that all models predict, each model's predictions of them, and what is missing."""
    found = {name: _of(name, source, rows) for name, source in sources.items()}
    missing = np.zeros(len(rows), dtype=np.bool_)
    lacking, first = [], []
    for numbers in found.values():
        lacks = np.isnan(numbers)
        lacking.append(int(lacks.sum()))
        first.append(_pair(rows, int(np.argmax(lacks))) if lacks.any() else None)
        missing |= lacks
    facts = PredictedFacts(len(rows), int(missing.sum()), tuple(lacking), tuple(first))
    if not missing.any():
        return rows, found, facts
    return rows.take(~missing), {name: numbers[~missing] for name, numbers in found.items()}, facts


def _pair(rows: Log, row: int) -> tuple[str, str]:
    return plain(rows.users.values[int(rows.user[row])]), plain(rows.items.values[int(rows.item[row])])


def refuse_unpredicted(names: Iterable[str], facts: PredictedFacts, rules: Rules) -> None:
    """A missing prediction is an error, unless such rows are to be dropped; that all are missing is one anyway."""
    for name, lacking, first in zip(names, facts.lacking, facts.first, strict=True):
        if facts.rows and lacking == facts.rows:
            raise InputError(
                f"{plain(name)}: not one of {facts.rows:,} held-out pairs has a prediction.\n"
                "Do users and items have the same ids as in the log? Rows and columns of an array are users and items "
                "0, 1, 2, …; for other ids use Predictions.from_array(array, users, items).",
                code="no-predictions",
            )
        if first is not None and not rules.drop_invalid:
            raise InputError(
                f"{plain(name)}: {lacking:,} of {facts.rows:,} held-out pairs have no prediction; "
                f"the first is user '{first[0]}', item '{first[1]}'.\n"
                "Predict all held-out pairs, or judge all models on those that every model predicts with "
                "invalid='drop'; the result will say how many were dropped.",
                code="missing-prediction",
            )


def _of(name: str, source: Predictions | Predictor, rows: Log) -> Floats:
    if isinstance(source, Predictions):
        return source.recode(rows.users, rows.items).of(rows)
    told = source.predict(rows.users.values[rows.user], rows.items.values[rows.item])
    try:
        made = np.asarray(told, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"model '{plain(name)}': predict(users, items) must give numbers, not {type(told)}.", code="wrong-type"
        ) from None
    if made.shape != (len(rows),):
        raise InputError(
            f"model '{plain(name)}': predict(users, items) must give one number for each of {len(rows):,} pairs, not "
            f"an array of shape {made.shape}.",
            code="wrong-shape",
        )
    if (far := np.abs(made) > LARGEST).any() and (far & np.isfinite(made)).any():
        worst = float(made[far & np.isfinite(made)][0])
        raise InputError(
            f"model '{plain(name)}': predictions must lie within ±{LARGEST:g}, and one is {worst:g}.",
            code="out-of-range",
        )
    return np.where(np.isfinite(made), made, np.nan)


def lists_of_predictions(
    sources: Sources, rows: Log, known: Log | None, logged: Ids, rules: Rules
) -> tuple[dict[str, Recommendations], str]:
    """Lists from ranks that came along, else from predictions that cover every candidate of every judged user.

    Also in words which models have none.
    """
    lists, lacking = {}, []
    for name, source in sources.items():
        if not isinstance(source, Predictions):
            lacking.append(f"{plain(name)} makes no lists")
            continue
        coded = source.recode(rows.users, rows.items)
        if len(source) and not len(coded):
            raise InputError(
                f"{plain(name)}: not one of its {len(source):,} predictions is of a user and an item that these logs "
                "know.\nDo users and items have the same ids as in the log? Rows and columns of an array are users and "
                "items 0, 1, 2, …; for other ids use Predictions.from_array(array, users, items).",
                code="no-common-pairs",
            )
        if coded.rank is None:
            excluded = known if rules.unseen else None
            coded = _candidates_only(coded, excluded, logged)
            predicted = np.diff(coded.indptr)[np.diff(rows.indptr) > 0]
            there = np.full(len(rows.users), len(logged)) - (0 if excluded is None else np.diff(excluded.indptr))
            wanted = there[np.diff(rows.indptr) > 0]
            if (predicted < wanted).any():
                share = f"{predicted.sum():,} of {wanted.sum():,}"
                lacking.append(f"{plain(name)} has no column 'rank' and predicts {share} candidate pairs")
                continue
        lists[name] = coded.lists()
    return lists, " and ".join(lacking)


def _candidates_only(coded: Predictions, excluded: Log | None, logged: Ids) -> Predictions:
    """The predictions of candidates: items of the logs, without the user's training items."""
    keep = coded.items.into(logged)[coded.item] >= 0
    if excluded is not None:
        free = np.empty(len(coded), dtype=np.bool_)
        everyone = np.arange(len(coded.users), dtype=np.int32)
        stamp = np.full(len(coded.items), -1, dtype=np.int64)
        unseen(coded.indptr, coded.item, everyone, excluded.indptr, excluded.item, stamp, free)
        keep &= free
    before = np.concatenate([[0], np.cumsum(keep)])
    return replace(coded, indptr=before[coded.indptr], item=coded.item[keep], value=coded.value[keep])


def no_lists(users: Ids, items: Ids) -> Recommendations:
    """The lists of a model that has none."""
    nothing = np.empty(0, dtype=np.int32)
    return Recommendations(users, items, np.zeros(len(users) + 1, dtype=np.int64), nothing, nothing)
