"""A shop over time: months of visits under several logging policies, and the truth about next week.

Users come for something (``visitors.py``), among items that are born, talked about, out of stock and gone
(``catalogue.py``). They see a page that one of the policies filled (``policies.py``) and find some items themselves
(``page.py``); what they look at *and* want becomes a row of the log, the first time only. Each night the policies learn
the log so far, so that what they showed comes back to them.

Nothing is built in for or against an evaluation. Visits are about one niche: a user's rows of one day are alike, and a
row that is taken out at random is easily told from those beside it, while tomorrow's visit is about something else.
What is in fashion is so for days, and a count over months does not see it. And who is shown the lists of item-kNN
clicks on what item-kNN lists. Which model would do best next week is known: ``ab_test``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from unskew import InputError
from unskew.core import COUNTLESS, Number, Whole, check, require
from unskew.log import Account, Feedback, Ids, Log, Recommendations
from unskew.models import Model
from unskew_papers.arrays import Bools, Codes, Ints64, starts_of
from unskew_papers.kernels import shop as kernel
from unskew_papers.shop.ab_test import ABTest, ab_test
from unskew_papers.shop.catalogue import Catalogue
from unskew_papers.shop.page import BROWSE, LONGER, glances, pages
from unskew_papers.shop.policies import POLICIES, Policy, Staff, check_policies
from unskew_papers.shop.rhythm import days_of, midnight
from unskew_papers.shop.rows import ShopRows, rows_of
from unskew_papers.shop.visitors import Visits, draw_intents

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ShopOverTime:
    """A shop whose log several policies wrote, and whose truth is known.

    Args:
        users: who come in the days of the log, whether or not they leave a row.
        items: that can be had at some time, in the log or in the days behind it.
        days: of the log; it begins on a Monday.
        seed: picks the world and all that happens in it.
        policies: name, model and share of users of each logging policy.
        places: of a page.
        search: items that a visitor finds without the page, on average.
        promoted: P(a place holds an item of the campaign instead of the list's).
        out_of_stock: share of items that are out of stock, on average.
        drift: days after which a taste has kept 37 % of itself.
        sharp: how much users differ in what their visits are about: the standard deviation of tastes; 0 is not at all.
        hype: how much more attention an item has in fashion.
        future: days behind the log for which the truth is known.
    """

    users: int = 4000
    items: int = 600
    days: int = 120
    seed: int = 0
    policies: tuple[Policy, ...] = POLICIES
    places: int = 20
    search: float = 5.0
    promoted: float = 0.1
    out_of_stock: float = 0.05
    drift: float = 30.0
    sharp: float = 3.0
    hype: float = 10.0
    future: int = 28

    def __post_init__(self) -> None:
        check(
            self,
            "shop over time",
            users=Whole(1, 100_000_000, COUNTLESS),
            items=Whole(2, 10_000_000, COUNTLESS),
            days=Whole(1, 3650, COUNTLESS),
            seed=Whole(0, 2**31 - 1),
            places=Whole(1, 1000, "Nobody looks further."),
            search=Number(low=0.0, high=20.0, why="Nobody searches that long."),
            promoted=Number(low=0.0, high=1.0),
            out_of_stock=Number(low=0.0, high=0.9, why="What is left would be no shop."),
            drift=Number(above=0.0, high=1e9),
            sharp=Number(low=0.0, high=100.0),
            hype=Number(low=0.0, high=1e6),
            future=Whole(0, 3650, COUNTLESS),
        )
        check_policies(self.policies)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All items on all days, those behind the log too."""
        days = self.days + self.future
        require(60 * days * self.items, "this shop", "Simulate fewer items, or fewer days.")
        return Catalogue.draw(self.items, days, self.out_of_stock, self.hype, self._rng(0))

    @cached_property
    def visits(self) -> Visits:
        """All visits on all days, those behind the log too."""
        days = self.days + self.future
        users = round(self.users * days / self.days)
        return Visits.draw(users, days, self.drift, self.sharp, self.catalogue, self._rng(1))

    @cached_property
    def policy_of(self) -> Ints64:
        """The policy that serves each user, by its place among the policies."""
        shares = np.cumsum([policy.share for policy in self.policies])
        draws = self._rng(2).random(len(self.visits.start) - 1)
        return np.searchsorted(shares[:-1], draws, side="right")

    @property
    def log(self) -> Log:
        """The log: user, item, time, policy, propensity; ``place`` on the page, 0 where the user found the item."""
        return self.simulate()

    @cached_property
    def ids(self) -> tuple[Ids, Ids]:
        """Users, also those who only come behind the log or leave no row, and items."""
        users = len(self.visits.start) - 1
        return Ids(pl.Series("id", np.arange(users))), Ids(pl.Series("id", np.arange(self.items)))

    def before(self, day: int) -> Log:
        """The rows before a day (0 is the first)."""
        return self.log.take(self._day_of(self.log) < day)

    def window(self, start: int, days: int = 1) -> Log:
        """The rows of some days."""
        day = self._day_of(self.log)
        return self.log.take((start <= day) & (day < start + days))

    def full_log(self, start: int, days: int = 1, draw: int = 0) -> Log:
        """All that visitors of some days want, as if they had looked at everything: the truth of recall and the like.

        Items that a user has had before ``start`` are left out. ``draw=0`` is what happened, so that the log of these
        days is a part of it; other numbers draw again what visits are about and what is wanted, of the same visitors.
        """
        visits = self.visits_of(start, days)
        intent = visits.intent
        if draw:
            intent = draw_intents(visits.user, visits.day, visits.taste, self.catalogue, self._number(4, draw))
        had, shelf, users, items = self.before(start), self.catalogue, *self.ids
        law = (shelf.niche, shelf.quality, shelf.impulse, shelf.attention, items.hashes)
        seed = np.uint64(self._number(3, draw))
        given = (visits.user, visits.day, intent, *law, had.indptr, had.item, seed)
        many = kernel.list_wants(*given, *(np.empty(0, dtype=np.int32) for _ in range(2)))
        user, item = np.empty(many, dtype=np.int32), np.empty(many, dtype=np.int32)
        kernel.list_wants(*given, user, item)
        pair = np.unique(user.astype(np.int64) * len(items) + item)
        counts = np.bincount(pair // len(items), minlength=len(users))
        account = Account("simulated", len(pair))
        wanted = (pair % len(items)).astype(np.int32)
        return Log(users, items, starts_of(counts), wanted, feedback=Feedback.IMPLICIT, account=account)

    def ab_test(
        self,
        candidates: Mapping[str, Recommendations | Model | str],
        start: int | None = None,
        days: int = 7,
        *,
        cuts: Sequence[int] = (5, 10, 15, 20),
    ) -> ABTest:
        """What an A/B test of these candidates would show, exactly: see ``ab_test.py``.

        Args:
            candidates: lists of each by name; a model that is not fitted yet, or its canonical string, is fitted on all
                rows before ``start``. Lists should be longer than a page: items that cannot be had are left out.
            start: the first of these days; by default the day behind the log.
            cuts: k of recall@k.
        """
        return ab_test(self, candidates, self.days if start is None else start, days, cuts)

    def visits_of(self, start: int, days: int = 1) -> Visits:
        """The visits of some days by users who have a row before them: those whom a sliding window can judge."""
        self._check_days(start, days)
        day = self.visits.day
        known = np.diff(self.before(start).indptr)[self.visits.user] > 0
        return self.visits.take((start <= day) & (day < start + days) & known)

    def simulate(self, progress: Progress | None = None) -> Log:
        """The log: the shop runs day by day, once; ``progress`` is told how many days are done, and of how many."""
        kept = vars(self)
        if "_log" not in kept:
            kept["_log"] = self._run(progress)
        log: Log = kept["_log"]
        return log

    def _run(self, progress: Progress | None) -> Log:
        visits, shelf, (users, items) = self.visits, self.catalogue, self.ids
        by_day = np.argsort(visits.day, kind="stable")
        ends = np.searchsorted(visits.day[by_day], np.arange(self.days + 1))
        user, day, intent = visits.user[by_day], visits.day[by_day], visits.intent[by_day]
        rows = ShopRows.empty(users, items, user)
        staff, known = Staff.of(self.policies), 0
        begin, seeds = midnight(day) + visits.begin[by_day], (self._number(5, 0), self._number(3, 0))
        law = (shelf.niche, shelf.order, shelf.start, shelf.quality)
        for today in range(self.days):
            so_far = rows.log()
            staff.learn(so_far, rows.log(since=known) if today else None)
            known = rows.count
            first, last = int(ends[today]), int(ends[today + 1])
            shown = self._pages(staff, so_far, user[first:last], shelf.attention[today] > 0.0)
            rows.reserve((last - first) * (self.places + 64))
            rows.count = kernel.serve(
                first, last, user, day, intent, shown, *law, shelf.impulse[today], shelf.attention[today],
                shelf.cumulative[today], items.hashes, shelf.campaign[today], shelf.campaigns[today],
                glances(self.places), self.promoted, self.search, BROWSE, begin, midnight(today + 1),
                *(np.uint64(seed) for seed in seeds), rows.head, rows.link, rows.visit, rows.item, rows.time,
                rows.place, rows.chance, rows.count,
            )  # fmt: skip
            if progress is not None:
                progress(today + 1, self.days)
        log, names = rows.log(), pl.Series([policy.name for policy in self.policies])
        return replace(log, policy=names[self.policy_of[log.user]].alias("policy"))

    def _pages(self, staff: Staff, so_far: Log, user: Codes, available: Bools) -> Codes:
        """What the policies show the visitors of a day: the places of the page, −1 where one stays empty."""
        shown = np.full((len(user), self.places), -1, dtype=np.int32)
        for number, policy in enumerate(self.policies):
            mine = np.flatnonzero(self.policy_of[user] == number)
            if len(mine):
                history = rows_of(so_far, user[mine])
                for some, lists in staff.lists(policy.model, history, LONGER * self.places):
                    shown[mine[some]] = pages(lists, available, self.places)
        return shown

    def _day_of(self, log: Log) -> Ints64:
        assert log.time is not None
        return days_of(log.time)

    def _check_days(self, start: int, days: int) -> None:
        last = self.days + self.future
        if start < 0 or days < 1 or start + days > last:
            raise InputError(
                f"day {start} to {start + days - 1} is not in this shop: it has the days 0 to {last - 1}, the log ends "
                f"with day {self.days - 1}.\nTake other days, or a shop with a longer future.",
                code="out-of-range",
            )

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([self.seed, purpose]))

    def _number(self, purpose: int, draw: int) -> int:
        return int(np.random.SeedSequence([self.seed, purpose, draw]).generate_state(1, np.uint64)[0])
