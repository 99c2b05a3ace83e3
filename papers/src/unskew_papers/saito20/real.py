"""Coat and Yahoo! R3 as clicks and conversions, and one run of saito20's comparison on them.

A rating is a click, a rating of 4 or 5 a conversion. Users with at least two conversions in training and one to nine in
the random test part count (210 of Coat's 290). As the author's code does it, with numbers of its own choosing:

    all pairs are split 70/30; candidates learn from the conversions of the 70 %
    z, y      clicks and conversions of the 30 %; all other pairs count as not clicked
    p, q      logistic factorisation by Adam of z over all pairs, and of y over clicked ones weighted by 1/p, in sample
    truth     Σ over the list / Σ over all of the random test conversions, mean over users; so are the estimates

Two things shape the numbers of that code. It asks LightFM about users and items by their ids, but LightFM numbers them
in the order in which the shuffled training rows bring them up: each user is shown another user's list of other items,
which is to say lists at random (``as run``). And its DCG has two slips (``coded.py``).

``ours`` mends the ids, cross-fits p and q over pairs, and pools: Σ_u Σ over the list / Σ_u Σ over all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unskew import outcome, propensity
from unskew.log import Feedback, Ids, Log
from unskew.log.datasets import Dataset
from unskew.propensity import crossfitted, unseen_pairs
from unskew_papers.arrays import Floats, present
from unskew_papers.models.adam import AdamMF
from unskew_papers.saito20 import coded, dense
from unskew_papers.saito20.candidates import Training, best, fit, log_of
from unskew_papers.saito20.dense import Flags
from unskew_papers.saito20.world import every_pair, probabilities

CUTS = (5, 10, 50)
METRICS = dense.metrics_of(CUTS)
ESTIMATORS = ("naive", "ips", "dr")
PROTOCOLS = ("as run", "ids mended", "ours")
POSITIVE = 4.0
SHARE = 0.3
FOLDS = 5


class Real(NamedTuple):
    """Clicks and conversions of the users that count, [user, item], and their conversions in the random test."""

    users: Ids
    items: Ids
    clicked: Flags
    converted: Flags
    test: Flags

    @classmethod
    def of(cls, data: Dataset) -> Real:
        """Keep the users that count."""
        assert data.mcar is not None
        items = Ids.of(data.mnar.items.values, data.mcar.items.values)
        users = Ids.of(data.mnar.users.values, data.mcar.users.values)
        chosen, random = (log.recode(users, items) for log in (data.mnar, data.mcar))
        converted, test = _matrix(chosen, POSITIVE), _matrix(random, POSITIVE)
        counted = (converted.sum(axis=1) >= 2) & (test.sum(axis=1) >= 1) & (test.sum(axis=1) <= 9)
        kept = Ids(users.values.filter(pl.Series(counted)))
        return cls(kept, items, _matrix(chosen, -math.inf)[counted], converted[counted], test[counted])


def one_run(data: Real, seed: int, training: Training) -> dict[str, Any]:
    """Values of all candidates: truth[protocol, metric, model], estimate[protocol, estimator, metric, model].

    ``slipped_truth`` [cut, model] and ``slipped`` [estimator, cut, model] are DCG with the slips, as run.
    """
    rng = np.random.default_rng([seed, 0])
    shape = data.clicked.shape
    held = np.zeros(shape, dtype=np.bool_)
    held.flat[rng.permutation(held.size)[: math.ceil(SHARE * held.size)]] = True
    scores = fit(data.converted & ~held, data.users, data.items, training, seed)
    right = best(scores, data.users, data.items, max(CUTS))
    users, items = rng.permutation(shape[0]), rng.permutation(shape[1])
    mixed = best([score[users][:, items] for score in scores], data.users, data.items, max(CUTS))

    z, test = data.clicked & held, data.test.astype(np.float64)
    y = (data.converted & held).astype(np.float64)
    p, q = in_sample(z, y, seed)
    one, nothing = np.ones(shape), np.zeros(shape)
    given = ((data.test, test, one, nothing), (z, y, one, nothing), (z, y, p, nothing), (z, y, p, q))
    run, mended = (np.stack([coded.of_matrices(*each, lists, CUTS) for each in given]) for lists in (mixed, right))
    p, q = out_of_sample(z, y, data.users, data.items)
    pooled = dense.TARGETS.index("pooled")
    x = test, dense.naive(z, y), dense.ips(z, y, p), dense.dr(z, y, p, q)
    ours = np.stack([dense.measure(each, right, CUTS)[pooled] for each in x])
    every = np.stack([run[:, : len(METRICS)], mended[:, : len(METRICS)], ours])
    slipped = run[:, len(METRICS) :]
    return {"truth": every[:, 0], "estimate": every[:, 1:], "slipped_truth": slipped[0], "slipped": slipped[1:]}


def in_sample(z: Flags, y: Floats, seed: int) -> tuple[Floats, Floats]:
    """p from clicked or not over all pairs, then q from the clicked ones (saito20 Algorithm 1)."""
    options, shape = AdamMF(seed=seed), (z.shape[0], z.shape[1])
    p = probabilities(*every_pair(shape), z.ravel().astype(np.float64), np.ones(z.size), shape, options)
    user, item = (codes.astype(np.int32) for codes in np.nonzero(z))
    q = probabilities(user, item, y[user, item], 1.0 / p[user, item], shape, options)
    return p, q


def out_of_sample(z: Flags, y: Floats, users: Ids, items: Ids) -> tuple[Floats, Floats]:
    """p and q of every pair from models that were fitted without it."""
    user, item = np.nonzero(z)
    log = replace(log_of(z, users, items), value=y[user, item], feedback=Feedback.CONVERSIONS)
    others = unseen_pairs(log, z.size).pairs
    p = np.empty(z.shape)
    p[user, item], p[others.user, others.item] = crossfitted(
        propensity.make("logistic_mf(ridge=1)"), log, others, FOLDS
    )
    model = outcome.crossfit(outcome.make("logistic_mf"), log, FOLDS, propensity=p[user, item])
    q = model.bind(users, items)(*every_pair((z.shape[0], z.shape[1])))
    return p, q.reshape(z.shape)


def errors(run: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Relative RMSE of a run: [protocol, estimator, metric], and of DCG with the slips: [estimator, cut]."""
    return (
        dense.relative_rmse(run["estimate"], run["truth"][:, None]),
        dense.relative_rmse(run["slipped"], run["slipped_truth"]),
    )


def _matrix(log: Log, least: float) -> Flags:
    out = np.zeros((len(log.users), len(log.items)), dtype=np.bool_)
    out[log.user, log.item] = present(log.value) >= least
    return out
