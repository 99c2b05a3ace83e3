"""What an A/B test of several recommenders would show: expected values, without the test.

Each user who comes in these days and has a row before them (the users whom a sliding window can judge) is shown every
candidate's list, in worlds that are the same otherwise. Visits and tastes are those of the shop; what visits are about,
what is looked at, found and wanted is integrated out, so that values are exact for these visitors: no Monte Carlo.

    clicks      per user: expected clicks on the pages of these days. The page is the list without items that cannot be
                had that day or were had before, cut at the places of the page, with the campaign's share of places; an
                item is clicked once, and not any more once it was found otherwise (``kernels/shop.py: page_clicks``)
    recall@k    pooled: of the items that the users are expected to want in these days, had ones left out, the share
                that is at the ranks 1 … k of their lists: Σ_u Σ_{i in list} P(wanted) / Σ_u Σ_i P(wanted)

The lists stay the same for all of these days. Recall averaged over users, or any other metric, is its naive value on
draws of ``full_log``. Errors are those of the users as a sample, as of an A/B test in which each user is in all groups:
how far other visitors would move the value. The ratio's is that of the linearised ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unskew import InputError
from unskew.core import require
from unskew.log import Ids, Recommendations
from unskew.models import Model, make
from unskew_papers.arrays import Floats, Ints64
from unskew_papers.kernels import shop as kernel
from unskew_papers.shop.page import BROWSE, LONGER, glances
from unskew_papers.shop.visitors import Visits

if TYPE_CHECKING:
    from unskew_papers.shop.shop import ShopOverTime

Candidate = Recommendations | Model | str


@dataclass(frozen=True, eq=False)
class ABTest:
    """Expected values of candidates, for each user who came.

    Args:
        users: who came and have a past, in the order of the arrays.
        visits: how often.
        wanted: items that each is expected to want.
        clicks: by candidate, for each user.
        in_list: by candidate, [user, cut]: wanted items at the ranks 1 … cut.
        without_list: by candidate, users of whom it has no list: their pages hold the campaign only.
    """

    users: Ids
    visits: Ints64
    wanted: Floats
    cuts: tuple[int, ...]
    clicks: Mapping[str, Floats]
    in_list: Mapping[str, Floats]
    without_list: Mapping[str, int]

    def table(self) -> pl.DataFrame:
        """One row per candidate, most clicks first: value and standard error of clicks per user and of recalls."""
        rows = []
        for name, clicks in self.clicks.items():
            row: dict[str, object] = {"model": name, "clicks": float(clicks.mean()), "clicks_error": _error(clicks)}
            for column, cut in enumerate(self.cuts):
                row[f"recall@{cut}"], row[f"recall@{cut}_error"] = self._recall(name, column)
            rows.append({**row, "clicks_per_visit": float(clicks.sum() / self.visits.sum())})
        return pl.DataFrame(rows).sort("clicks", descending=True, maintain_order=True)

    def difference(self, one: str, other: str, metric: str = "clicks") -> tuple[float, float]:
        """How much one candidate is ahead of another, and its standard error; the same users see both."""
        if metric == "clicks":
            values = self.clicks[one] - self.clicks[other]
            return float(values.mean()), _error(values)
        names = [f"recall@{cut}" for cut in self.cuts]
        if metric not in names:
            raise InputError(f"there is no '{metric}' here: ask for clicks or {', '.join(names)}.", code="unknown-name")
        column = names.index(metric)
        return self._ratio((self.in_list[one] - self.in_list[other])[:, column])

    def _recall(self, name: str, column: int) -> tuple[float, float]:
        return self._ratio(self.in_list[name][:, column])

    def _ratio(self, part: Floats) -> tuple[float, float]:
        value = float(part.sum() / self.wanted.sum())
        return value, _error((part - value * self.wanted) / self.wanted.mean())


def ab_test(
    shop: ShopOverTime, candidates: Mapping[str, Candidate], start: int, days: int, cuts: Sequence[int]
) -> ABTest:
    """Expected values of candidates in some days of a shop; the arguments are those of ``ShopOverTime.ab_test``."""
    if not candidates:
        raise InputError(
            "an A/B test needs candidates: {'popular': 'most_popular', 'mine': lists}.",
            code="missing-argument",
            argument="candidates",
        )
    visits, before, (users, items) = shop.visits_of(start, days), shop.before(start), shop.ids
    came = np.flatnonzero(np.diff(visits.start))
    if not len(came):
        raise InputError(
            f"nobody with a row before day {start} comes in these {days} days: take later or more days.",
            code="no-common-users",
        )
    starts, who = visits.start[np.append(came, len(users))], Ids(users.values.gather(came))
    shelf = shop.catalogue
    law = (shelf.quality, shelf.impulse, shelf.attention)
    chances = _intent_chances(shop, visits)
    common = (starts, visits.user, visits.day, chances, shelf.niche, *law, before.indptr, before.item)
    wanted = np.empty(len(came))
    kernel.wanted_items(*common, wanted)
    clicks: dict[str, Floats] = {}
    in_list: dict[str, Floats] = {}
    without: dict[str, int] = {}
    for name, candidate in candidates.items():
        if not isinstance(candidate, Recommendations):
            model = make(candidate).fit(before) if isinstance(candidate, str) else candidate
            fitted = model if model.items_ is not None else model.copy().fit(before)
            candidate = fitted.recommend(who, max(LONGER * shop.places, *cuts), seen=before)
        lists = candidate.recode(who, items)
        without[name] = int(np.count_nonzero(np.diff(lists.indptr) == 0))
        clicks[name], in_list[name] = np.empty(len(came)), np.empty((len(came), len(cuts)))
        kernel.page_clicks(
            starts, visits.user, visits.day, chances, lists.indptr, lists.item, shelf.niche, shelf.start, *law,
            shelf.cumulative, before.indptr, before.item, shelf.campaign, shelf.campaigns, glances(shop.places),
            shop.promoted, shop.search, BROWSE, clicks[name],
        )  # fmt: skip
        places = (lists.indptr, lists.item, lists.rank, np.array(cuts, dtype=np.int64))
        kernel.wanted_in_lists(*common, *places, in_list[name])
    return ABTest(who, np.diff(starts), wanted, tuple(cuts), clicks, in_list, without)


def _intent_chances(shop: ShopOverTime, visits: Visits) -> Floats:
    """[v, g]: what each visit may be about."""
    shelf = shop.catalogue
    require(8 * len(visits.user) * len(shelf.taste), "this A/B test", "Take fewer days.")
    chances = np.empty((len(visits.user), len(shelf.taste)))
    kernel.all_intent_chances(visits.day, visits.taste, shelf.season, shelf.taste, chances)
    return chances


def _error(values: Floats) -> float:
    """Standard error of a mean over users."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
