"""What is known of the judged rows of some users: sums, to which those of other users are added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.alignment.outcome_check import range_of
from unskew.engine.data import EvaluationData
from unskew.estimators.summary import Histogram
from unskew.inference.merging import Mergeable, added_counts, merged_by
from unskew.kernels.arrays import Ints64
from unskew.log import Log
from unskew.log.extremes import Extremes, wider
from unskew.log.order import counts_of


@dataclass(frozen=True, eq=False)
class RowFacts(Mergeable):
    """The judged rows of some users.

    Args:
        users: how many there are; ``active`` those with any row.
        clicks: how many users have 1, 2, 3–5, 6+ seen relevant items.
        by_item: relevant rows of every item.
        positives, zeros, graded: rows whose y is above 0, is 0, is neither 0 nor 1.
        logged_zeros: rows whose value is 0 as it came.
        most_rows: of one user.
        candidates: pairs that could be recommended.
        outcomes: the least and the largest y, 0 included.
        places: the least and the largest place on the page, where any is known.
        known: training rows of the users.
        untrained, untrained_rows: users with rows and without a training row, and their rows; 0 without a training log.
        pairs, seen: propensities of the relevant rows, and of all of them; ``None`` without propensities.
        dropped: held-out rows that were left out, by reason.
    """

    users: int
    active: int
    clicks: Ints64
    by_item: Ints64
    rows: int
    positives: int
    zeros: int
    graded: int
    logged_zeros: int
    known: int
    untrained: int
    untrained_rows: int
    pairs: Histogram | None
    seen: Histogram | None
    candidates: float
    most_rows: int = merged_by(max)
    outcomes: tuple[float, float] = merged_by(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])))
    places: Extremes | None = merged_by(wider)
    dropped: Mapping[str, int] = merged_by(added_counts)

    @classmethod
    def of(cls, held: EvaluationData, rows: Log, known: Log | None, dropped: Mapping[str, int]) -> RowFacts:
        """Of some users."""
        value, lengths = held.value, np.diff(held.indptr)
        liked = value > 0.0
        positives, p = int(np.count_nonzero(liked)), held.propensity
        seen = None if p is None else Histogram.of(p)
        pairs = seen if p is None or positives == len(value) else Histogram.of(p[liked])
        new = np.zeros(len(lengths), dtype=np.bool_) if known is None else np.diff(known.indptr) == 0
        return cls(
            users=held.users,
            active=int(np.count_nonzero(lengths)),
            clicks=held.click_counts,
            by_item=counts_of(held.item if positives == len(value) else held.item[liked], len(rows.items)),
            rows=len(value),
            positives=positives,
            zeros=int(np.count_nonzero(value == 0.0)),
            graded=int(np.count_nonzero((value != 0.0) & (value != 1.0))),
            logged_zeros=0 if rows.value is None else int(np.count_nonzero(rows.value == 0.0)),
            known=0 if known is None else len(known),
            untrained=int(np.count_nonzero(lengths[new])),
            untrained_rows=int(lengths[new].sum()),
            pairs=pairs,
            seen=seen,
            candidates=0.0 if held.candidates is None else float(held.candidates.sum()),
            most_rows=int(lengths.max(initial=0)),
            outcomes=range_of(value),
            places=Extremes.of(rows.position),
            dropped=dropped,
        )
