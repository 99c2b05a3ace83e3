"""What is kept of a fold: the columns of its users, and sums that merge over folds.

Everything that is said over folds, and of each of them, is made of these (``merging.py``), so that a fold that was
finished once need not be computed again. Users with nothing but zeros have no row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np

from unskew.core.notice import Notice
from unskew.kernels.arrays import Floats, Ints64


class Key(NamedTuple):
    """A cell, by canonical strings."""

    metric: str
    estimator: str
    target: str


@dataclass(frozen=True, eq=False)
class FoldSums:
    """One fold.

    Args:
        label, window: what it is called, and from when to when it judges, in words.
        judged: how many users have held-out rows; ``train_rows``, ``test_rows``, and rows that were ``left_out``.
        kept: the estimators, targets and metrics that the log supports, in the order in which they are shown.
        depth: the deepest rank that can be worth something.
        cells: all cells, those that verdicts need beside them included, and of each the ``columns`` of ``x``.
        user: the users with a row in ``x``, by their codes in the fold; once ``located``, in the whole log.
        runs: estimators and targets; of each a ``tally`` (sums as in ``Tally``) and ``bins`` of weights.
        carried: by cell and model.
        clicks: by cell the leave-one-click-out bias: users who were looked at and all of them (−1 where none is
            taken), with its mean ``click_bias`` and the covariance of the mean ``click_error``; ``heavy_bias`` and
            ``heavy_error`` are those of the bias by heavy clicks.
        worths: metrics of lists, and by model the share of each list's worth that the log could ever show.
        differing: by cell, pair of models and list the sums of ``DifferingWorth`` for all users; NaN where nothing is
            known of P of listed places; ``listed`` says for which cells P of all of them is known.
        item: items with held-out rows, by their codes likewise; of each ``seen``, its training rows, and for
            the ``counted`` metrics what it brings to the sums of every model, and to their divisor (the last row).
        extent: as in ``Extent``; ``filled`` as in ``ListPlaces``, of the users judged.
        single, clicking: users with one relevant interaction, and with any.
        support_gap: the share of held-out interactions on items that training never showed; NaN where unknown.
        told: what else is said of the fold, as plain values: the propensity, refusals, dropped rows, warnings.
    """

    label: str
    window: str
    judged: int
    train_rows: int
    test_rows: int
    left_out: Mapping[str, int]
    kept: list[list[Any]]
    depth: int
    cells: list[list[str]]
    columns: list[list[int]]
    user: Ints64
    x: Floats
    runs: list[list[str]]
    tally: Floats
    bins: Ints64
    carried: Floats
    clicks: Ints64
    click_bias: Floats
    click_error: Floats
    heavy_bias: Floats
    heavy_error: Floats
    worths: list[str]
    unsupported: Floats
    differing: Floats
    listed: list[bool]
    item: Ints64
    seen: Floats
    counted: list[str]
    brought: Floats
    extent: Floats
    filled: Ints64
    single: int
    clicking: int
    support_gap: float
    told: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """As plain values and arrays, which a store keeps; values are as they would be read back."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
        values = {name: value for name, value in found.items() if name not in arrays}
        values["told"] = {name: _kept(value) for name, value in self.told.items()}
        read: dict[str, Any] = json.loads(json.dumps(values, sort_keys=True))
        return read | arrays

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """What was kept."""
        told = {name: _as_told(value) for name, value in record["told"].items()}
        return cls(**{field.name: record[field.name] for field in fields(cls)} | {"told": told})

    def located(self, users: Ints64, items: Ints64) -> Self:
        """The same by codes of the whole log, which are given for those of the fold."""
        return replace(self, user=users[self.user], item=items[self.item])

    @property
    def known_places(self) -> list[Key]:
        """The cells for which P of all listed places is known."""
        return [Key(*cell) for cell, known in zip(self.cells, self.listed, strict=True) if known]

    def place(self, key: Key) -> int:
        """Where a cell stands."""
        return self.cells.index(list(key))

    def columns_of(self, key: Key) -> Floats:
        """The columns of a cell, (users with a row, columns)."""
        return np.asarray(self.x[:, self.columns[self.place(key)]])


def _kept(told: Any) -> Any:
    """Notices as plain values, and anything else as it is."""
    if isinstance(told, list):
        return [_kept(each) for each in told]
    return told.__getnewargs_ex__() if isinstance(told, Notice) else told


def _as_told(kept: Any) -> Any:
    """What was kept as it was told."""
    if isinstance(kept, list) and len(kept) == 2 and isinstance(kept[1], dict) and "also" in kept[1]:
        return Notice(*kept[0], **kept[1])
    return [_as_told(each) for each in kept] if isinstance(kept, list) else kept
