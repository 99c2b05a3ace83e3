"""The shop over time keeps its promises: who comes when, what there is, who is shown what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.said import refuses

from papers.tests.shops import lists_by_user, look, small_shop
from unskew.log import Ids
from unskew.models import make
from unskew_papers.kernels import shop as kernel
from unskew_papers.shop import Policy, ShopOverTime
from unskew_papers.shop import catalogue as law_of_items
from unskew_papers.shop.page import BROWSE, glances
from unskew_papers.shop.rhythm import HOURS, WEEK, days_of


def within(counts: object, chances: object, sd: float = 4.0) -> bool:
    """Whether counts are those of a multinomial: χ² within so many standard deviations of its mean."""
    counts, chances = np.asarray(counts, dtype=float), np.asarray(chances, dtype=float)
    expect = counts.sum() * chances / chances.sum()
    freedom = len(counts) - 1
    return bool(((counts - expect) ** 2 / expect).sum() < freedom + sd * np.sqrt(2 * freedom))


def test_policies_serve_their_shares_of_users() -> None:
    """25, 25 and 50 % of the users, each by one policy, which is what the log says."""
    shop = small_shop()
    assert within(np.bincount(shop.policy_of), [0.25, 0.25, 0.5])
    by_user = shop.log.to_frame().group_by("user").agg(pl.col("policy").unique())
    assert (by_user["policy"].list.len() == 1).all()
    names = [policy.name for policy in shop.policies]
    code = by_user["policy"].list.first().replace_strict(names, range(3)).to_numpy()
    assert (code == shop.policy_of[by_user["user"].to_numpy()]).all()


def test_days_and_hours_have_their_rhythm() -> None:
    """Arrivals follow the week, visits the hours of the day; rows are of the day of their visit, in order."""
    shop = ShopOverTime(users=40_000, items=50, days=70, future=0)
    visits = shop.visits
    assert within(np.bincount(visits.day[visits.start[:-1]] % 7), WEEK)
    assert within(np.bincount(visits.begin // 3_600_000_000, minlength=24), HOURS)
    frame = small_shop().log.to_frame()
    came = set(zip(small_shop().visits.user.tolist(), small_shop().visits.day.tolist(), strict=True))
    days = days_of(frame["time"].cast(pl.Int64).to_numpy())
    assert set(zip(frame["user"].to_list(), days.tolist(), strict=True)) <= came
    assert days.min() == 0 and days.max() == 69 and frame["time"].min().weekday() == 0  # type: ignore[union-attr]
    assert frame.select("user", "item").is_unique().all()


def test_items_are_born_and_die() -> None:
    """As many as are born go, lifetimes have their mean, and rows are of items that could be had."""
    shop, life = ShopOverTime(users=10, items=20_000, days=100, future=0), law_of_items.LIFE
    shelf = shop.catalogue
    lived = shelf.gone - np.maximum(shelf.born, 0)
    mean = 1.0 + 1.0 / np.expm1(1.0 / life)  # of 1 + ⌊exponential⌋
    assert abs(lived.mean() - mean) < 4 * lived.std() / np.sqrt(len(lived))
    alive = (shelf.born <= np.arange(100)[:, None]) & (np.arange(100)[:, None] < shelf.gone)
    share = life / (life + 100)
    assert (np.abs(alive.mean(axis=1) - share) < 0.01 + 4 * np.sqrt(share / 20_000)).all()
    assert not (shelf.attention[~alive] > 0.0).any()
    rows = small_shop().log
    assert rows.time is not None
    assert (small_shop().catalogue.attention[days_of(rows.time), rows.item] > 0.0).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4])
def test_a_share_of_items_is_out_of_stock(share: float) -> None:
    """On average over items and days; spells last days, so that they are about a tenth as many draws."""
    shelf = ShopOverTime(users=10, items=3000, days=200, future=0, out_of_stock=share).catalogue
    alive = (shelf.born <= np.arange(200)[:, None]) & (np.arange(200)[:, None] < shelf.gone)
    out = alive & (shelf.attention == 0.0)
    assert abs(out.sum() / alive.sum() - share) <= 4 * np.sqrt(share * (1 - share) / (0.05 * alive.sum()))


def test_tastes_drift() -> None:
    """After g days a taste has kept exp(−g/drift) of itself: the mean product of two visits of a user."""
    shop = ShopOverTime(users=40_000, items=50, days=100, drift=20.0)
    visits = shop.visits
    pair = np.flatnonzero(visits.user[1:] == visits.user[:-1])
    gap = visits.day[pair + 1] - visits.day[pair]
    unit = visits.taste / np.sqrt((visits.taste**2).mean())
    product = (unit[pair] * unit[pair + 1]).mean(axis=1)
    for low, high in ((1, 3), (5, 10), (20, 40)):
        some = (low <= gap) & (gap < high)
        error = product[some].std() / np.sqrt(some.sum())
        assert abs(product[some].mean() - np.exp(-gap[some] / 20.0).mean()) < 4 * error


def test_users_differ_and_fashion_counts_as_much_as_is_asked() -> None:
    """``sharp`` scales tastes, at 0 everybody's visits are about the season's niches; ``hype`` adds to attention."""
    shop = ShopOverTime(users=20_000, items=400, days=30, future=0)
    blunt, keen, dull = replace(shop, sharp=0.0), replace(shop, sharp=6.0), replace(shop, hype=0.0)
    assert np.allclose(keen.visits.taste, 2.0 * shop.visits.taste) and not blunt.visits.taste.any()
    some = blunt.visits.day == 10
    assert within(np.bincount(blunt.visits.intent[some], minlength=10), np.exp(shop.catalogue.season[10]))
    assert not within(np.bincount(keen.visits.intent[some], minlength=10), np.exp(shop.catalogue.season[10]))
    more = shop.catalogue.attention - dull.catalogue.attention
    in_fashion = (shop.catalogue.impulse > 0.0) & (shop.catalogue.attention > 0.0)
    assert (more[in_fashion] > 0.0).all() and not more[~in_fashion].any()


@pytest.mark.parametrize("promoted", [0.0, 0.3])
def test_items_are_looked_at_as_often_as_propensities_say(promoted: float) -> None:
    """20,000 visits with the same page, where everything is wanted: every frequency within 4.5 sd of the propensity.

    The same page event by event, by the slow reference, looks at items as often.
    """
    shop, day, niche, many = replace(small_shop(), promoted=promoted), 30, 4, 20_000
    shelf = shop.catalogue
    there = np.flatnonzero(shelf.attention[day] > 0.0)
    campaign = shelf.campaign[day, : shelf.campaigns[day]]
    page = np.r_[campaign[:1], np.setdiff1d(there, campaign)[:11]].astype(np.int32)
    lists = np.full((many, shop.places), -1, dtype=np.int32)
    lists[:, : len(page)] = page
    room, ones = many * 84, np.ones(shop.items)
    rows = [np.empty(room, kind) for kind in (np.int64, np.int32, np.int64, np.int32, np.float64)]
    count = kernel.serve(
        0, many, np.arange(many, dtype=np.int32), np.full(many, day), np.full(many, niche, dtype=np.int32), lists,
        shelf.niche, shelf.order, shelf.start, ones, ones, shelf.attention[day], shelf.cumulative[day],
        shop.ids[1].hashes, shelf.campaign[day], shelf.campaigns[day], glances(shop.places), promoted, shop.search,
        BROWSE, np.zeros(many, np.int64), 10**12, np.uint64(5), np.uint64(6), np.full(many, -1),
        np.empty(room, np.int64), *rows, 0,
    )  # fmt: skip
    item, chance = rows[1][:count], rows[4][:count]
    times = np.bincount(item, minlength=shop.items)
    p = np.zeros(shop.items)
    p[item] = chance
    assert (chance == p[item]).all()  # an item has one
    often = p * many > 10
    assert often.sum() > 30
    assert (np.abs(times - many * p)[often] <= 4.5 * np.sqrt(many * p * (1 - p))[often]).all()
    rng, slow = np.random.default_rng(0), np.zeros(shop.items)
    for _ in range(1500):
        slow[[*{-seen - 1 if seen < 0 else seen for seen in look(shop, day, niche, page.tolist(), rng)}]] += 1
    often = p * 1500 > 10
    assert (np.abs(slow - 1500 * p)[often] <= 4.5 * np.sqrt(1500 * p * (1 - p))[often]).all()


def test_weights_count_what_is_wanted() -> None:
    """Day by day, Σ 1/P over the rows is the number of wanted pairs, of each policy and over all (4 sd).

    Of what is wanted in the niche that a visit is about: what others want on impulse is seldom looked at, and few rows
    with tiny propensities would decide.
    """
    shop = small_shop()
    shelf, visits = shop.catalogue, shop.visits
    about = {
        (u, d): g for u, d, g in zip(visits.user.tolist(), visits.day.tolist(), visits.intent.tolist(), strict=True)
    }
    weight, spread, wanted = np.zeros(3), np.zeros(3), np.zeros(3)
    for day in range(20, 70):
        full, seen = shop.full_log(day), shop.window(day)
        past = np.diff(shop.before(day).indptr) > 0
        for log, real in ((full, False), (seen, True)):
            inside = np.array(
                [about[u, day] == g for u, g in zip(log.user.tolist(), shelf.niche[log.item], strict=True)]
            )
            inside &= past[log.user]
            policy = shop.policy_of[log.user[inside]]
            if real:
                assert log.propensity is not None
                p = log.propensity[inside]
                weight += np.bincount(policy, weights=1 / p, minlength=3)
                spread += np.bincount(policy, weights=(1 - p) / p**2, minlength=3)
            else:
                wanted += np.bincount(policy, minlength=3)
        pairs = set(zip(full.user.tolist(), full.item.tolist(), strict=True))
        known = past[seen.user]
        assert set(zip(seen.user[known].tolist(), seen.item[known].tolist(), strict=True)) <= pairs
    assert (np.abs(weight - wanted) < 4 * np.sqrt(spread)).all()
    assert abs(weight.sum() - wanted.sum()) < 4 * np.sqrt(spread.sum()) < 0.2 * wanted.sum()


@pytest.mark.parametrize("day", [1, 33, 60])
def test_pages_hold_what_the_policy_lists(day: int) -> None:
    """A click on place r is on the r-th item that can be had of the model's list, or on one of the campaign.

    The models are fitted on all rows before the day; who has none gets the most popular items.
    """
    shop = small_shop()
    before, shelf = shop.before(day), shop.catalogue
    rows = shop.window(day).to_frame().filter(pl.col("place") > 0)
    known = set(before.to_frame()["user"])
    users = Ids.of(rows["user"])
    lists = {
        policy.name: lists_by_user(make(policy.model).fit(before).recommend(users, 80, seen=before).to_frame())
        for policy in shop.policies
    }
    campaign, listed = set(shelf.campaign[day, : shelf.campaigns[day]].tolist()), 0
    for user, item, policy, place in rows.select("user", "item", "policy", "place").iter_rows():
        mine = lists[policy if user in known else "popular"][user]
        page = [each for each in mine if shelf.attention[day, each] > 0.0]
        assert page[place - 1] == item or item in campaign
        listed += page[place - 1] == item
    assert listed > 0.8 * len(rows) > 5


def test_mistakes_are_told() -> None:
    """Shares that do not add up, names that come twice, days that are not there."""
    with refuses("bad-value"):
        ShopOverTime(policies=(Policy("a", "random", 0.5),))
    with refuses("duplicate-name"):
        ShopOverTime(policies=(Policy("a", "random", 0.5), Policy("a", "most_popular", 0.5)))
    for option in ("search", "sharp", "hype"):
        with refuses("out-of-range", option=option):
            ShopOverTime(**{option: -1.0})  # type: ignore[arg-type]
    shop = ShopOverTime(users=200, items=40, days=10, future=7)
    with refuses("out-of-range"):
        shop.ab_test({"popular": "most_popular"}, 11)
    with refuses("no-common-users"):
        shop.ab_test({"popular": "most_popular"}, 0)
    with refuses("missing-argument", argument="candidates"):
        shop.ab_test({})
