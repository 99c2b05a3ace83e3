"""Loggers whose column is something else than the chance that this user was shown this item in the period at all.

List a resembles the logger in what the error rewards or punishes, list b holds any items, and both are equally good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from tests.worlds import listed, pairs_of

from .column_worlds import (
    ITEMS,
    USERS,
    Bools,
    World,
    at_random,
    draw,
    like,
    mark,
    ranks_of,
    relevance,
    shown_in_requests,
    sigmoid,
    taste,
    top,
)
from .honest_columns import MOST_VISITS, compare
from .verdict_worlds import Case, Floats, Random


def per_impression(rng: Random) -> World:
    """The chance of one impression, where people come once to fifteen times."""
    score = taste(rng)
    q = 0.02 + 0.4 * sigmoid(2.0 * score - 1.0)
    visits = rng.integers(1, MOST_VISITS + 1, USERS)[:, None]
    return compare(rng, 1.0, draw(rng, 1.0 - (1.0 - q) ** visits), q, score)


def given_a_visit(rng: Random) -> World:
    """The chance given that the user comes: a quarter nearly always does, and is served better by list a."""
    frequent = rng.random((USERS, 1)) < 0.25
    q = 0.05 + 0.6 * sigmoid(2.0 * taste(rng))
    seen = draw(rng, q) & (rng.random((USERS, 1)) < np.where(frequent, 0.95, 0.2))
    a, b = at_random(rng, q.shape), at_random(rng, q.shape)
    suits = np.where(frequent, 2.2, 0.6)  # 1 on average
    relevant = rng.random(q.shape) < 0.06 * np.where(mark(a, ITEMS) & ~mark(b, ITEMS), suits, 1.0)
    return World(seen, relevant, q, a, b)


def given_a_visit_of_all(rng: Random) -> World:
    """The same, with a population that names those who never came."""
    return replace(given_a_visit(rng), population=True)


def own_candidates(rng: Random) -> World:
    """Each user has a personal half of the items as candidates, and the others are never shown."""
    score = taste(rng)
    never = rng.random(score.shape) < 0.5
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, 1.0, draw(rng, p) & ~never, p, np.where(never, -9.0, score))


def truncated(rng: Random) -> World:
    """Only the forty items that a user likes most, by the logger's score, are ever shown."""
    score = taste(rng)
    ranks = ranks_of(score)
    p = 0.05 + 0.85 * sigmoid(2.0 * score - 1.0)
    return compare(rng, 1.0, draw(rng, p) & (ranks < 40), p, score)


def regions(rng: Random) -> World:
    """Forty of a hundred items are offered everywhere, the others in one of five regions each."""
    region, place = rng.integers(0, 5, (USERS, 1)), np.arange(ITEMS) % 5
    never = (np.arange(ITEMS) >= 40) & (place != region)
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, 1.0, draw(rng, p) & ~never, p, np.where(never, -9.0, score))


def greedy_policy(rng: Random) -> World:
    """Half of the users get the fifteen best items with P = 1 in the column, the others any with P = .2."""
    score = taste(rng)
    greedy, best = rng.random((USERS, 1)) < 0.5, mark(top(score, 15), ITEMS)
    seen = np.where(greedy, best, rng.random(score.shape) < 0.2)
    return compare(rng, 1.0, seen, np.where(greedy, 1.0, 0.2), score)


def forgotten_epsilon(rng: Random) -> World:
    """Ten places, ε = .3: greedy choices are written as certain, the others with their right chance."""
    return _epsilon(rng, slots=10, per_slot=False)


def epsilon_per_slot(rng: Random) -> World:
    """The same, but others are written with the chance in one place, ε/n."""
    return _epsilon(rng, slots=10, per_slot=True)


def _epsilon(rng: Random, slots: int, per_slot: bool) -> World:
    items, epsilon, users = 60, 0.3, USERS + 1_000
    score = taste(rng, users, items)
    choice = top(score, slots)
    seen = shown_in_requests(rng, choice, np.ones(users, dtype=np.int64), epsilon, items)
    other = epsilon / items if per_slot else 1.0 - (1.0 - epsilon / items) ** slots
    return compare(rng, 1.0, seen, np.where(mark(choice, items), 1.0, other), score, rate=0.15)


def floored(rng: Random) -> World:
    """What is less likely than .01 is written as .01."""
    exposure = np.where(np.arange(60) % 2 == 0, 0.3, 0.004)
    score = np.log(exposure) + 0.3 * rng.standard_normal((USERS + 2_000, 60))
    p = np.minimum(np.exp(score), 0.9)
    return compare(rng, 1.0, draw(rng, p), np.maximum(p, 0.01), score, rate=0.15)


def organic(rng: Random) -> World:
    """People also find items by themselves, popular ones more often; what was found alone is written as certain."""
    found, shown, p = _finds(rng)
    a, b = like(rng, 5.0 * found), at_random(rng, p.shape)
    also = draw(rng, found) & ~shown
    return World(shown | also, relevance(rng, a, b, ITEMS), np.where(also, 1.0, p), a, b)


def organic_likes(rng: Random) -> World:
    """The same, where people find what they like and nothing else."""
    found, shown, p = _finds(rng)
    a, b = like(rng, 5.0 * found), at_random(rng, p.shape)
    relevant = relevance(rng, a, b, ITEMS)
    also = draw(rng, found) & ~shown & relevant
    return World(shown | also, relevant, np.where(also, 1.0, p), a, b)


def _finds(rng: Random) -> tuple[Floats, Bools, Floats]:
    """How often people find items alone, what they are shown, and how likely that was."""
    p = 0.05 + 0.3 * sigmoid(2.0 * taste(rng))
    found = np.tile(0.8 * sigmoid(2.0 * rng.standard_normal(ITEMS) - 1.0), (USERS, 1))
    return found, draw(rng, p), p


def slate_places(rng: Random) -> World:
    """Pages of ten items (Plackett–Luce), and P of an item's place given the places above it."""
    items, page = 40, 10
    score = 0.8 * taste(rng, USERS, items)
    order = top(-rng.standard_exponential(score.shape) / np.exp(score), page)
    drawn = np.take_along_axis(np.exp(score), order, axis=1)
    left = np.exp(score).sum(axis=1, keepdims=True) - np.cumsum(drawn, axis=1) + drawn
    written = np.ones_like(score)
    np.put_along_axis(written, order, drawn / left, axis=1)
    return compare(rng, 1.0, mark(order, items), written, score, rate=0.2)


def softmax(rng: Random) -> World:
    """A softmax of scores, which adds up to 1 over the items, where pairs are shown by themselves."""
    score = 1.5 * taste(rng)
    written = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return compare(rng, 1.0, draw(rng, sigmoid(score - 1.0)), written, score)


def sigmoids(rng: Random) -> World:
    """A sigmoid of scores, where the best twenty by these and by chance are shown."""
    score = taste(rng)
    return compare(rng, 1.0, _pages(rng, score), sigmoid(score), score)


def impressions(rng: Random) -> World:
    """The item's share of all impressions, where exposure is personal."""
    score = taste(rng)
    seen = _pages(rng, score)
    return compare(rng, 1.0, seen, seen.sum(axis=0) / seen.sum(), score)


def clicks_of_users(rng: Random) -> World:
    """Clicks on the item by number of users, where exposure is personal."""
    score = taste(rng)
    made = compare(rng, 1.0, _pages(rng, score), np.ones(1), score)
    clicks = (made.seen & made.relevant).sum(axis=0)
    return replace(made, written=np.broadcast_to(np.maximum(clicks, 1) / USERS, made.seen.shape))


def fitted(rng: Random) -> World:
    """A fit to this log by effects of user and item, n_u n_i / n, where exposure is personal."""
    score = taste(rng) + 0.5 * rng.standard_normal((USERS, 1))
    seen = draw(rng, sigmoid(1.5 * score - 1.0))
    written = seen.sum(axis=1, keepdims=True) * (seen.sum(axis=0) / seen.sum())
    return compare(rng, 1.0, seen, np.clip(written, 1e-4, 1.0), score)


def buying(rng: Random) -> World:
    """How likely a person is to buy what is shown, in place of how likely it is shown."""
    score = taste(rng)
    chance = np.minimum(0.03 * np.exp(0.7 * rng.standard_normal(score.shape)), 1.0)
    made = compare(rng, 1.0, _pages(rng, score), chance, score)
    return replace(made, relevant=draw(rng, chance))


def _pages(rng: Random, score: Floats) -> Bools:
    """The best twenty items by scores and chance."""
    return mark(top(score + 0.5 * rng.gumbel(size=score.shape), 20), score.shape[1])


def crawlers(rng: Random) -> World:
    """One id in a hundred is a crawler that opens nearly everything and clicks on half of it."""
    score = taste(rng)
    p = 0.02 + 0.6 * sigmoid(2.0 * score - 1.0)
    crawls = np.arange(USERS)[:, None] % 100 == 0
    made = compare(rng, 1.0, draw(rng, np.where(crawls, 0.95, p)), p, score)
    return replace(made, relevant=np.where(crawls, rng.random(p.shape) < 0.5, made.relevant))


def places(rng: Random) -> World:
    """The chance of being on the page, exactly; what stands at place k is looked at with probability 1/k."""
    score = taste(rng)
    p = 0.03 + 0.3 * sigmoid(2.0 * score)
    made = compare(rng, 1.0, draw(rng, p), p, score, rate=0.2)
    place = ranks_of(np.where(made.seen, score, -9.0)) + 1
    looked = draw(rng, 1.0 / place)
    return replace(made, relevant=made.relevant & looked, place=place)


def forgotten_share(rng: Random) -> World:
    """The log is a random half of what the column describes, and nothing says so."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, 1.0, draw(rng, 0.5 * p), p, score)


def never_shown(rng: Random) -> World:
    """Two fifths of the catalogue, which is named, were never shown; list b holds some of them."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    there = np.arange(ITEMS) >= 40
    made = compare(rng, 1.0, draw(rng, np.where(there, p, 0.0)), p, np.where(there, score, -9.0))
    return replace(made, catalogue=True)


def item_averages(rng: Random) -> World:
    """The item's average of personal chances."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score - 1.0)
    return compare(rng, 1.0, draw(rng, p), np.broadcast_to(p.mean(axis=0), p.shape), score)


def recomputed(rng: Random) -> World:
    """Chances that a later model computes, whose scores are those of the logger and noise."""
    score = taste(rng)
    later = score + 0.8 * rng.standard_normal(score.shape)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    return compare(rng, 1.0, draw(rng, p), 0.05 + 0.85 * sigmoid(2.0 * later), score)


def k_core(rng: Random) -> World:
    """Items with fewer than five rows are gone, as k-core filters leave a log, and models know the others only."""
    users, items = 2_000, 300
    head = np.arange(items) < 30
    exposure = np.where(head, 0.1, 3.0 / users * np.exp(0.3 * rng.standard_normal(items)))
    p = np.minimum(exposure * np.exp(0.3 * rng.standard_normal((users, items))), 0.9)
    seen = draw(rng, p)
    gone = np.broadcast_to(seen.sum(axis=0) < 5, p.shape)
    often = np.where(gone, -9.0, np.log(exposure))
    return compare(rng, 1.0, seen & ~gone, p, often, rate=0.5, known=gone | head)  # list b holds rare items


def swapped(rng: Random) -> Case:
    """No column: ratings whose training and test part were swapped, so lists hold nothing that is judged."""
    users, popular = 600, rng.standard_normal(ITEMS)
    stars = 3.0 + 1.2 * (rng.standard_normal((users, ITEMS)) - 0.5 * popular)  # of what was rated
    stars += 0.6 * rng.standard_normal((users, 1))
    seen = draw(rng, np.minimum(0.1 * np.exp(popular + 0.25 * stars - 0.75), 0.9))
    train = seen & draw(rng, np.full(seen.shape, 0.7))
    a, b = (top(np.where(train, -9.0, s + rng.standard_normal(seen.shape))) for s in (popular, 0.0 * popular))

    def log(mask: Bools) -> pl.DataFrame:
        return pairs_of(mask, value=np.clip(np.round(stars), 1.0, 5.0))

    options = {"train": log(seen & ~train), "feedback": "ratings", "relevant": ">=4"}
    return Case(log(train), {"a": listed(a), "b": listed(b)}, "b", options)


def whole_log(rng: Random) -> World:
    """A random 30 % of a log is held out, the column describes all of it, and no share is given."""
    score = taste(rng)
    p = 0.05 + 0.85 * sigmoid(2.0 * score)
    seen = draw(rng, p)
    train = seen & (rng.random(p.shape) < 0.7)
    made = compare(rng, 1.0, seen, p, np.where(train, -9.0, score), known=train)
    return replace(made, train=train)


BROKEN: dict[str, Callable[[Random], World | Case]] = {
    "per impression": per_impression,
    "given a visit": given_a_visit,
    "given a visit, of all": given_a_visit_of_all,
    "candidates: personal": own_candidates,
    "candidates: truncated": truncated,
    "candidates: regional": regions,
    "greedy policy mixed in": greedy_policy,
    "ε forgotten": forgotten_epsilon,
    "ε per place": epsilon_per_slot,
    "floor": floored,
    "organic finds": organic,
    "organic finds of likes": organic_likes,
    "place of a slate": slate_places,
    "softmax of scores": softmax,
    "sigmoid of scores": sigmoids,
    "share of impressions": impressions,
    "fitted: clicks": clicks_of_users,
    "fitted: offsets": fitted,
    "propensity to buy": buying,
    "crawlers": crawlers,
    "places looked at": places,
    "forgotten share": forgotten_share,
    "catalogue never shown": never_shown,
    "item averages": item_averages,
    "recomputed": recomputed,
    "train and test swapped": swapped,
    "k-core": k_core,
    "column of the whole log": whole_log,
}
