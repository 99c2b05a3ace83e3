"""A small shop over time, and slow references of its laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from unskew_papers.arrays import Floats
from unskew_papers.shop import ShopOverTime
from unskew_papers.shop.page import BROWSE


@cache
def small_shop() -> ShopOverTime:
    """Ten weeks and two more; 3,000 users, 720 items in 18 niches."""
    return ShopOverTime(users=3000, items=720, days=70, future=14, seed=1)


@cache
def keen_shop() -> ShopOverTime:
    """A shop in which 60 % of what can be had is wanted by anybody, so that items are often had meanwhile."""
    shop = ShopOverTime(users=1500, items=720, days=70, future=14, seed=2)
    shelf = shop.catalogue
    vars(shop)["catalogue"] = shelf._replace(impulse=np.where(shelf.attention > 0.0, 0.6, 0.0))
    return shop


@cache
def attention_sums(shop: ShopOverTime, day: int, niche: int) -> Floats:
    """Sums of the attention of items 0 … i, of one niche or (−1) of all."""
    weight = shop.catalogue.attention[day] * (1.0 if niche < 0 else shop.catalogue.niche == niche)
    return np.asarray(np.cumsum(weight))


@cache
def intent_sums(shop: ShopOverTime, visit: int) -> Floats:
    """Sums of the chances of niches 0 … g."""
    return np.asarray(np.cumsum(chances_of_intents(shop, visit)))


def chances_of_intents(shop: ShopOverTime, visit: int) -> Floats:
    """P(a visit is about each niche), straight from the law."""
    shelf, visits = shop.catalogue, shop.visits
    value = np.exp(shelf.season[visits.day[visit]] + shelf.taste @ visits.taste[visit])
    return np.asarray(value / value.sum())


def look(shop: ShopOverTime, day: int, niche: int, page: Sequence[int], rng: np.random.Generator) -> list[int]:
    """Items looked at in one visit: those of the page first, each −(item + 1), then those that are found."""
    campaign = shop.catalogue.campaign[day, : shop.catalogue.campaigns[day]].tolist()
    seen = []
    for place, (by_campaign, which, looks) in enumerate(rng.random((shop.places, 3)).tolist()):
        item = page[place] if place < len(page) else None
        if campaign and by_campaign < shop.promoted:
            item = campaign[int(which * len(campaign))]
        if item is not None and looks < (place + 1) ** -0.3:
            seen.append(-item - 1)
    for _ in range(rng.poisson(shop.search)):
        sums = attention_sums(shop, day, -1 if rng.random() < BROWSE else niche)
        if sums[-1] > 0.0:
            seen.append(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")))
    return seen


def page_of(shop: ShopOverTime, visit: int, history: set[int], listed: Sequence[int]) -> list[int]:
    """The items of a list that can be had at a visit and were not had before, as far as there are places."""
    there = shop.catalogue.attention[shop.visits.day[visit]] > 0.0
    return [item for item in listed if there[item] and item not in history][: shop.places]


def clicks_of_a_user(
    shop: ShopOverTime, pages: Mapping[int, list[int]], history: set[int], rng: np.random.Generator
) -> int:
    """Clicks on the pages of some visits of one user, drawn event by event."""
    shelf, had, clicks = shop.catalogue, set(history), 0
    for visit, page in pages.items():
        day = int(shop.visits.day[visit])
        niche = min(int(np.searchsorted(intent_sums(shop, visit), rng.random(), side="right")), len(shelf.taste) - 1)
        wants: dict[int, bool] = {}
        for seen in look(shop, day, niche, page, rng):
            item = -seen - 1 if seen < 0 else seen
            chance = shelf.quality[item] if shelf.niche[item] == niche else shelf.impulse[day, item]
            if item not in wants:
                wants[item] = bool(rng.random() < chance)
            if wants[item] and item not in had:
                had.add(item)
                clicks += seen < 0
    return clicks


def expected_clicks(shop: ShopOverTime, pages: Mapping[int, list[int]], history: set[int]) -> float:
    """The expected value of the same, item by item and intent by intent."""
    shelf, total = shop.catalogue, 0.0
    for item in set(range(shop.items)) - history:
        left = 1.0
        for visit, page in pages.items():
            day = int(shop.visits.day[visit])
            if shelf.attention[day, item] == 0.0:
                continue
            campaign = shelf.campaign[day, : shelf.campaigns[day]].tolist()
            share = shop.promoted if campaign else 0.0
            missed = 1.0
            for place in range(shop.places):
                shown = (1.0 - share) * (page[place : place + 1] == [item])
                shown += share * (item in campaign) / max(1, len(campaign))
                missed *= 1.0 - (place + 1) ** -0.3 * shown
            clicked = gone = 0.0
            for niche, chance in enumerate(chances_of_intents(shop, visit).tolist()):
                mine = shelf.niche[item] == niche
                wanted = shelf.quality[item] if mine else shelf.impulse[day, item]
                rate = BROWSE / attention_sums(shop, day, -1)[-1]
                rate += (1.0 - BROWSE) / attention_sums(shop, day, niche)[-1] if mine else 0.0
                unfound = np.exp(-shop.search * rate * shelf.attention[day, item])
                clicked += chance * wanted * (1.0 - missed)
                gone += chance * wanted * (1.0 - missed * unfound)
            total += left * clicked
            left *= 1.0 - gone
    return total


def lists_by_user(frame: object) -> Mapping[int, list[int]]:
    """Lists as Python knows them."""
    found: dict[int, list[int]] = {}
    for user, item, _ in frame.sort("user", "rank").iter_rows():  # type: ignore[attr-defined]
        found.setdefault(user, []).append(item)
    return found
