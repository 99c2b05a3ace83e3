"""Sliding windows: judge each window of time by what was known before it (SW-EVAL, jeunen18 §2.2).

    at each t = t_max − kΔ, k = n, …, 1:    train on D_t, the rows before t (or since t − history)
                                            judge on [t, t + Δ) the users with a row in both

The last window is closed at t_max, so that the windows partition [t_max − nΔ, t_max]. A window with fewer than u_min
such users is skipped, and listed. Nothing at or after t trains fold t, and nothing at or after t + Δ touches it at all,
but for t_max itself, from which the windows are counted; ``until`` says where they end instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.parts import Flag, Made, Text, option
from unskew.kernels.arrays import Ints64, present
from unskew.kernels.windows import judge
from unskew.log import Log
from unskew.log.clock import Clock
from unskew.log.expected import a_log
from unskew.split.durations import KINDS, Calendar, Duration, written_moment
from unskew.split.record import Skipped
from unskew.split.rows import Between, Listed
from unskew.split.split import Split, Splitter, draws, timed
from unskew.split.splits import Splits
from unskew.split.windows import Window

EXPANDING = "expanding"
NEW_USERS = Notice("users without a past", code="no-past")
LATER = Notice("not the user's first item in the window", code="not-first")
ALWAYS = -(2**63)  # before all times
WIDER = ("s", "min", "h", "d", "w", "mo", "y")  # units of widths, each wider than the one before
FOLDS = 12  # of wider windows that are tried
FEWEST = 10  # users, below which a window is not advised


def _history(given: object, what: str) -> Duration | str:
    return EXPANDING if isinstance(given, str) and given == EXPANDING else Duration.make(given, what)


@dataclass(frozen=True)
class SlidingWindow(Splitter):
    """Judge windows of time, each by what was known before it: no model sees the future.

    Windows are counted back from the last time of the log. Widths in days, weeks, months or years are steps of the
    calendar in the zone ``tz``, those in hours and less are spans of time. Only users with both a past and a row in the
    window are judged. Where all times are dates, a time stands for its whole day. The parts have no share: how likely a
    pair was to be seen in one window is not told by how likely it was to be seen at all.

    >>> import polars as pl
    >>> from unskew.log import Log
    >>> day = pl.date_range(pl.date(2024, 2, 26), pl.date(2024, 3, 2), eager=True)
    >>> log = Log.from_frame(pl.DataFrame({"user": [1, 2, 1, 2, 1, 3], "item": [1, 1, 2, 2, 3, 3], "time": day}))
    >>> folds = SlidingWindow(width="1d", folds=4, min_users=1).splits(log)
    >>> for split in folds:
    ...     print(split.label, split.train_count, split.test.to_frame().select("user", "item").rows())
    2024-02-28 2 [(1, 2)]
    2024-02-29 3 [(2, 2)]
    2024-03-01 4 [(1, 3)]
    >>> folds.skipped[0].label, folds.skipped[0].reason
    ('2024-03-02', '0 users have both a past and a row in the window, and min_users is 1')
    """

    width: Duration = option("1d", Made(Duration.make, KINDS, "1d", named=True), "of a window")
    folds: int = option(30, Whole(1, 1000, "Every fold is a fit of its own."), "how many windows, the last one last")
    min_users: int = option(100, Whole(1, 2**31 - 1), "with a past and a present, or the window is skipped")
    history: Duration | str = option(
        EXPANDING, Made(_history, f"{EXPANDING}, or {KINDS}", "14d", named=True), "how far back to learn", changed=True
    )
    first_only: bool = option(False, Flag(), "judge only each user's first item in the window", changed=True)
    tz: str | None = option(None, Text(), "the time zone whose days and months are counted")
    until: int | str | None = option(
        None,
        Made(written_moment, "a date such as 2024-03-31, or a number", "2024-03-31", named=True),
        "where the last window ends, itself not included; else the last time",
    )

    name = "sliding_window"

    @property
    def question(self) -> str:
        """What models are asked."""
        return (
            f"At each point in time: what do users with a past do in the next {self.width}, from what was known then?"
        )

    def splits(self, log: Log) -> Splits:
        """One split per window that has enough users, in the order of time."""
        time = timed(a_log(log), "a sliding window")
        calendar = self._calendar(log, time)
        starts, end, since = self._edges(calendar, log, time)
        found = _judged(log, time, starts, end, since)
        if self.first_only:
            _keep_first(log, time, found)
        places = found.places()
        folds: list[Split] = []
        skipped: list[Skipped] = []
        last = int(time.max())
        for k, start in enumerate(starts.tolist()):
            after = int(starts[k + 1]) if k + 1 < len(starts) else end
            label, users = calendar.text(start), int(found.users[k])
            low = None if self.history == EXPANDING else int(since[k])
            window = Window(start, after, low, f"{label} to {self._end(calendar, after, last)}")
            if users < self.min_users or not found.train[k]:
                skipped.append(Skipped(label, self._reason(found, k), users, found.inside(k), window))
                continue
            folds.append(
                Split(
                    log,
                    Listed(places[k], len(log)),
                    None,
                    Between(time, low, start, int(found.train[k])),
                    label,
                    window,
                    users,
                    dict(found.left_out(k)),
                )
            )
        if not folds:
            raise self._nothing(log, skipped, calendar, time)
        return Splits(log, str(self), tuple(folds), tuple(skipped), tuple(self._notes(calendar, time, end)))

    def _calendar(self, log: Log, time: Ints64) -> Calendar:
        source = log.account.source
        calendar = Calendar.of(Clock.of(log, int(time.min()), int(time.max())), self.tz, source)
        calendar.check(self.width, "width", source, time)
        if isinstance(self.history, Duration):
            calendar.check(self.history, "history", source, time)
        return calendar

    def _edges(self, calendar: Calendar, log: Log, time: Ints64) -> tuple[Ints64, int, Ints64]:
        """Where the windows begin, where the last one ends, and from when on each is learnt from."""
        last = int(time.max())
        if self.until is not None:
            anchor = end = calendar.moment(self.until, log.account.source)
        elif calendar.whole_days(time):
            anchor = end = calendar.back(last, Duration(1, "d"), -1)
        else:
            anchor, end = last, last + 1
        starts = [calendar.back(anchor, self.width, k) for k in range(self.folds, 0, -1)]
        if isinstance(self.history, Duration):
            since = [calendar.back(start, self.history) for start in starts]
        else:
            since = [ALWAYS] * len(starts)
        edges = np.array([min(max(edge, ALWAYS), -ALWAYS - 1) for edge in (*starts, end, *since)])
        # where clocks change, a day before two local times may be the other way round
        return edges[: self.folds], int(edges[self.folds]), np.maximum.accumulate(edges[self.folds + 1 :])

    def _end(self, calendar: Calendar, end: int, last: int) -> str:
        """Where a window ends, for people; the last time of the log is inside the last window."""
        closed = self.until is None and end == last + 1
        return f"{calendar.text(last)} (included)" if closed else calendar.text(end)

    def _reason(self, found: _Judged, k: int) -> Notice:
        if not found.train[k]:
            return Notice("there is nothing to learn from before it", code="nothing-to-learn")
        if not found.inside(k):
            return Notice("no row falls into it", code="empty-window")
        number = int(found.users[k])
        who = "1 user has" if number == 1 else f"{number:,} users have"
        return Notice(
            f"{who} both a past and a row in the window, and min_users is {self.min_users:,}",
            code="few-users",
            users=number,
        )

    def _nothing(self, log: Log, skipped: list[Skipped], calendar: Calendar, time: Ints64) -> InputError:
        fullest = max(skipped, key=lambda window: window.users)
        return InputError(
            f"{log.account.source}: none of the {self.folds:,} windows of {self.width} has {self.min_users:,} users "
            f"with both a past and a row in the window: at most {fullest.users:,} (from {fullest.label} on).\n"
            f"{self._far(skipped, calendar, time)}{self._advice(log, calendar, time, fullest.users)}",
            code="few-users",
            users=fullest.users,
        )

    def _advice(self, log: Log, calendar: Calendar, time: Ints64, most: int) -> str:
        """What does find enough users in this log; ``most`` are those of the fullest window."""
        ways = []
        for other in self._others():
            starts, end, since = other._edges(calendar, log, time)
            found = _judged(log, time, starts, end, since)
            if full := int(np.count_nonzero((found.users >= self.min_users) & (found.train > 0))):
                ways.append(f"{other} ({full:,} {'fold' if full == 1 else 'folds'})")
                break
        if most >= FEWEST:
            ways.append(f"fewer users, {replace(self, min_users=most)}")
        ways.append("a single hold-out, holdout(share=0.3)")
        return f"Use {', or '.join(ways)}."

    def _others(self) -> Iterator[SlidingWindow]:
        """The same windows with all of the past to learn from, then wider ones."""
        if self.history != EXPANDING:
            yield replace(self, history=EXPANDING)
        amount, unit = self.width.amount, self.width.unit
        if unit in WIDER:
            wider = [Duration(1, each) for each in WIDER[WIDER.index(unit) + 1 :]]
        else:
            wider = [Duration(7 * amount), Duration(30 * amount)]
        for each in wider:
            yield replace(self, width=each, folds=min(self.folds, FOLDS))

    def _far(self, skipped: list[Skipped], calendar: Calendar, time: Ints64) -> str:
        """A sentence where the windows lie far behind all other rows, as a wrong time in the future has it."""
        start, end = present(skipped[0].window).start, present(skipped[-1].window).end
        before = time[time < start]
        if not len(before) or self.until is not None or int(before.max()) >= start - (end - start):
            return ""
        last = calendar.text(int(before.max()))
        return (
            f"Windows are counted back from the last time, {calendar.text(int(time.max()))}, and all but "
            f"{len(time) - len(before):,} of {len(time):,} rows lie before them, the last at {last}. If that last time "
            f"is wrong, fix it, or say where windows end: sliding_window(until={last[:10]}).\n"
        )

    def _notes(self, calendar: Calendar, time: Ints64, end: int) -> Iterator[str]:
        if calendar.clock.name.startswith("Unix"):
            yield Notice(f"The times are numbers, and were read as {calendar.clock.name}.", code="number-times")
        if after := int(np.count_nonzero(time >= end)):
            rows = "1 row is" if after == 1 else f"{after:,} rows are"
            yield Notice(
                f"{rows} not used: from {calendar.text(end)} on (until), nothing is.", code="unused-rows", rows=after
            )


class _Judged(NamedTuple):
    """The window in which each row is judged, and what was counted by window."""

    code: npt.NDArray[np.int16]
    tested: Ints64
    users: Ints64
    new_rows: Ints64
    new_users: Ints64
    train: Ints64
    later: Ints64

    def inside(self, k: int) -> int:
        """How many rows fall into a window."""
        return int(self.tested[k] + self.new_rows[k] + self.later[k])

    def places(self) -> list[Ints64]:
        """The rows that are judged in each window, by one counting sort."""
        rows = np.flatnonzero(self.code >= 0)
        order = rows[np.argsort(self.code[rows], kind="stable")]
        return np.split(order, np.cumsum(self.tested)[:-1])

    def left_out(self, k: int) -> Iterator[tuple[str, int]]:
        """Rows of a window that are not judged, by reason."""
        for reason, rows in ((NEW_USERS, self.new_rows), (LATER, self.later)):
            if rows[k]:
                yield reason, int(rows[k])


def _judged(log: Log, time: Ints64, starts: Ints64, end: int, since: Ints64) -> _Judged:
    folds = len(starts)
    code = np.empty(len(log), dtype=np.int16)
    tested, users, new_rows, new_users, later = np.zeros((5, folds), dtype=np.int64)
    entered, left = np.zeros((2, folds + 1), dtype=np.int64)
    judge(log.indptr, time, starts, end, since, code, tested, users, new_rows, new_users, entered, left)
    train = np.cumsum(entered - left)[:-1]
    return _Judged(code, tested, users, new_rows, new_users, train, later)


def _keep_first(log: Log, time: Ints64, found: _Judged) -> None:
    """Leave each user's first row of a window only; where several are the first, a hash draws one of them."""
    rows = np.flatnonzero(found.code >= 0)
    code, user = found.code[rows], log.user[rows]
    order = np.lexsort((draws(log, "first_only", 0, rows), time[rows], code, user))
    again = (np.diff(code[order], prepend=-1) == 0) & (np.diff(user[order], prepend=-1) == 0)
    dropped = order[again]
    found.later[:] = np.bincount(code[dropped], minlength=len(found.later))
    found.tested[:] -= found.later
    found.code[rows[dropped]] = -1


def sliding_window(
    log: Log,
    width: str | int | Duration = "1d",
    folds: int = 30,
    *,
    min_users: int = 100,
    history: str | int | Duration = EXPANDING,
    first_only: bool = False,
    tz: str | None = None,
    until: object = None,
) -> Splits:
    """Judge windows of time by what was known before: ``for train, test in sliding_window(log, "1w", 10)``.

    See ``SlidingWindow``.
    """
    asked = SlidingWindow(width, folds, min_users, history, first_only, tz, until)  # type: ignore[arg-type]  # kept or made
    return asked.splits(log)
