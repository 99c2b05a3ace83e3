"""Loggers whose column is what it should be: the chance that this user was shown this item in the period at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

import unskew as us

from .column_worlds import (
    ITEMS,
    RELEVANT,
    USERS,
    Bools,
    World,
    at_random,
    draw,
    like,
    mark,
    relevance,
    shown_in_requests,
    sigmoid,
    taste,
    top,
)
from .verdict_worlds import Floats, Random

MOST_VISITS = 15


def compare(
    rng: Random,
    lift: float,
    seen: Bools,
    p: Floats,
    score: Floats,
    *,
    rate: float = RELEVANT,
    known: Bools | None = None,
) -> World:
    """List a resembles the logger, list b holds any items; b is the better one if there is a lift.

    ``known`` pairs stand in a training log, and in no list.
    """
    a, b = like(rng, np.broadcast_to(score, seen.shape)), at_random(rng, seen.shape, known)
    relevant = relevance(rng, a, b, seen.shape[1], lift, rate)
    return World(seen, relevant, np.broadcast_to(p, seen.shape), a, b)


def personal(rng: Random, lift: float) -> World:
    """Each pair is shown by itself, with a personal chance between .05 and .9."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, lift, draw(rng, p), p, score)


def by_item(rng: Random, lift: float) -> World:
    """Each pair is shown by itself, with a chance between .05 and .9 that is the item's."""
    score = np.tile(rng.standard_normal(ITEMS), (USERS, 1))
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, lift, draw(rng, p), p, score)


def greedy_or_not(rng: Random, lift: float) -> World:
    """Places are filled by a greedy choice or, with ε = .4, by any item; P is that of ever being shown, exactly."""
    slots, items, epsilon = 6, 60, 0.4
    score = taste(rng, USERS, items)
    choice, visits = top(score, slots), rng.integers(1, 7, USERS)
    seen = shown_in_requests(rng, choice, visits, epsilon, items)
    other = 1.0 - epsilon / items
    chosen = epsilon * (1.0 - 1.0 / items) * other ** (slots - 1)
    never = np.where(mark(choice, items), chosen, other**slots)
    p = np.asarray(1.0 - never ** visits[:, None], dtype=np.float64)
    return compare(rng, lift, seen, p, score)


def arms(rng: Random, lift: float) -> World:
    """Half of the users are served by one stochastic policy, half by another; P is that of the user's own one."""
    score = taste(rng)
    p = np.where(rng.random((USERS, 1)) < 0.5, 0.03 + 0.9 * sigmoid(3.0 * score), 0.2)
    return compare(rng, lift, draw(rng, p), p, score)


def thompson(rng: Random, lift: float) -> World:
    """Thompson sampling over five days, learning from its clicks; P by 4,000 draws from each day's beliefs."""
    items, slots, days, draws = 40, 5, 5, 4_000
    visits = rng.poisson(0.8, (USERS, days))
    clicks, shows = rng.binomial(150, 0.06, items) + 1.0, np.full(items, 152.0)
    a, b = like(rng, np.tile(50.0 * clicks / shows, (USERS, 1))), at_random(rng, (USERS, items))
    relevant = relevance(rng, a, b, items, lift)
    seen, never = np.zeros((USERS, items), dtype=np.bool_), np.ones((USERS, items))
    for day in range(days):
        mean, spread = clicks / shows, np.sqrt(clicks * (shows - clicks) / shows**3)
        page = top(mean + spread * rng.standard_normal((draws, items)), slots)
        never *= (1.0 - (np.bincount(page.ravel(), minlength=items) + 0.5) / (draws + 1.0)) ** visits[:, day, None]
        user = np.repeat(np.arange(USERS), visits[:, day])
        page = top(mean + spread * rng.standard_normal((len(user), items)), slots)
        seen[user[:, None], page] = True
        shows = shows + np.bincount(page.ravel(), minlength=items)
        clicks = clicks + np.bincount(page[relevant[user[:, None], page]], minlength=items)
    return World(seen, relevant, np.maximum(1.0 - never, 1e-9), a, b)


def slates(rng: Random, lift: float) -> World:
    """Pages of twelve items drawn one after another (Plackett–Luce); P of being on the page by 4,000 draws."""
    items, page, groups, draws = 60, 12, 12, 4_000
    group, score = rng.integers(0, groups, USERS), 0.8 * taste(rng, groups, items)
    p = np.empty((groups, items))
    for g in range(groups):
        drawn = top(-rng.standard_exponential((draws, items)) / np.exp(score[g]), page)
        p[g] = (np.bincount(drawn.ravel(), minlength=items) + 0.5) / (draws + 1.0)
    seen = mark(top(-rng.standard_exponential((USERS, items)) / np.exp(score[group]), page), items)
    return compare(rng, lift, seen, p[group], score[group])


def silent(rng: Random, lift: float) -> World:
    """A third of the users never comes, which the column knows; the population is given."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    seen = draw(rng, p) & (rng.random((USERS, 1)) < 0.7)
    return replace(compare(rng, lift, seen, 0.7 * p, score), population=True)


def silent_unnamed(rng: Random, lift: float) -> World:
    """The same, and nobody says that there are more users than those in the log."""
    return replace(silent(rng, lift), population=False)


def few_rows(rng: Random, lift: float) -> World:
    """Five thousand users are shown two items on average; those who were shown none are not in the log."""
    score = np.exp(0.7 * rng.standard_normal(ITEMS)) * np.exp(0.3 * rng.standard_normal((USERS + 2_000, ITEMS)))
    p = np.minimum(2.0 * score / score.sum(axis=1).mean(), 0.5)
    return compare(rng, lift, draw(rng, p), p, np.log(p), rate=0.3)


def held_out(rng: Random, lift: float) -> World:
    """A split of ours holds out three tenths of the rows and remembers it."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    seen, seed = draw(rng, p), int(rng.integers(1_000_000))
    user, item = np.nonzero(seen)
    split = us.split.holdout(us.Log.from_frame(pl.DataFrame({"user": user, "item": item})), 0.3, seed=seed)
    train = np.zeros_like(seen)
    train[user, item] = ~split.held_out
    return replace(compare(rng, lift, seen, p, np.where(train, -9.0, score), known=train), train=train, divided=seed)


def heavy_users(rng: Random, lift: float) -> World:
    """People come once to fifteen times, and the column is the chance of being shown on any of their visits."""
    score = taste(rng)
    q = 0.01 + 0.25 * sigmoid(2.0 * score - 1.0)
    p = 1.0 - (1.0 - q) ** rng.integers(1, MOST_VISITS + 1, USERS)[:, None]
    return compare(rng, lift, draw(rng, p), p, score)


def two_digits(rng: Random, lift: float) -> World:
    """Personal chances between .02 and .9, written with two digits."""
    score = taste(rng)
    p = 0.02 + 0.88 * sigmoid(2.5 * score - 1.0)
    return compare(rng, lift, draw(rng, p), np.round(p, 2), score)


def few_users(rng: Random, lift: float) -> World:
    """Two hundred users."""
    score = taste(rng, 200)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, lift, draw(rng, p), p, score, rate=0.1)


def long_tail(rng: Random, lift: float) -> World:
    """Two hundred items, of which most are shown to few, with chances from .004 up."""
    exposure = 1.2 * rng.standard_normal(200) - 3.0
    score = exposure + 0.3 * rng.standard_normal((USERS, 200))
    p = np.clip(np.exp(score), 0.004, 0.9)
    return compare(rng, lift, draw(rng, p), p, score)


HONEST: dict[str, tuple[Callable[[Random, float], World], float]] = {
    "personal chances": (personal, 1.3),
    "chances by item": (by_item, 1.3),
    "ε-greedy": (greedy_or_not, 1.5),
    "two policies": (arms, 1.7),
    "Thompson sampling": (thompson, 1.6),
    "slates, simulated": (slates, 1.4),
    "silent users": (silent, 1.3),
    "silent users, unnamed": (silent_unnamed, 1.3),
    "few rows": (few_rows, 1.5),
    "own split": (held_out, 1.6),
    "heavy users": (heavy_users, 1.3),
    "two digits": (two_digits, 1.4),
    "few users": (few_users, 2.0),
    "long tail": (long_tail, 2.0),
}
