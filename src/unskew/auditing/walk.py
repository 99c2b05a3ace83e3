"""From a log in parts to its audit: which looks are taken, and what their findings make together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unskew.auditing.contrast import Contrast, contrast
from unskew.auditing.looks import Ask, AuditPart, Look, together
from unskew.auditing.opening import skew
from unskew.auditing.places import places
from unskew.auditing.policies import policies
from unskew.auditing.powerlaw import power_law
from unskew.auditing.record import Audit, Size
from unskew.auditing.spread import spread
from unskew.auditing.support import supports
from unskew.auditing.tally import Tally
from unskew.auditing.times import times
from unskew.auditing.values import SeenValues, values
from unskew.auditing.weights import (
    Expected,
    HeldOutRows,
    WeightSums,
    describe,
    effective,
    expected,
    propensities,
    rehearse,
)
from unskew.auditing.widths import MeasuredUsers, Width, widths
from unskew.core.errors import InputError
from unskew.estimators import Target
from unskew.inference.merging import Mergeable, added_counts, merged_by
from unskew.kernels.arrays import Ints64, present
from unskew.log import Account, Feedback, Log

_REPEATED = "duplicate pair"


class Audited(NamedTuple):
    """What is audited.

    Args:
        log, mcar: which columns there are, what was read and dropped, and all items; rows are asked for.
        feedback: what a row says; ``None`` where values are there and nothing explains them.
    """

    log: Log
    mcar: Log | None
    feedback: Feedback | None
    relevant: str | None

    @property
    def compared(self) -> bool:
        """Whether the values are compared with those of an MCAR log."""
        return self.mcar is not None and self.mcar.value is not None and self.log.value is not None


def told_feedback(log: Log, relevant: str | None) -> Feedback | None:
    """What a row says; a threshold makes values ratings."""
    return Feedback.RATINGS if log.feedback is None and relevant is not None else log.feedback


def refuse_incomparable(log: Log, mcar: Log) -> None:
    """An MCAR log that cannot be compared by value."""
    for side in (log, mcar):
        if side.value is None:
            raise InputError(
                f"{side.account.source}: an MCAR log is compared by value, and this log has no values.\n"
                "Say which column it is with columns={'value': '...'}, and leave out feedback='implicit'.",
                code="missing-column",
                column="value",
            )


@dataclass(frozen=True, eq=False)
class CountedRows(Mergeable):
    """Rows by user and item.

    Args:
        known_users: also those without a row.
        relevant: rows with a gain.
        dropped: rows that were left out when parts were made.
    """

    rows: int
    by_user: Tally
    by_item: Ints64
    known_users: int
    relevant: int
    dropped: Mapping[str, int] = merged_by(added_counts)

    @classmethod
    def of(cls, part: AuditPart) -> CountedRows:
        """Of one part."""
        log = part.log
        return cls(
            len(log),
            Tally.of(np.diff(log.indptr)),
            np.bincount(log.item, minlength=len(log.items)),
            len(log.users),
            int(np.count_nonzero(part.gain)),
            part.dropped,
        )


def _rows() -> Look[CountedRows]:
    found: CountedRows = yield CountedRows.of
    return found


def _values(asked: Audited) -> Look[tuple[SeenValues, Contrast | None]]:
    """The values of the log, and how they differ from those of an MCAR log."""
    seen = yield from values(asked.compared)
    if not asked.compared:
        return seen, None
    compared = yield from contrast(seen, present(asked.mcar).account.source)
    return seen, compared


@dataclass(frozen=True, eq=False)
class Rehearsed(Mergeable):
    """Effective sizes of a random hold-out, and the users on whom widths are measured."""

    sums: dict[tuple[str, Target], WeightSums] = merged_by(lambda a, b: {key: a[key].merge(b[key]) for key in a})
    users: MeasuredUsers = merged_by(lambda a, b: a.merge(b))


@dataclass(frozen=True, eq=False)
class AskRehearsal:
    """Asks for the weights of held-out rows."""

    counted: HeldOutRows

    def __call__(self, part: AuditPart) -> Rehearsed:
        """Of one part."""
        rehearsal = rehearse(part, self.counted)
        users = MeasuredUsers.of(part, rehearsal, self.counted.counts)
        return Rehearsed(effective(rehearsal, part.log.user[rehearsal.test]), users)


def _hold_out() -> Look[tuple[tuple[Expected, ...], tuple[Width, ...]]]:
    """Effective sample sizes of a random hold-out, and what its weights do to two lists; of a small log nothing."""
    counted: HeldOutRows = yield HeldOutRows.of
    if not counted.usable:
        return (), ()
    found: Rehearsed = yield AskRehearsal(counted)
    return expected(found.sums), widths(found.users, len(counted.counts))


def walk(asked: Audited, ask: Ask) -> Audit:
    """All looks; findings and advice are not there yet."""
    log = asked.log
    looks: dict[str, Look[Any]] = {"rows": _rows(), "hold-out": _hold_out()}
    if log.value is not None:
        looks["values"] = _values(asked)
    if log.time is not None:
        looks["time"] = times(log)
    if log.policy is not None:
        looks["policies"] = policies()
    if log.position is not None:
        looks["places"] = places(asked.feedback, asked.relevant)
    if log.propensity is not None:
        looks["propensity"] = propensities()
    found = together(looks, ask)
    rows: CountedRows = found["rows"]
    seen, compared = found.get("values", (None, None))
    size = _size(log.account, rows)
    users, items = spread(rows.by_user, size.items), spread(Tally.of(rows.by_item), size.users)
    weights = None
    if log.propensity is not None:
        sums, quantiles = found["propensity"]
        weights = describe(sums, quantiles, size.users * size.items, log)
    zeros = rows.relevant < rows.rows
    if asked.feedback is None:
        zeros = seen is not None and seen.sums.log.zeros > 0
    known = weights is not None and not weights.constant
    sizes, measured = ([each for each in one if known or each.propensity != "known"] for one in found["hold-out"])
    return Audit(
        source=log.account.source,
        feedback=None if asked.feedback is None else str(asked.feedback),
        relevant=asked.relevant,
        size=size,
        users=users,
        items=items,
        dependence=max(-math.log2(size.density) - users.kl_bits - items.kl_bits, 0.0),
        exponent=power_law(rows.by_item),
        values=None if seen is None else seen.values,
        mcar=compared,
        time=found.get("time"),
        policies=found.get("policies"),
        places=found.get("places"),
        propensity=weights,
        expected=tuple(sizes),
        widths=tuple(measured),
        supports=supports(
            asked.feedback,
            asked.relevant,
            known=known,
            negative=seen is not None and seen.values.minimum < 0.0,
            zeros=zeros,
        ),
        skew=skew(items),
    )


def _size(account: Account, found: CountedRows) -> Size:
    """Sizes; the account of what was dropped counts only if it is the account of this log, not of one it is part of."""
    users, items = int(found.by_user.number.sum()), int(np.count_nonzero(found.by_item))
    dropped = {reason: rows for reason, rows in added_counts(account.dropped, found.dropped).items() if rows}
    if account.rows != found.rows + sum(dropped.values()):
        dropped = {}
    repeated = dropped.pop(_REPEATED, 0)
    return Size(
        read=found.rows + sum(dropped.values()) + repeated,
        dropped=dropped,
        duplicates=repeated,
        rows=found.rows,
        users=users,
        items=items,
        silent_users=found.known_users - users,
        unseen_items=len(found.by_item) - items,
        density=found.rows / (users * items),
        notes=account.notes,
    )
