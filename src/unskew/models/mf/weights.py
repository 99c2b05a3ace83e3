"""How much a rating weighs: 1/P, the inverse of how likely it was to be seen.

P is that of the log at hand: a propensity of a whole log of which this is a random part is multiplied by the part's
share. Without propensities P is the share of pairs that were rated, n/(UI), the same for all: λ then means the same.
Relative propensities are right up to one constant; it is chosen so that Σ 1/P = UI, as it would be on average.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew import propensity as propensities
from unskew.core.bounds import LARGEST, SMALLEST, Number
from unskew.core.errors import InputError
from unskew.log.expected import a_log
from unskew.log.log import Floats, Log
from unskew.propensity import Level, Propensity, Scope

PropensityLike = Propensity | str | npt.ArrayLike | None


class Weighted(NamedTuple):
    """A log whose rows all have a weight.

    Args:
        log: the rows that have a propensity.
        weight: 1/P of each.
        source: where propensities came from.
        dropped: rows that the propensity wanted dropped.
        floored, capped: rows whose propensity is a guess because training never showed the item, or was cut at 1.
        share: by which propensities of a whole log were multiplied; ``None`` where they were taken as this log's own.
    """

    log: Log
    weight: Floats
    source: str
    dropped: int = 0
    floored: int = 0
    capped: int = 0
    share: float | None = None


def weigh(log: Log, given: PropensityLike, share: float | None = None) -> Weighted:
    """The rows of a log of ratings and their weights.

    Args:
        share: of the whole log that this part is, where the log does not know it (it was read from a file).
    """
    if share is not None:
        share = float(Number(above=0.0, high=1.0).of(share, "share, this log's part of the whole,"))
        log = replace(a_log(log), share=share)
    values = _values(a_log(log))
    if given is None:
        pairs = len(log.users) * len(log.items)
        return Weighted(log, np.full(len(values), pairs / len(values)), "none")
    if not isinstance(given, str | Propensity):
        return Weighted(log, 1.0 / _checked(log, given), "given per row")
    model = propensities.make(given)
    if not model.fitted:
        model = model.copy().fit(log)
    scored = model.of(log)
    kept = ~np.isnan(scored.rows)
    if not kept.any():
        raise InputError(f"{log.account.source}: '{model}' gives no row a propensity.", code="no-propensity")
    rows = log if kept.all() else log.take(kept)
    weight = 1.0 / _checked(rows, scored.rows[kept], probability=model.level is Level.ABSOLUTE)
    part = None
    if model.level is Level.RELATIVE:
        weight *= len(rows.users) * len(rows.items) / weight.sum()
    elif model.refers(log) is Scope.LOG and (part := model.share_of(log)) is not None:
        weight /= part
    return Weighted(rows, weight, str(model), len(log) - len(rows), scored.floored, scored.capped, part)


def _values(log: Log) -> Floats:
    if log.value is None:
        raise InputError(
            f"{log.account.source}: 'mf' learns from ratings, and the log has no column 'value'.\n"
            "Map it with columns={'value': NAME}, or use item_knn for a log of positives.",
            code="missing-column",
            column="value",
        )
    if not len(log):
        raise InputError(
            f"{log.account.source}: 'mf' needs at least one rating, and the log is empty.", code="empty-log"
        )
    wrong = ~(np.abs(log.value) <= LARGEST)
    if wrong.any():
        _refuse(log, "rating", log.value, wrong, f"a finite number within ±{LARGEST:g}", "Drop such rows or fix them.")
    return log.value


def _checked(log: Log, given: npt.ArrayLike, *, probability: bool = True) -> Floats:
    try:
        p = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("propensities must be numbers, one for each rating.", code="not-a-number") from None
    if p.shape != (len(log),):
        raise InputError(
            f"there must be one propensity for each of {len(log):,} ratings, not an array {p.shape}.",
            code="wrong-shape",
        )
    wrong = ~((p >= SMALLEST) & (p <= (1.0 if probability else LARGEST)))
    if wrong.any():
        where = "in (0, 1]" if probability and not (0.0 < p[np.argmax(wrong)] < 1.0) else f"at least {SMALLEST:g}"
        why = "A pair that could never have been seen cannot be weighed. Fix these propensities, or drop their rows."
        _refuse(log, "propensity", p, wrong, where, why)
    return p


def _refuse(log: Log, what: str, numbers: Floats, wrong: npt.NDArray[np.bool_], where: str, remedy: str) -> None:
    row = int(np.argmax(wrong))
    user, item = log.users.values[int(log.user[row])], log.items.values[int(log.item[row])]
    raise InputError(
        f"{log.account.source}: every {what} must be {where}; that of user {user}, item {item} is {numbers[row]} "
        f"({np.count_nonzero(wrong):,} rows in all).\n{remedy}",
        code="bad-value",
        row=row,
    )
