"""What there is to buy: items in niches, born and gone, in stock and out of it, talked about for some days.

    lifetime    exponential; the shop opens with as many items as it keeps from then on, on average
    attention   a_i(d) = size_i · (floor + exp(−age/fading) + hype · trend_i(d)) while the item can be had, else 0
    trend       now and then an item is in fashion: it begins at a height in (0, 1] and fades, e-fold in four days
    wanted      by a visitor who looks for its niche with P = quality_i; by anybody else with P = impulse · trend_i(d)
    stock       an item that can be had runs out with P = out a day, and comes back after 1/back days on average
    campaign    each Monday some items are chosen, evenly, whose places on pages are paid for

Nothing here depends on what users do: the catalogue is the same whatever the shop shows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unskew_papers.arrays import Bools, Codes, Floats, Ints64, starts_of

PER_NICHE = 40  # items of a niche, over all times
TASTES = 6  # dimensions of taste
SEASON = 0.7  # height of the seasons of niches
SEASON_DAYS = (60.0, 360.0)  # length of a season's wave
LIFE = 150.0  # days that an item can be had, on average
SIZE = 1.0  # standard deviation of log size
FADING, FLOOR = 14.0, 0.3
IMPULSE = 0.2
TREND_EVERY, TREND_FADING, LEAST_TREND = 500.0, 4.0, 0.05
BACK = 0.2  # P(an item comes back into stock) a day


class Catalogue(NamedTuple):
    """Items (i), niches (g) and days (d).

    Args:
        niche: of each item; ``order`` lists them by niche, those of g at ``start[g]`` … ``start[g + 1] − 1``.
        taste: [g, j], by which users find niches to their liking, and ``season``: [d, g].
        born, gone: the first day on which an item can be had, and the first on which it cannot any more.
        attention: [d, i], 0 where an item cannot be had; ``cumulative``: [d, ·] its sums in the order of niches.
        impulse: [d, i], P(wanted) outside the niche.
        campaign: [d, ·] the items of the day's campaign that can be had, ``campaigns[d]`` of them, −1 behind.
    """

    niche: Codes
    order: Codes
    start: Ints64
    taste: Floats
    season: Floats
    quality: Floats
    born: Ints64
    gone: Ints64
    attention: Floats
    cumulative: Floats
    impulse: Floats
    campaign: Codes
    campaigns: Ints64

    @classmethod
    def draw(cls, items: int, days: int, out_of_stock: float, hype: float, rng: np.random.Generator) -> Catalogue:
        """A catalogue of so many items over so many days; ``out_of_stock`` is the share that is out on average."""
        niches = max(2, items // PER_NICHE)
        niche = rng.permutation(np.arange(items, dtype=np.int32) % niches)
        order = np.argsort(niche, kind="stable").astype(np.int32)
        born, gone = _lives(items, days, rng)
        day = np.arange(days)[:, None]
        alive = (born <= day) & (day < gone)
        available = alive & _in_stock(alive, out_of_stock, rng)
        trend = _trends(items, days, rng)
        size = np.exp(SIZE * rng.standard_normal(items))
        age = np.maximum(day - born, 0)
        attention = np.where(available, size * (FLOOR + np.exp(-age / FADING) + hype * trend), 0.0)
        cumulative = np.zeros((days, items + 1))
        np.cumsum(attention[:, order], axis=1, out=cumulative[:, 1:])
        length = rng.uniform(*SEASON_DAYS, niches)
        wave = SEASON * np.sin(2.0 * np.pi * (day / length + rng.random(niches)))
        return cls(
            niche,
            order,
            starts_of(np.bincount(niche, minlength=niches)),
            rng.standard_normal((niches, TASTES)),
            wave,
            rng.beta(2.0, 4.0, items),
            born,
            gone,
            attention,
            cumulative,
            np.where(available, IMPULSE * trend, 0.0),
            *_campaigns(available, max(1, items // 350), rng),
        )


def _lives(items: int, days: int, rng: np.random.Generator) -> tuple[Ints64, Ints64]:
    """First day, and first day after the last; as many die as are born, on average."""
    there = rng.random(items) < LIFE / (LIFE + days)
    born = np.where(there, -np.ceil(rng.exponential(LIFE, items)), rng.integers(0, days, items))
    left = 1 + np.floor(rng.exponential(LIFE, items))
    return born.astype(np.int64), (np.maximum(born, 0) + left).astype(np.int64)


def _in_stock(alive: Bools, share: float, rng: np.random.Generator) -> Bools:
    """A chain with two states for each item: in stock, out of it."""
    out = min(1.0, BACK * share / (1.0 - share))
    stock = np.empty(alive.shape, dtype=np.bool_)
    now = np.asarray(rng.random(alive.shape[1]) >= share)
    for day in range(len(alive)):
        draw = rng.random(alive.shape[1])
        now = np.where(now, draw >= out, draw < BACK)
        stock[day] = now
    return stock


def _trends(items: int, days: int, rng: np.random.Generator) -> Floats:
    """[d, i]: how much an item is in fashion; beginnings are a Poisson process."""
    begin: npt.NDArray[np.int64] = np.flatnonzero(rng.random(items * days) < 1.0 / TREND_EVERY)
    height = rng.random(len(begin))
    trend = np.zeros((days, items))
    for at, high in zip(begin.tolist(), height.tolist(), strict=True):
        first, item = divmod(at, items)
        course = high * np.exp(-np.arange(days - first) / TREND_FADING)
        course[course < LEAST_TREND] = 0.0
        trend[first:, item] = np.maximum(trend[first:, item], course)
    return trend


def _campaigns(available: Bools, many: int, rng: np.random.Generator) -> tuple[Codes, Ints64]:
    """Of each day the items of this week's campaign that can be had."""
    days = len(available)
    campaign, counts = np.full((days, many), -1, dtype=np.int32), np.zeros(days, dtype=np.int64)
    chosen = np.empty(0, dtype=np.int64)
    for day in range(days):
        if day % 7 == 0:
            there = np.flatnonzero(available[day])
            chosen = rng.choice(there, min(many, len(there)), replace=False)
        now = chosen[available[day, chosen]]
        campaign[day, : len(now)], counts[day] = now, len(now)
    return campaign, counts
