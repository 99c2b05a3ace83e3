"""Recently popular: everybody gets the items with the most positives lately (POP-N of jeunen18 §3.1).

    last=N        score(i) = positives of i among the last N of training, whoever had them
    days=D        the same among the positives of the last D days before the last one
    half_life=H   each positive counts 2^(−age/H), its age in days before the last one

They go together: with several of them a positive must be inside both windows, and counts what its age says. The paper
uses the first and hopes for a smoother formula where N is low and fewer than k items are trending; the half-life is
such a formula. Positives of the same time are either all inside a window of days or all outside. Where the N-th last
has the time of others before it, these share the places that are left (each counts the same fraction, which is its
chance to be among the last N if chance ordered them), so that no order of rows decides. Items without a recent positive
score 0: their order is that of the stable hash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.bounds import Number, Whole
from unskew.core.errors import InputError
from unskew.core.parts import option
from unskew.log import Ids
from unskew.log.clock import Clock
from unskew.log.expected import a_log
from unskew.log.ids import Codes
from unskew.log.log import Floats, Integers, Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import Updatable, from_shared_scores, united

LAST = 1000  # positives that count where nothing else is said
SECONDS = 86_400.0  # of a day
DAYS = Number(above=0.0, high=1e6, why="No log is longer.")


@dataclass(eq=False, repr=False)
class RecentlyPopular(Updatable):
    """Rank items by their positives lately: the last so many, those of the last days, or all, faded by age.

    ``update`` keeps the times and items of the positives that are inside the windows (12 bytes each): N with
    ``last``, all of them with nothing but a half-life.
    """

    last: int | None = option(
        None, Whole(1, 2**31 - 1), "how many of the latest positives count; 1,000 if none is given"
    )
    days: float | None = option(None, DAYS, "of how many days before the last positive")
    half_life: float | None = option(None, DAYS, "days after which a positive counts half")
    scores_: Floats = field(init=False, repr=False)
    time_: Integers = field(init=False, repr=False)  # ascending
    item_: Codes = field(init=False, repr=False)
    first_: int = field(init=False, repr=False)  # the first time of all, by which the unit of numbers is known

    name = "recently_popular"
    personal = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.last is None and self.days is None and self.half_life is None:
            self.last = LAST

    def fit(self, log: Log) -> Self:
        """Count the recent positives of every item."""
        self.items_ = a_log(log).items
        self.time_, self.item_, self.first_ = np.empty(0, np.int64), np.empty(0, np.int32), 2**62
        return self._learn(log)

    def update(self, rows: Log) -> Self:
        """Count further rows, whatever their times; the windows then end with the last row of all."""
        known = self.catalogue
        self.items_ = united(known, a_log(rows).items)
        self.item_ = known.into(self.items_)[self.item_]
        return self._learn(rows)

    def _learn(self, rows: Log) -> Self:
        """Put positives among those that are kept, and score."""
        liked = rows.positives()
        if liked.time is None:
            raise InputError(
                f"{rows.account.source}: '{self}' needs a column 'time', and the log has none.\n"
                "Say which column it is with columns={'time': '...'}, or use most_popular.",
                code="missing-column",
                column="time",
            )
        time = np.concatenate([self.time_, liked.time])
        item = np.concatenate([self.item_, liked.items.into(self.catalogue)[liked.item]])
        order = np.argsort(time, kind="stable")
        self.time_, self.item_ = time[order], item[order]
        self.first_ = min(self.first_, int(self.time_.min(initial=2**62)))
        if len(time):
            self._forget(rows)
        self.scores_ = self._score(rows)
        return self

    def _forget(self, rows: Log) -> None:
        """Drop what no window holds, now or later: positives before the N-th last one, or before the last days."""
        start = 0
        if self.last is not None and self.last < len(self.time_):
            start = int(np.searchsorted(self.time_, self.time_[-self.last]))
        if self.days is not None:
            oldest = self.time_[-1] - self.days * self._day(rows)
            start = max(start, int(np.searchsorted(self.time_, oldest, side="right")))
        self.time_, self.item_ = self.time_[start:].copy(), self.item_[start:].copy()

    def _score(self, rows: Log) -> Floats:
        """Σ of what positives count; without a half-life in whole numbers, so that equal scores are equal."""
        many, kept = len(self.catalogue), len(self.time_)
        at_cut = int(np.searchsorted(self.time_, self.time_[0], side="right")) if kept else 0
        surplus = max(0, kept - self.last) if self.last is not None else 0  # only where times are equal at the cut
        if self.half_life is None or not kept:
            edge, inside = (np.bincount(part, minlength=many) for part in np.split(self.item_, [at_cut]))
            return (edge * (at_cut - surplus) + inside * at_cut).astype(np.float64)
        age = (self.time_[-1] - self.time_) / self._day(rows)
        weight = np.exp2(-age / self.half_life)
        weight[:at_cut] *= (at_cut - surplus) / at_cut
        return np.asarray(np.bincount(self.item_, weights=weight, minlength=many), dtype=np.float64)

    def _day(self, rows: Log) -> float:
        """How many of the log's numbers make a day."""
        clock = Clock.of(rows, self.first_, int(self.time_[-1]))
        if clock.per_second is None:
            raise InputError(
                f"{rows.account.source}: '{self}' counts days, and the log's times are numbers without a known unit.\n"
                "Convert them to dates or datetimes, or give last=… only.",
                code="bad-time",
            )
        return clock.per_second * SECONDS

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k items with the most recent positives that a user has not seen."""
        items = self.catalogue
        return from_shared_scores(self.scores_, items, users, k, seen)
